// The dashboard's keys, and pages that update by themselves. Every page works
// without this file.
(() => {
  "use strict";
  const doc = document;
  const $ = (s, el) => (el || doc).querySelector(s);
  const $$ = (s, el) => [...(el || doc).querySelectorAll(s)];

  // Keys: single letters can be switched off, as speech and switch controls may type them by accident.
  const store = { get: () => { try { return localStorage.getItem("keys"); } catch { return null; } },
    set: (v) => { try { localStorage.setItem("keys", v); } catch { /* private mode */ } } };
  const on = () => store.get() !== "off";
  const shown = (el) => el.getClientRects().length > 0;

  const search = () => {
    const box = $("[data-search]");
    if (box) { box.focus(); box.select(); } else location.assign("/dashboard/payments#q");
  };
  const rows = () => $$("[data-rows] tbody tr").map((row) => $("a", row)).filter(Boolean);
  const step = (by) => {
    const links = rows();
    const at = links.findIndex((link) => link.closest("tr").contains(doc.activeElement));
    const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by];
    if (next) { next.focus(); next.closest("tr").scrollIntoView({ block: "nearest" }); }
  };
  const help = () => {
    const dialog = $("#keys-help");
    if (!dialog || dialog.open) return;
    $("[data-keys-switch]", dialog).checked = on();
    dialog.showModal();
  };
  // Esc closes what is open: a sheet of filters gives the focus back to its button.
  const shut = () => {
    const open = $("details.drop[open]");
    if (open) { open.open = false; $("summary", open).focus(); }
  };

  let going = 0;
  const letters = { "/": search, "?": help, j: () => step(1), k: () => step(-1), g: () => { going = Date.now(); } };
  doc.addEventListener("keydown", (e) => {
    if ((e.metaKey || e.ctrlKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === "k") { e.preventDefault(); search(); return; }
    if (e.key === "Escape") { shut(); return; }
    if (e.metaKey || e.ctrlKey || e.altKey || e.defaultPrevented || !on() || $("dialog[open]")) return;
    if (e.target.closest("input:not([type=checkbox]), select, textarea, [contenteditable]")) return;
    const went = going && Date.now() - going < 1500;
    going = 0;
    const to = went && $$("[data-go]").find((link) => link.dataset.go === e.key);
    if (to) { e.preventDefault(); location.assign(to.href); return; }
    const link = !went && $$("a[data-key]").find((a) => a.dataset.key === e.key);
    if (link) { e.preventDefault(); location.assign(link.href); return; }
    if (letters[e.key] && !went) { e.preventDefault(); letters[e.key](); }
  });

  doc.addEventListener("click", (e) => {
    if (e.target.closest("[data-keys-open]")) help();
    else if (e.target.closest("[data-keys-close]")) e.target.closest("dialog").close();
    $$("details.drop[open]").forEach((open) => { if (!open.contains(e.target)) open.open = false; });
  });
  doc.addEventListener("change", (e) => { if (e.target.matches("[data-keys-switch]")) store.set(e.target.checked ? "on" : "off"); });
  // A sheet that opens closes the others.
  doc.addEventListener("toggle", (e) => {
    if (e.target.matches("details.drop[open]")) $$("details.drop[open]").forEach((other) => { if (other !== e.target) other.open = false; });
  }, true);

  // Live pages: a stream says that something changed, and the page is asked for again. Details are replaced in
  // place. Lists keep their rows, which are brought up to date, and a link says how many are new. Without a
  // stream the page asks every ten seconds. A hidden page, and one that was not touched for long, asks no more:
  // it would keep the session from ending.
  const patience = 20 * 60 * 1000, slow = 10000, fast = 700, later = 3000;
  let source = null, address = "", touched = Date.now(), over = false, busy = false;
  let soon = 0, settled = 0, asked = 0, opened = 0;
  const live = () => $("#live[data-live]:not([data-live=''])");
  const awake = () => !over && !doc.hidden && Date.now() - touched < patience && live();
  const stop = () => { if (source) source.close(); source = null; };
  const announce = (text) => { const region = $("#announce"); if (region) region.textContent = text; };
  const textOf = (el) => el ? el.textContent.replace(/\s+/g, " ").trim() : "";
  const keyOf = (row) => { const link = $("a", row); return link ? link.getAttribute("href") : ""; };

  // What a person typed or chose stays: the page then only says that it has changed.
  const changed = (el) => {
    if (el.type === "checkbox" || el.type === "radio") return el.checked !== el.defaultChecked;
    if (el.options) return el.selectedIndex !== Math.max(0, [...el.options].findIndex((o) => o.defaultSelected));
    return el.value !== el.defaultValue;
  };
  const typing = (place) => $$("input:not([type=hidden]), select, textarea", place).some((el) => el === doc.activeElement || changed(el));
  const replaceParts = (next) => $$("[data-live-part]").forEach((part) => {
    const fresh = $("[data-live-part=" + part.dataset.livePart + "]", next);
    if (fresh && fresh.innerHTML !== part.innerHTML) part.replaceChildren(...fresh.cloneNode(true).childNodes);
  });
  const replaceRows = (next) => {
    const fresh = new Map($$("[data-rows] tbody tr", next).map((row) => [keyOf(row), row]));
    $$("[data-rows] tbody tr").forEach((row) => {
      const found = fresh.get(keyOf(row));
      if (!found || found.innerHTML === row.innerHTML) return;
      const focused = row.contains(doc.activeElement) && doc.activeElement.getAttribute("href");
      row.replaceChildren(...found.cloneNode(true).childNodes);
      const link = focused && $$("a", row).find((a) => a.getAttribute("href") === focused);
      if (link) link.focus();
    });
  };
  // What the server wrote, without what scripts and people add and without the values of hidden fields that are new in
  // every answer: the form token, and what tells one sending of a form from another.
  const written = (el) => el.innerHTML.replace(/ (data-htmx-powered|data-sent|open)="[^"]*"/g, "").replace(/(name="(?:csrf|once)" value=")[^"]*/g, "$1");
  const replacePage = (place, next, text) => {
    const fresh = $("#live", next);
    if (!fresh || written(fresh) === written(place)) return;
    const title = textOf($("h1", place)), stale = $("[data-live-stale]");
    if (typing(place)) {
      if (stale && stale.hidden) { stale.textContent = stale.dataset.text; stale.hidden = false; }
      return;
    }
    if (!window.htmx) return;
    htmx.swap({ sourceElement: place, target: place, select: "#live", swap: "outerMorph", text }).then(() => {
      if (stale) stale.hidden = true;
      const now = textOf($("#live h1"));
      if (now !== title) announce(now);
    });
  };
  const ask = async () => {
    const place = awake(), list = $("[data-live-list]");
    if (!place || busy) return;
    busy = true;
    asked = Date.now();
    try {
      const answer = await fetch(location.pathname + location.search, { cache: "no-store",
        headers: { "HX-Request": "true", "X-Live-Since": (list && list.dataset.liveList) || "0" } });
      if (answer.status === 401 || answer.status === 403) { over = true; stop(); }
      if (!answer.ok || answer.redirected || live() !== place) return;
      const text = await answer.text(), next = new DOMParser().parseFromString(text, "text/html");
      const shell = $(".shell", next);
      // Another tab switched to another business or domain: this page stays what it is.
      if (!shell || shell.dataset.scope !== $(".shell").dataset.scope) { over = true; stop(); return; }
      replaceParts(next);
      if (list) replaceRows(next); else replacePage(place, next, text);
    } catch { /* the network is away: the next change or look tries again */ } finally { busy = false; }
  };
  const askLater = () => { clearTimeout(settled); settled = setTimeout(ask, later); };
  const plan = () => {
    askLater(); // for what was still being written
    if (!soon) soon = setTimeout(() => { soon = 0; ask(); }, Math.max(0, asked + fast - Date.now()));
  };
  const listen = () => {
    const place = awake(), wanted = place ? place.dataset.live : "";
    if (source && address === wanted && source.readyState !== EventSource.CLOSED) return;
    stop();
    address = wanted;
    if (!wanted) return;
    opened = Date.now();
    source = new EventSource(wanted);
    // The first event comes at once: for what changed before the stream was open, one look is enough. It waits until
    // the page has settled, as reading a list again keeps a phone busy.
    source.addEventListener("changed", (e) => { if (e.data === "1") askLater(); else plan(); });
  };
  ["keydown", "pointerdown", "scroll"].forEach((kind) => doc.addEventListener(kind, () => {
    const late = Date.now() - touched >= patience;
    touched = Date.now();
    if (late) listen();
  }, { passive: true, capture: true }));
  doc.addEventListener("visibilitychange", listen);
  setInterval(() => {
    if (!awake()) { stop(); return; }
    if (source && source.readyState === EventSource.OPEN) return;
    ask();
    if (Date.now() - opened >= 6 * slow) listen();
  }, slow);
  // Signing out ends the session before the page is left.
  doc.addEventListener("submit", (e) => { if (e.target.getAttribute("action") === "/sign-out") { over = true; stop(); } });
  addEventListener("pagehide", stop);
  addEventListener("pageshow", listen);

  // In a browser in which a person switched notifications on, they go on. Their page loads the file by itself.
  const push = doc.currentScript.dataset.pushScript;
  const goOn = () => {
    try { if (!localStorage.getItem("push") || $("[data-push]")) return; } catch { return; }
    doc.head.append(Object.assign(doc.createElement("script"), { src: push }));
  };

  const begin = () => {
    goOn();
    $$("[data-keys-open]").forEach((button) => { button.hidden = false; });
    if (location.hash === "#q" && $("[data-search]")) search();
    listen();
  };
  if (doc.readyState === "loading") doc.addEventListener("DOMContentLoaded", begin); else begin();
})();
