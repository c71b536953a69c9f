// Reads wallets' links of ether and tokens (EIP-681), one a line, by the public
// parser eth-url-parser, and writes what it finds as JSON, one a line. An amount
// that a number of JavaScript can't hold exactly shows here as it stands in the link.
import { createInterface } from "node:readline";
import { parse } from "eth-url-parser";

for await (const link of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(parse(link)));
}
