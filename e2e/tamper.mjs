// Reads deliveries as verify.mjs does, tampers with each in every way of the table
// that the argument names, and has the public packages refuse it. Prints what was
// refused, one a line; exits 1 at the first that verifies, and at one that changed nothing.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Webhook as Standard } from "standardwebhooks";
import { Webhook as Svix } from "svix";

// The same as tampering.change in core/webhook/delivery/tamper_test.go.
const changes = {
  set: (part, { text }) => text,
  exchange: (part, _, other) => other,
  replace: (part, { text, with: other }) => part.replace(text, other),
  "replace all": (part, { text, with: other }) => part.replaceAll(text, other),
  append: (part, { text }) => part + text,
  prepend: (part, { text }) => text + part,
  cut: (part, { count }) => part.slice(0, -count),
  "count on": (part, { count }) => String(Number(part) + count),
  turn: (part, { count }) => part.slice(0, count) + (part[count] === "A" ? "B" : "A") + part.slice(count + 1),
  hexadecimal: (part) => "v1," + Buffer.from(part.slice(3), "base64").toString("hex"),
  remove: () => undefined,
};

const get = (delivery, part) => (part === "body" ? delivery.body : delivery.headers[part]);

function tamper(delivery, one, other) {
  const part = get(delivery, one.part);
  const changed = changes[one.do](part, one, get(other, one.part));
  if (changed === part) throw new Error(`${one.name} changes nothing`);
  if (one.part === "body") return { ...delivery, body: changed };
  const headers = { ...delivery.headers, [one.part]: changed };
  if (changed === undefined) delete headers[one.part];
  return { ...delivery, headers };
}

const table = JSON.parse(readFileSync(process.argv[2], "utf8"));
const deliveries = [];
for await (const line of createInterface({ input: process.stdin })) deliveries.push(JSON.parse(line));
deliveries.forEach((delivery, n) => {
  for (const one of table) {
    const { secret, headers, body } = tamper(delivery, one, deliveries[(n + 1) % deliveries.length]);
    for (const [name, Webhook] of Object.entries({ standardwebhooks: Standard, svix: Svix })) {
      try {
        new Webhook(secret).verify(body, headers);
      } catch {
        console.log(name, "refused", one.name);
        continue;
      }
      throw new Error(`${name}: ${one.name} verifies`);
    }
  }
});
