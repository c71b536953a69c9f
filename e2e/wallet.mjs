// A wallet of the words of anvil's own accounts, for tests: reads JSON from standard input, and
// prints the signed transaction. --file signs the file of a send as it is, --request what a page
// asks a wallet in the browser for (eth_sendTransaction). --message signs a text in hexadecimal
// (personal_sign).
//
//   node wallet.mjs ACCOUNT --file|--request|--message < unsigned.json
import { readFileSync } from "node:fs";
import { HDNodeWallet, Mnemonic, getBytes } from "ethers";

const [account, form] = process.argv.slice(2);
const phrase = "test test test test test test test test test test test junk";
const wallet = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(phrase), `m/44'/60'/0'/0/${account}`);
const read = JSON.parse(readFileSync(0, "utf8"));
if (form === "--message") {
  console.log(await wallet.signMessage(getBytes(read)));
  process.exit();
}
const { gas, from, ...rest } = read;
const transaction = form === "--request" ? { ...rest, type: 2, gasLimit: gas } : read;
console.log(await wallet.signTransaction(transaction));
