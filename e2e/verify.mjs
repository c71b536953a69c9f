// Reads one delivery a line, {"secret", "headers", "body"}, verifies each with the
// public packages standardwebhooks and svix, and prints the id and type of each, one
// a line. Exits 1 at the first that does not verify, and at one with "tampered", which
// says how it was changed, that does.
import { createInterface } from "node:readline";
import { Webhook as Standard } from "standardwebhooks";
import { Webhook as Svix } from "svix";

for await (const line of createInterface({ input: process.stdin })) {
  const { secret, headers, body, tampered } = JSON.parse(line);
  for (const [name, Webhook] of [["standardwebhooks", Standard], ["svix", Svix]]) {
    let problem;
    try {
      new Webhook(secret).verify(body, headers);
    } catch (error) {
      problem = error;
    }
    if (!problem === !!tampered) {
      console.error(`${name}, ${headers["webhook-id"]}: ${tampered ? tampered + " verifies" : problem.message}`);
      process.exit(1);
    }
  }
  if (tampered) {
    console.log("refused", tampered);
  } else {
    const { id, type } = JSON.parse(body);
    console.log(id, type);
  }
}
