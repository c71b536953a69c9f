// A Safe on anvil, for tests: its contracts as they are published on npm, owned by two of anvil's own
// accounts that must both sign. deploy makes it and prints the addresses of the Safe and of the contract for
// several calls. execute does what the Transaction Builder does with its file: it reads the calls from
// standard input, has both owners sign one transaction of the Safe for them (EIP-712), sends it from a
// third account, and prints its hash.
//
//   node safe.mjs URL deploy
//   node safe.mjs URL execute SAFE MULTISEND < safe.json
import { readFileSync } from "node:fs";
import { Contract, ContractFactory, HDNodeWallet, Interface, JsonRpcProvider, Mnemonic, ZeroAddress, concat, solidityPacked } from "ethers";

const [url, action, address, multiSend] = process.argv.slice(2);
const artifact = (path) => JSON.parse(readFileSync(new URL(
  `node_modules/@safe-global/safe-smart-account/build/artifacts/contracts/${path}.json`, import.meta.url), "utf8"));
const safe = artifact("Safe.sol/Safe"), factory = artifact("proxies/SafeProxyFactory.sol/SafeProxyFactory");
const several = artifact("libraries/MultiSendCallOnly.sol/MultiSendCallOnly");

const provider = new JsonRpcProvider(url, undefined, { staticNetwork: true, cacheTimeout: -1 });
const phrase = Mnemonic.fromPhrase("test test test test test test test test test test test junk");
const account = (number) => HDNodeWallet.fromMnemonic(phrase, `m/44'/60'/0'/0/${number}`).connect(provider);
const owners = [account(5), account(6)], sender = account(7);

// send has a transaction mined, and returns its receipt.
async function send(transaction) {
  const sent = await transaction;
  await provider.send("evm_mine", []);
  const receipt = await provider.getTransactionReceipt(sent.hash);
  if (receipt?.status !== 1) throw new Error(`${sent.hash} failed`);
  return receipt;
}

const create = async ({ abi, bytecode }) =>
  (await send(sender.sendTransaction(await new ContractFactory(abi, bytecode).getDeployTransaction()))).contractAddress;

async function deploy() {
  const singleton = await create(safe), proxies = await create(factory), calls = await create(several);
  const setup = new Interface(safe.abi).encodeFunctionData("setup",
    [owners.map((o) => o.address), owners.length, ZeroAddress, "0x", ZeroAddress, ZeroAddress, 0, ZeroAddress]);
  const maker = new Contract(proxies, factory.abi, sender);
  const receipt = await send(maker.createProxyWithNonce(singleton, setup, 1));
  const made = receipt.logs.map((log) => maker.interface.parseLog(log)).find((log) => log?.name === "ProxyCreation");
  console.log(JSON.stringify({ safe: made.args.proxy, multiSend: calls }));
}

// join makes one transaction of the calls of a file: each call as it is, several by a delegated call.
function join({ transactions }) {
  if (transactions.length === 1) {
    const [{ to, value, data }] = transactions;
    return { to, value, data: data ?? "0x", operation: 0 };
  }
  const packed = concat(transactions.map(({ to, value, data }) => solidityPacked(
    ["uint8", "address", "uint256", "uint256", "bytes"], [0, to, value, ((data ?? "0x").length - 2) / 2, data ?? "0x"])));
  return { to: multiSend, value: 0, data: new Interface(several.abi).encodeFunctionData("multiSend", [packed]), operation: 1 };
}

async function execute() {
  const file = JSON.parse(readFileSync(0, "utf8"));
  const { chainId } = await provider.getNetwork();
  if (file.version !== "1.0" || BigInt(file.chainId) !== chainId ||
    file.meta.createdFromSafeAddress.toLowerCase() !== address.toLowerCase()) throw new Error("the file is of another Safe");
  const wallet = new Contract(address, safe.abi, sender);
  const message = { ...join(file), safeTxGas: 0, baseGas: 0, gasPrice: 0, gasToken: ZeroAddress, refundReceiver: ZeroAddress,
    nonce: await wallet.nonce() };
  const types = { SafeTx: [["address", "to"], ["uint256", "value"], ["bytes", "data"], ["uint8", "operation"], ["uint256", "safeTxGas"],
    ["uint256", "baseGas"], ["uint256", "gasPrice"], ["address", "gasToken"], ["address", "refundReceiver"], ["uint256", "nonce"],
  ].map(([type, name]) => ({ type, name })) };
  const byAddress = owners.toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
  const signatures = await Promise.all(byAddress.map((o) =>
    o.signTypedData({ chainId, verifyingContract: address }, types, message)));
  const { to, value, data, operation } = message;
  const receipt = await send(wallet.execTransaction(to, value, data, operation, 0, 0, 0, ZeroAddress, ZeroAddress, concat(signatures)));
  console.log(receipt.hash);
}

await (action === "deploy" ? deploy() : execute());
provider.destroy();
