// Signing with a wallet in the browser, of Ethereum's kind (EIP-6963, EIP-1193) or of Tron (TIP-6963, TIP-1193): a
// transaction, or a message whose signature goes into the page's form. A wallet of Tron returns the transaction signed,
// the others send it. The page works without this file: files, link and QR code, or the message, are there.
(() => {
  "use strict";
  const box = document.querySelector("[data-wallet]");
  if (!box) return;
  const { walletMessage: message, walletFrom: from } = box.dataset;
  const tron = "walletTron" in box.dataset;
  const request = message ? null : JSON.parse(box.dataset.walletRequest);
  const list = box.querySelector("[data-wallet-list]");
  const seen = new Set();
  let busy = false;
  const say = (name) => {
    for (const note of box.querySelectorAll("[data-wallet-note]")) note.hidden = note.dataset.walletNote !== name;
  };

  const fillSignature = (signature) => {
    document.querySelector("[name=signature]").value = String(signature);
    say("signed");
  };

  // signMessage signs the message (personal_sign, EIP-191). The signature is the same on every network.
  const signMessage = async (provider) => {
    const bytes = Array.from(new TextEncoder().encode(message), (byte) => byte.toString(16).padStart(2, "0"));
    fillSignature(await provider.request({ method: "personal_sign", params: ["0x" + bytes.join(""), from] }));
  };

  // isCurrent asks the server whether the send still waits for this request. Otherwise it was prepared again, given to the
  // network, seen or withdrawn meanwhile, and the page is loaded again: wallets may choose another number than the request's,
  // so that two transactions could confirm.
  const isCurrent = async () => {
    const answer = await fetch(location.pathname, { cache: "no-store" });
    const now = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-wallet]");
    return now && ["walletRequest", "walletGiven"].every((name) => now.dataset[name] === box.dataset[name]);
  };

  // send checks the network, so that the wallet is never asked to sign on another one.
  const send = async (provider) => {
    const chainId = "0x" + BigInt(box.dataset.walletChain).toString(16);
    const isOther = async () => BigInt(await provider.request({ method: "eth_chainId" })) !== BigInt(chainId);
    if (await isOther()) {
      try {
        await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
      } catch {
        return say("chain");
      }
      if (await isOther()) return say("chain");
    }
    const hash = await provider.request({ method: "eth_sendTransaction", params: [request] });
    const form = box.querySelector("[data-wallet-form]");
    form.elements.hash.value = String(hash);
    form.submit();
  };

  // useEthereum checks the account, so that the wallet is never asked to sign with another one.
  const useEthereum = async (provider) => {
    const accounts = await provider.request({ method: "eth_requestAccounts" });
    if (!accounts.some((account) => account.toLowerCase() === from.toLowerCase())) return say("account");
    await (message ? signMessage : send)(provider);
  };

  // useTron hands a signed transaction to the form below, whose answer compares it with the send.
  const useTron = async (provider) => {
    await provider.request({ method: "eth_requestAccounts" });
    const tronWeb = provider.tronWeb || window.tronWeb;
    if (tronWeb.defaultAddress.base58 !== from) return say("account");
    if (message) return fillSignature(await tronWeb.trx.signMessageV2(message));
    const field = document.querySelector("textarea[name=signed]");
    field.value = JSON.stringify(await tronWeb.trx.sign(request));
    field.form.requestSubmit();
  };

  const use = async (provider) => {
    if (busy) return;
    busy = true;
    say("");
    try {
      if (request && !(await isCurrent())) return location.reload();
      await (tron ? useTron : useEthereum)(provider);
    } catch {
      say("stopped");
    } finally {
      busy = false;
    }
  };

  // Wallets name themselves: the name is shown as text, their pictures are not loaded.
  const kind = tron ? "TIP6963" : "eip6963";
  addEventListener(kind + ":announceProvider", (event) => {
    const { info, provider } = event.detail || {};
    if (!info || !provider || seen.has(info.uuid) || seen.size >= 20) return;
    seen.add(info.uuid);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-line";
    button.textContent = String(info.name).slice(0, 40);
    button.addEventListener("click", () => use(provider));
    const item = document.createElement("li");
    item.append(button);
    list.append(item);
    box.querySelector("[data-wallet-none]").hidden = true;
  });
  box.hidden = false;
  dispatchEvent(new Event(kind + ":requestProvider"));
})();
