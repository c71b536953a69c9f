// The service worker of the dashboard: it shows what the server sends (core/notification/push), and opens the page
// that a notification is about. It keeps nothing and answers no requests.
"use strict";
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("push", (e) => {
  let shown = {};
  try { shown = e.data.json(); } catch { /* a message of another kind: browsers want something shown */ }
  e.waitUntil(self.registration.showNotification(shown.title || "Cointill",
    { body: shown.text || "", tag: shown.tag || "", data: { path: shown.path || "" }, icon: "/static/0/img/favicon.svg" }));
});
self.addEventListener("notificationclick", (e) => {
  e.notification.close();
  const { path } = e.notification.data || {};
  e.waitUntil(self.clients.openWindow(/^\/dashboard\//.test(path) ? path : "/dashboard/notifications"));
});
