// Reads one delivery a line, {"secret", "headers", "body"}, verifies each with the
// public packages standardwebhooks and svix, and prints the id and type of each, one
// a line. Exits 1 at the first that does not verify.
import { createInterface } from "node:readline";
import { Webhook as Standard } from "standardwebhooks";
import { Webhook as Svix } from "svix";

for await (const line of createInterface({ input: process.stdin })) {
  const { secret, headers, body } = JSON.parse(line);
  try {
    const event = new Standard(secret).verify(body, headers);
    new Svix(secret).verify(body, headers);
    console.log(event.id, event.type);
  } catch (error) {
    console.error(`${headers["webhook-id"]}: ${error.message}`);
    process.exit(1);
  }
}
