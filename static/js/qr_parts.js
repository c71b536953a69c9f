// An animated QR code: its parts are shown one after the other. Without this file all parts stand side by
// side, and a wallet reads them one by one.
(() => {
  "use strict";
  const milliseconds = 350; // slow enough for the camera of an old phone
  const box = document.querySelector("[data-qr-parts]");
  if (!box) return;
  const parts = [...box.querySelectorAll("[data-qr-part]")];
  if (parts.length < 2) return;
  let shown = 0;
  let timer = 0;
  const show = () => {
    for (const [i, part] of parts.entries()) part.hidden = i !== shown;
    shown = (shown + 1) % parts.length;
  };
  const button = box.querySelector("[data-qr-pause]");
  const texts = [button.textContent, button.dataset.qrGo];
  const toggle = () => {
    if (timer) clearInterval(timer);
    timer = timer ? 0 : setInterval(show, milliseconds);
    button.textContent = timer ? texts[0] : texts[1];
  };
  button.addEventListener("click", toggle);
  button.hidden = false;
  show();
  toggle();
})();
