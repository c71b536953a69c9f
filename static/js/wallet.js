// Signing with a wallet in the browser (EIP-6963, EIP-1193). The page works without this file: files,
// link and QR code are there.
(() => {
  "use strict";
  const box = document.querySelector("[data-wallet]");
  if (!box) return;
  const request = JSON.parse(box.dataset.walletRequest);
  const list = box.querySelector("[data-wallet-list]");
  const seen = new Set();
  let busy = false;
  const say = (name) => {
    for (const note of box.querySelectorAll("[data-wallet-note]")) note.hidden = note.dataset.walletNote !== name;
  };

  // send checks account and network, so that the wallet is never asked to sign with others.
  const send = async (provider) => {
    if (busy) return;
    busy = true;
    say("");
    try {
      const accounts = await provider.request({ method: "eth_requestAccounts" });
      if (!accounts.some((account) => account.toLowerCase() === request.from.toLowerCase())) return say("account");
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
      await provider.request({ method: "eth_sendTransaction", params: [request] });
      say("sent");
    } catch {
      say("stopped");
    } finally {
      busy = false;
    }
  };

  // Wallets name themselves: the name is shown as text, their pictures are not loaded.
  addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = event.detail || {};
    if (!info || !provider || seen.has(info.uuid) || seen.size >= 20) return;
    seen.add(info.uuid);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-line";
    button.textContent = String(info.name).slice(0, 40);
    button.addEventListener("click", () => send(provider));
    const item = document.createElement("li");
    item.append(button);
    list.append(item);
    box.querySelector("[data-wallet-none]").hidden = true;
  });
  box.hidden = false;
  dispatchEvent(new Event("eip6963:requestProvider"));
})();
