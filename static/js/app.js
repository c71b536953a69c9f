// Cointill's own script. Every page works without it; it only makes waiting
// and copying nicer.
(() => {
  "use strict";
  const doc = document, root = doc.documentElement;
  const $ = (s, el) => (el || doc).querySelector(s);
  const $$ = (s, el) => [...(el || doc).querySelectorAll(s)];

  // Theme: the choice is applied before the first paint (this file is loaded in <head>).
  const store = { get: (name) => { try { return localStorage.getItem(name); } catch { return null; } },
    set: (name, v) => { try { localStorage.setItem(name, v); } catch { /* private mode */ } } };
  const themes = ["cointill", "cointill-dark"], theme = store.get("theme");
  if (themes.includes(theme)) root.dataset.theme = theme;
  root.classList.add("js");
  const isDark = () => root.dataset.theme ? root.dataset.theme === themes[1] : matchMedia("(prefers-color-scheme: dark)").matches;

  // One polite live region and one passing note for the whole page.
  const say = (text, show) => {
    const region = $("#announce");
    if (region) { region.textContent = ""; setTimeout(() => { region.textContent = text; }, 60); }
    const toast = $("#toast");
    if (show && toast) { toast.textContent = text; toast.classList.add("on"); setTimeout(() => toast.classList.remove("on"), 1600); }
  };

  const copy = async (button) => {
    const text = button.dataset.copy;
    try { await navigator.clipboard.writeText(text); } catch {
      const area = doc.createElement("textarea");
      area.value = text; area.className = "sr-only"; doc.body.append(area); area.select();
      try { doc.execCommand("copy"); } finally { area.remove(); button.focus(); }
    }
    button.classList.add("copied");
    setTimeout(() => button.classList.remove("copied"), 1600);
    say(button.dataset.copied || "Copied", true);
  };

  // Countdown: calm until the last quarter, spoken at four marks.
  let spoken = null;
  const tick = () => $$("[data-deadline]").forEach((el) => {
    const now = Date.now() / 1000 + skew, left = Math.max(0, Math.ceil(el.dataset.deadline - now));
    const text = Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
    if (el.textContent !== text) el.textContent = text;
    el.toggleAttribute("data-urgent", left * 4 <= +el.dataset.window);
    const mark = [0, 30, 60, 120].find((m) => left <= m);
    const key = el.dataset.deadline + "/" + mark;
    if (mark === undefined || spoken === key) return;
    if (spoken !== null || left === mark) say(el.getAttribute("data-say-" + mark) || "");
    spoken = key;
    if (mark === 0) setTimeout(poll, 1500);
  });
  // The customer's clock may be wrong: trust the server's.
  let skew = 0, heard = "";
  const setSkew = () => {
    const el = $("[data-now]");
    if (el && el.dataset.now !== heard) { heard = el.dataset.now; skew = heard - Date.now() / 1000; }
  };

  // Live status: the stream swaps #status; when it is silent, poll.
  let live = false, opened = false;
  const status = () => $("#status[data-poll]");
  const final = () => !status() || !!$("[data-final]", status());
  const poll = () => { if (!final() && window.htmx && !doc.hidden) htmx.ajax("GET", status().dataset.poll, { target: "#status", swap: "innerMorph" }); };
  doc.addEventListener("htmx:sse:after:connection", () => { live = true; });
  doc.addEventListener("htmx:sse:error", () => { live = false; });
  doc.addEventListener("htmx:sse:close", () => { live = false; });
  // htmx 4 swaps only unnamed messages: a message named "status" is the fragment. The page may show it already.
  doc.addEventListener("htmx:sse:before:message", (e) => {
    const { message } = e.detail, shown = $("[data-shown]");
    if (message.event !== "status") return;
    message.event = "";
    if (shown && message.data.includes(`"${shown.dataset.shown}"`)) e.preventDefault();
  });
  doc.addEventListener("visibilitychange", () => { if (!live) poll(); });
  setInterval(() => { if (!live) poll(); }, 5000);

  // After success: back to the merchant in a few seconds, unless cancelled. Only a tab that saw it wait does so.
  const awaited = "awaited-" + location.pathname;
  const tab = (use) => { try { return use(sessionStorage); } catch { return null; } };
  let leaving = 0, waited;
  const leave = () => {
    if (!final()) { waited = true; tab((s) => s.setItem(awaited, 1)); }
    const el = $("[data-leave]");
    if (!el || leaving || !waited && !tab((s) => s.getItem(awaited))) return;
    tab((s) => s.removeItem(awaited));
    let left = +el.dataset.leave;
    el.hidden = false;
    leaving = setInterval(() => {
      const out = $("[data-leave-text]");
      if (!out) { clearInterval(leaving); return; }
      out.textContent = el.dataset.say.replace("{n}", --left);
      if (left <= 0) { clearInterval(leaving); location.assign($("[data-leave-to]").href); }
    }, 1000);
  };

  const refresh = () => {
    setSkew(); tick(); leave(); recallNetwork();
    $$("[data-theme-switch]").forEach((b) => { b.hidden = false; b.setAttribute("aria-pressed", String(isDark())); });
    // A person who looks at the page opens the payment; link previews run no script.
    const open = $("form[data-auto-open]");
    if (open && !opened && window.htmx && !doc.hidden) { opened = true; setTimeout(() => { if (open.isConnected) open.requestSubmit(); }, 250); }
  };

  // A network that was chosen for a coin is chosen again on the next page.
  let recalled = false;
  const recallNetwork = () => {
    const form = $("form[data-network]");
    if (!form || recalled || !window.htmx) return;
    recalled = true;
    const known = $$("[name=network]", form).find((el) => el.value === store.get("network-" + form.dataset.network));
    if (known) form.requestSubmit(known);
  };

  doc.addEventListener("click", (e) => {
    const hit = (s) => e.target.closest(s);
    let el;
    if ((el = hit("[data-copy]"))) copy(el);
    else if ((el = hit("[data-network] button"))) { // the list closes, and its summary keeps the focus
      store.set("network-" + el.form.dataset.network, el.value);
      const list = el.closest("details");
      list.open = false; $("summary", list).focus();
    } else if ((el = hit("[data-theme-switch]"))) {
      root.dataset.theme = isDark() ? themes[0] : themes[1];
      store.set("theme", root.dataset.theme); refresh();
    } else if (hit("[data-print]")) print();
    else if (hit("[data-leave-cancel]")) { clearInterval(leaving); $("[data-leave]").remove(); }
  });

  doc.addEventListener("keydown", (e) => {
    if (e.key === "Escape") { const menu = $("details.menu[open]"); if (menu) { menu.open = false; $("summary", menu).focus(); } }
  });

  // Two clicks must not make two of a thing.
  doc.addEventListener("submit", (e) => {
    if (e.target.method !== "post" || e.target.matches("[hx-post]")) return;
    if (e.target.dataset.sent) { e.preventDefault(); return; }
    e.target.dataset.sent = "1";
    setTimeout(() => delete e.target.dataset.sent, 4000);
  });

  doc.addEventListener("DOMContentLoaded", () => { refresh(); setInterval(tick, 500); });
  doc.addEventListener("visibilitychange", refresh);
  doc.addEventListener("htmx:after:swap", refresh);
})();
