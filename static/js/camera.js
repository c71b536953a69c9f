// Reads the QR code of a signed transaction by the device's camera, and puts what it holds into the form. Without
// this file the transaction is pasted, or its file is chosen.
(() => {
  "use strict";
  const milliseconds = 80; // between two pictures
  const side = 720; // pixels of the shorter side that are searched
  const box = document.querySelector("[data-camera]");
  if (!box || !navigator.mediaDevices) return; // browsers offer the camera to secure pages only
  const here = new URL(document.currentScript.src);
  const form = box.closest("form");
  const [start, stop, video] = ["start", "stop", "picture"].map((name) => box.querySelector(`[data-camera-${name}]`));
  const canvas = document.createElement("canvas");
  const parts = new Set();
  let stream = null;
  let asking = false;

  const say = (name, text) => {
    for (const note of box.querySelectorAll("[data-camera-note]")) {
      note.hidden = note.dataset.cameraNote !== name;
      if (!note.hidden && text) note.textContent = text;
    }
  };
  const progress = (have, want) =>
    say("progress", box.dataset.cameraProgress.replace("{have}", have).replace("{want}", want));

  const close = () => {
    for (const track of stream ? stream.getTracks() : []) track.stop();
    stream = video.srcObject = null;
    video.hidden = stop.hidden = true;
    start.hidden = false;
    parts.clear();
  };
  const finish = (text) => {
    close();
    form.elements.signed.value = text;
    say("done");
    form.querySelector("[type=submit]").focus();
  };

  // count asks the server whether the parts make the whole: those after the first round are sums of several.
  const count = async () => {
    asking = true;
    const text = [...parts].join("\n");
    const body = new URLSearchParams({ csrf: form.elements.csrf.value, network: box.dataset.cameraNetwork, signed: text });
    try {
      const answer = await fetch("/dashboard/sends/parts", { method: "POST", body });
      const { have, want } = await answer.json();
      if (!stream) return;
      if (want && have === want) return finish(text);
      if (want) return progress(have, want);
      parts.clear();
      say("other");
    } catch {
      if (stream) say("looking");
    } finally {
      asking = false;
    }
  };

  // take adds what one picture holds.
  const take = (text) => {
    const part = text.trim().toLowerCase();
    const numbers = /^ur:[a-z0-9-]+\/\d+-(\d+)\//.exec(part);
    if (!numbers) return finish(part.startsWith("ur:") ? part : text.trim());
    if (parts.has(part)) return;
    parts.add(part);
    if (parts.size < numbers[1]) progress(parts.size, numbers[1]);
    else if (!asking) count();
  };

  const look = (decode) => {
    if (!stream) return;
    if (video.readyState >= 2 && video.videoWidth) {
      const scale = Math.min(1, side / Math.min(video.videoWidth, video.videoHeight));
      canvas.width = Math.round(video.videoWidth * scale);
      canvas.height = Math.round(video.videoHeight * scale);
      const picture = canvas.getContext("2d", { willReadFrequently: true });
      picture.drawImage(video, 0, 0, canvas.width, canvas.height);
      let text = "";
      try {
        text = decode(picture.getImageData(0, 0, canvas.width, canvas.height));
      } catch {
        // this picture has no code that can be read
      }
      if (text) take(text);
    }
    setTimeout(look, milliseconds, decode);
  };

  start.addEventListener("click", async () => {
    say("looking");
    start.hidden = true;
    try {
      const { decodeQR } = await import(new URL("qr/decode.js", here).href);
      stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
      video.srcObject = stream;
      video.hidden = stop.hidden = false;
      stop.focus();
      await video.play();
      look(decodeQR);
    } catch {
      close();
      say("denied");
    }
  });
  stop.addEventListener("click", () => {
    close();
    say("");
    start.focus();
  });
  addEventListener("pagehide", close);
  box.hidden = false;
})();
