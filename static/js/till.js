// The till: keypad, live state and sound. Every page works without this file.
(() => {
  "use strict";
  const doc = document;
  const $ = (s, el) => (el || doc).querySelector(s);
  const amount = () => $("[data-till-form] input[name=amount]");

  // The keypad types into the field. Digits typed anywhere on the page go there too, so that Enter charges.
  const type = (key) => {
    const field = amount();
    if (!field) return;
    if (key === "back") field.value = field.value.slice(0, -1);
    else if ((field.value + key).length <= field.maxLength) field.value = (field.value + key).replace(/^0+/, "");
  };
  doc.addEventListener("click", (e) => {
    const key = e.target.closest("[data-till-key]");
    if (key) type(key.dataset.tillKey);
    if (e.target.closest("[data-till-sound]")) switchSound();
  });
  doc.addEventListener("keydown", (e) => {
    if (e.metaKey || e.ctrlKey || e.altKey || e.target.closest("input, select, textarea")) return;
    const field = amount();
    if (!field || !/^([0-9]|Backspace)$/.test(e.key)) return;
    field.focus(); // the browser then types the key there
    field.setSelectionRange(field.value.length, field.value.length);
  });

  const store = { get: (name) => { try { return localStorage.getItem("till-" + name); } catch { return null; } },
    set: (name, v) => { try { localStorage.setItem("till-" + name, v); } catch { /* private mode */ } } };

  // A network that was chosen for a coin is chosen again on the next page, while it is still offered.
  const networkOf = (box) => "network-" + box.dataset.tillNetwork;
  const recallNetworks = () => doc.querySelectorAll("[data-till-network]").forEach((box) => {
    const known = [...box.querySelectorAll("input")].find((el) => el.value === store.get(networkOf(box)));
    if (known) known.checked = true;
  });
  doc.addEventListener("change", (e) => {
    const box = e.target.closest("[data-till-network]");
    if (box) store.set(networkOf(box), e.target.value);
    const choice = e.target.name === "method" && $(`[data-till-network="${e.target.value}"]`);
    if (choice) choice.scrollIntoView({ block: "nearest" }); // it would open below the button
  });

  // Sound: off until it is switched on; browsers allow it only after a tap on the page.
  const Audio = window.AudioContext || window.webkitAudioContext;
  const on = () => store.get("sound") === "on";
  let audio = null;
  const wake = () => {
    if (!Audio || !on()) return;
    audio = audio || new Audio();
    if (audio.state === "suspended") audio.resume().catch(() => { /* not tapped yet */ });
  };
  const play = () => {
    if (!on() || !audio) return;
    [523.25, 659.25, 783.99].forEach((pitch, i) => {
      const at = audio.currentTime + i * 0.16, tone = audio.createOscillator(), level = audio.createGain();
      tone.frequency.value = pitch;
      level.gain.setValueAtTime(0.0001, at);
      level.gain.exponentialRampToValueAtTime(0.4, at + 0.02);
      level.gain.exponentialRampToValueAtTime(0.0001, at + 0.3);
      tone.connect(level).connect(audio.destination);
      tone.start(at);
      tone.stop(at + 0.32);
    });
    doc.body.dataset.played = String(1 + Number(doc.body.dataset.played || 0));
  };
  const showSound = () => {
    const button = $("[data-till-sound]");
    if (!button || !Audio) return;
    button.hidden = false;
    button.setAttribute("aria-pressed", String(on()));
    button.textContent = on() ? button.dataset.on : button.dataset.off;
  };
  const switchSound = () => {
    store.set("sound", on() ? "off" : "on");
    showSound();
    if (on()) { wake(); play(); }
  };
  ["pointerdown", "keydown"].forEach((kind) => doc.addEventListener(kind, wake, { passive: true }));

  // Live: a stream says that something changed, and the page is asked for again. Without a stream it asks every
  // few seconds. A till stays open for the working day: the session ends by its own limit.
  const slow = 5000;
  // leaving: a form was sent, and its answer is the next page. It may end the session that this page asks with.
  let source = null, busy = false, again = false, leaving = false;
  const ask = async () => {
    if (leaving) return;
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.pathname, { cache: "no-store", headers: { "HX-Request": "true" } });
      if (leaving) return;
      if (answer.status === 401 || answer.status === 403) { location.reload(); return; }
      if (!answer.ok || answer.redirected) return;
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      const part = $("#till-live"), fresh = $("#till-live", next);
      if (!part || !fresh || part.innerHTML === fresh.innerHTML) return;
      const before = face(), open = $("details", part) && $("details", part).open;
      part.replaceChildren(...fresh.childNodes);
      if (open && $("details", part)) $("details", part).open = true;
      doc.body.dataset.live = next.body.dataset.live;
      if (face() !== before) arrive();
      listen();
    } catch { /* the network is away: the next change or look tries again */ } finally {
      busy = false;
      if (again) { again = false; ask(); }
    }
  };
  const face = () => { const el = $("[data-till-face]"); return el ? el.dataset.tillFace : ""; };
  const arrive = () => {
    const region = $("#announce"), title = $("#till-live h1");
    if (region && title) region.textContent = title.textContent;
    if (face() === "paid") {
      play();
      $("[data-till-next]").focus();
    }
  };
  const listen = () => {
    const wanted = doc.body.dataset.live;
    if (source && (source.readyState === EventSource.CLOSED || !wanted)) { source.close(); source = null; }
    if (source || !wanted) return;
    source = new EventSource(wanted);
    source.addEventListener("changed", ask);
  };
  setInterval(() => {
    if (!doc.body.dataset.live) return;
    if (!source || source.readyState !== EventSource.OPEN) ask();
    listen();
  }, slow);
  doc.addEventListener("submit", () => {
    leaving = true;
    setTimeout(() => { leaving = false; }, 4000); // no other page came: it was stopped
  });
  addEventListener("pagehide", () => { if (source) source.close(); source = null; });
  addEventListener("pageshow", () => { leaving = false; listen(); });
  recallNetworks();
  showSound();
  wake();
  listen();
})();
