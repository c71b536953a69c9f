// A wallet of the words of anvil's own accounts, for tests: reads a file of a collection from standard input, and
// prints each transaction, signed with the key of its path below ACCOUNT, one a line. Where a transaction has no path,
// ACCOUNT is the path of its key.
//
//   node collect.mjs ACCOUNT < 2-usdt.json
import { readFileSync } from "node:fs";
import { HDNodeWallet, Mnemonic, Transaction } from "ethers";

const account = process.argv[2];
const phrase = Mnemonic.fromPhrase("test test test test test test test test test test test junk");
for (const one of JSON.parse(readFileSync(0, "utf8"))) {
  const wallet = HDNodeWallet.fromMnemonic(phrase, one.path ? `${account}/${one.path}` : account);
  if (wallet.address !== one.from) throw new Error(`${one.path} is the key of ${wallet.address}, not of ${one.from}`);
  const unsigned = Transaction.from(one.transaction).unsignedSerialized;
  if (unsigned !== one.raw) throw new Error(`the two forms differ: ${unsigned} and ${one.raw}`);
  console.log(await wallet.signTransaction(one.transaction));
}
