// The dashboard's keys, and its notice of new payments. Every page works
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

  // New payments: the stream says how many there are, and the list stays as it
  // is. A hidden page, and one that nobody has touched for long, listens no
  // more: it would keep the session from ending.
  const patience = 20 * 60 * 1000;
  let source = null, address = "", touched = Date.now();
  const stop = () => { if (source) source.close(); source = null; };
  const listen = () => {
    const list = $("[data-news]");
    const wanted = list && !doc.hidden && Date.now() - touched < patience ? list.dataset.news : "";
    if (source && address === wanted && source.readyState !== EventSource.CLOSED) return;
    stop();
    address = wanted;
    if (!wanted) return;
    source = new EventSource(wanted);
    source.addEventListener("news", (e) => {
      const link = $("[data-news-place] a");
      if (!link || link.textContent === e.data) return;
      link.textContent = e.data;
      link.hidden = false;
    });
    source.addEventListener("error", () => { if (Date.now() - touched >= patience) stop(); });
  };
  ["keydown", "pointerdown", "scroll"].forEach((kind) => doc.addEventListener(kind, () => {
    const late = Date.now() - touched >= patience;
    touched = Date.now();
    if (late) listen();
  }, { passive: true, capture: true }));
  doc.addEventListener("visibilitychange", listen);
  doc.addEventListener("htmx:after:swap", listen);
  setInterval(() => { if (Date.now() - touched >= patience) stop(); }, 60000);
  addEventListener("pagehide", stop);
  addEventListener("pageshow", listen);

  const begin = () => {
    $$("[data-keys-open]").forEach((button) => { button.hidden = false; });
    if (location.hash === "#q" && $("[data-search]")) search();
    listen();
  };
  if (doc.readyState === "loading") doc.addEventListener("DOMContentLoaded", begin); else begin();
})();
