// lighthouse.mjs FOLDER RUNS: see scripts/lighthouse. FOLDER holds the program
// and is filled with its data.
import { spawn, execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { launch } from "chrome-launcher";
import lighthouse from "lighthouse";

const [folder, runs] = [process.argv[2], Number(process.argv[3])];
const limits = {
  checkout: { performance: 98, accessibility: 100, "best-practices": 100, kilobytes: 36, requests: 6 },
  transactions: { performance: 95, accessibility: 100, "best-practices": 100, kilobytes: 55, requests: 6 },
};
const email = "owner@shop.example", password = "many long words of a sentence";

const port = await new Promise((found) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => found(port));
  });
});
const base = `http://127.0.0.1:${port}`;
const env = { PATH: process.env.PATH, COINTILL_DATA_DIR: `${folder}/data`, COINTILL_LISTEN: `127.0.0.1:${port}`, COINTILL_LOG_LEVEL: "error" };
const run = (args, input) => execFileSync(`${folder}/cointill`, args, { env, input, encoding: "utf8", stdio: ["pipe", "pipe", "inherit"] });

const business = JSON.parse(run(["business", "create", "--name", "Sunbird Coffee", "--email", email, "--password-stdin", "--json"], password));
const key = JSON.parse(run(["key", "create", "--business", business.code, "--domain", "test", "--name", "measure", "--json"])).key;
run(["seed", "--business", business.code, "--payments", "60"]);
const product = spawn(`${folder}/cointill`, ["serve"], { env, stdio: ["ignore", "ignore", "inherit"] });
try {
  await ready();
  const pages = { checkout: { url: await payment() }, transactions: { url: `${base}/dashboard/payments?size=50`, cookie: await signIn() } };
  const missed = [];
  console.log("page          what             limit   measured");
  for (const [name, page] of Object.entries(pages)) {
    const found = await measure(page);
    for (const [what, limit] of Object.entries(limits[name])) {
      const least = what === "kilobytes" || what === "requests" ? found[what] <= limit : found[what] >= limit;
      if (!least) missed.push(`${name} ${what}`);
      console.log([name.padEnd(13), what.padEnd(16), String(limit).padStart(5), String(found[what]).padStart(10), least ? "" : "  MISSED"].join(" "));
    }
    for (const line of [...found.failed, ...found.loads]) console.log(`              ${line}`);
  }
  process.exitCode = missed.length ? 1 : 0;
} finally {
  product.kill();
  await once(product, "exit");
}

// ready waits until the product answers.
async function ready() {
  for (let tries = 0; ; tries++) {
    try {
      if ((await fetch(`${base}/readyz`)).ok) return;
    } catch (refused) {
      if (tries > 300) throw refused;
    }
    await new Promise((again) => setTimeout(again, 200));
  }
}

// payment is the address of a payment page that shows what to pay.
async function payment() {
  const answer = await fetch(`${base}/v1/payment/initiate`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ currency: "NGN", amount: 25000, first_name: "Chidi", last_name: "Nwosu", email: "chidi@example.com", payment_method: "crypto_bitcoin" }),
  });
  const { data } = await answer.json();
  await fetch(`${data.payment_url}/open`, { method: "POST", headers: { Origin: base } });
  return data.payment_url;
}

// signIn gives the cookies of a signed-in browser.
async function signIn() {
  const jar = new Map();
  const keep = (answer) => answer.headers.getSetCookie().forEach((line) => jar.set(line.split("=")[0], line.split(";")[0]));
  const cookies = () => [...jar.values()].join("; ");
  const form = await fetch(`${base}/sign-in`);
  keep(form);
  const csrf = /name="csrf" value="([^"]*)"/.exec(await form.text())[1];
  const answer = await fetch(`${base}/sign-in`, {
    method: "POST", redirect: "manual", body: new URLSearchParams({ csrf, email, password }),
    headers: { Cookie: cookies(), Origin: base },
  });
  keep(answer);
  if (answer.status !== 303) throw new Error(`sign-in answered ${answer.status}`);
  return cookies();
}

// measure is the median of the runs, and which audits are not passed in full.
async function measure({ url, cookie }) {
  const found = [];
  for (let i = 0; i < runs; i++) {
    const chrome = await launch({ chromeFlags: ["--headless=new", "--no-sandbox", "--disable-quic", "--disable-component-update"] });
    try {
      const { lhr } = await lighthouse(url, { port: chrome.port, onlyCategories: ["performance", "accessibility", "best-practices"], extraHeaders: cookie ? { Cookie: cookie } : {} });
      found.push(lhr);
    } finally {
      chrome.kill();
    }
  }
  const median = (value) => found.map(value).sort((a, b) => a - b)[Math.floor(runs / 2)];
  // What the page loads; what it does afterwards, such as listening for news, isn't its weight.
  const loaded = (lhr) => lhr.audits["network-requests"].details.items.filter((r) => ["Document", "Stylesheet", "Script", "Image", "Font", "Other"].includes(r.resourceType) && !r.url.startsWith("data:") && r.transferSize > 0); // 0: from the cache
  const score = (category) => median((lhr) => Math.round(lhr.categories[category].score * 100));
  const failed = Object.values(found[0].audits).filter((a) => a.score !== null && a.score < 0.9 && !["informative", "manual", "notApplicable"].includes(a.scoreDisplayMode)).map((a) => `${a.id}: ${a.displayValue ?? a.title}`);
  return {
    performance: score("performance"), accessibility: score("accessibility"), "best-practices": score("best-practices"), failed,
    loads: loaded(found[0]).map((r) => `${r.transferSize} bytes, ${r.resourceType}: ${r.url}`),
    kilobytes: median((lhr) => Math.round(loaded(lhr).reduce((sum, r) => sum + r.transferSize, 0) / 102.4) / 10), requests: median((lhr) => loaded(lhr).length),
  };
}
