// Notifications in this browser: switches them on and off, and goes on after the member signed in again. A browser
// in which no person switched them on does nothing here.
(() => {
  "use strict";
  const path = "/dashboard/notifications/browsers", fresh = 25 * 60 * 1000;
  const store = { get: () => { try { return JSON.parse(localStorage.getItem("push")); } catch { return null; } },
    set: (value) => { try { if (value) localStorage.setItem("push", JSON.stringify(value)); else localStorage.removeItem("push"); } catch { /* private mode */ } } };
  const able = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const token = () => document.querySelector("input[name=csrf]").value;
  const post = async (to, form) => {
    const answer = await fetch(to, { method: "POST", body: new URLSearchParams({ ...form, csrf: token() }), redirect: "manual" });
    if (!answer.ok && answer.type !== "opaqueredirect") throw answer.status;
  };
  const worker = () => navigator.serviceWorker.register("/push-worker.js", { scope: "/dashboard" }).then(() => navigator.serviceWorker.ready);
  const forget = async () => {
    store.set(null);
    const subscription = await (await worker()).pushManager.getSubscription();
    if (subscription) await subscription.unsubscribe();
  };

  // Tells the server how to reach this browser, which asks its push service first. Another person's notifications end.
  const register = async (mine) => {
    const answer = await fetch(path + "/key", { cache: "no-store" });
    if (!answer.ok) throw answer.status;
    const { key, member } = await answer.json();
    if (mine && mine !== member) { await forget(); return; }
    const manager = (await worker()).pushManager;
    let subscription = await manager.getSubscription();
    if (subscription && text(subscription.options.applicationServerKey || new ArrayBuffer(0)) !== key) {
      await subscription.unsubscribe();
      subscription = null;
    }
    if (!subscription) subscription = await manager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(key) });
    const made = subscription.toJSON();
    await post(path, { endpoint: made.endpoint, p256dh: made.keys.p256dh, auth: made.keys.auth, key });
    store.set({ member, at: Date.now() });
  };

  const known = store.get();
  if (able && known && Notification.permission === "granted" && Date.now() - known.at > fresh) register(known.member).catch(() => { /* the next page tries again */ });
  document.addEventListener("submit", (e) => {
    const now = store.get();
    if (now && e.target.getAttribute("action") === "/sign-out") store.set({ ...now, at: 0 });
  });

  const place = document.querySelector("[data-push]"); // on the page that switches them
  if (!place) return;
  const show = (state) => {
    place.querySelectorAll("[data-push-note]").forEach((note) => { note.hidden = note.dataset.pushNote !== state; });
    place.querySelectorAll("[data-push-go]").forEach((button) => { button.hidden = !able || (button.dataset.pushGo === "on") === (place.dataset.push !== ""); });
  };
  place.addEventListener("click", async (e) => {
    const button = e.target.closest("[data-push-go]");
    if (!button) return;
    button.disabled = true;
    try {
      if (button.dataset.pushGo === "on") {
        if (await Notification.requestPermission() !== "granted") { show("denied"); return; }
        await register();
      } else {
        await post(path + "/" + place.dataset.push + "/remove", {});
        await forget();
      }
      location.reload();
    } catch { show("away"); } finally { button.disabled = false; }
  });
  show(!able ? "missing" : Notification.permission === "denied" ? "denied" : place.dataset.push ? "on" : "off");
})();
