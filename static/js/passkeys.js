// Passkeys: asks the browser for one and sends what it answers as a form. Only
// the pages that need it load this file; signing in by password works without.
(() => {
  "use strict";
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const listed = (list) => (list || []).map((one) => ({ ...one, id: bytes(one.id) }));

  const add = async (o) => {
    const made = await navigator.credentials.create({ publicKey: { ...o, challenge: bytes(o.challenge),
      user: { ...o.user, id: bytes(o.user.id) }, excludeCredentials: listed(o.excludeCredentials) } });
    return { made, response: { attestationObject: text(made.response.attestationObject),
      transports: made.response.getTransports ? made.response.getTransports() : [] } };
  };
  const enter = async (o) => {
    const made = await navigator.credentials.get({ publicKey: { ...o, challenge: bytes(o.challenge), allowCredentials: listed(o.allowCredentials) } });
    const r = made.response;
    return { made, response: { authenticatorData: text(r.authenticatorData), signature: text(r.signature),
      userHandle: r.userHandle ? text(r.userHandle) : "" } };
  };

  // What the browser needs: on the page already, or asked for at the moment of use.
  const options = async (form) => {
    if (form.dataset.options) return JSON.parse(form.dataset.options).publicKey;
    const answer = await fetch(form.dataset.begin, { method: "POST", body: new URLSearchParams({ csrf: form.csrf.value }) });
    if (!answer.ok) throw answer.status === 429 ? "wait" : "away";
    return (await answer.json()).publicKey;
  };

  document.querySelectorAll("form[data-passkey]").forEach((form) => {
    const go = form.querySelector("[data-passkey-go]");
    const say = (name) => form.querySelectorAll("[data-passkey-note]").forEach((note) => { note.hidden = note.dataset.passkeyNote !== name; });
    go.hidden = false; // without this file there is nothing to press
    go.addEventListener("click", async () => {
      if (location.origin !== form.dataset.origin) { say("elsewhere"); return; }
      if (!window.PublicKeyCredential) { say("missing"); return; }
      say("");
      go.disabled = true;
      try {
        const { made, response } = await (form.dataset.passkey === "add" ? add : enter)(await options(form));
        response.clientDataJSON = text(made.response.clientDataJSON);
        form.credential.value = JSON.stringify({ id: made.id, rawId: text(made.rawId), type: made.type,
          authenticatorAttachment: made.authenticatorAttachment || undefined, clientExtensionResults: {}, response });
        form.submit();
      } catch (why) {
        say(typeof why === "string" ? why : why.name === "InvalidStateError" ? "known" : why.name === "NotAllowedError" ? "stopped" : "away");
        go.disabled = false;
        go.focus();
      }
    });
  });
})();
