// Signing with a wallet in the browser: of Ethereum's kind (EIP-6963, EIP-1193), which sends the transaction, or of Tron
// (TIP-6963, TIP-1193), which returns it signed. The page works without this file: files, link and QR code are there.
(() => {
  "use strict";
  const box = document.querySelector("[data-wallet]");
  if (!box) return;
  const request = JSON.parse(box.dataset.walletRequest);
  const returns = "walletReturns" in box.dataset;
  const list = box.querySelector("[data-wallet-list]");
  const seen = new Set();
  let busy = false;
  const say = (name) => {
    for (const note of box.querySelectorAll("[data-wallet-note]")) note.hidden = note.dataset.walletNote !== name;
  };

  // send checks account and network, so that the wallet is never asked to sign with others.
  const send = async (provider) => {
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
  };

  // sign hands what the wallet signed to the form below, whose answer compares it with the send.
  const sign = async (provider) => {
    await provider.request({ method: "eth_requestAccounts" });
    const tronWeb = provider.tronWeb || window.tronWeb;
    if (tronWeb.defaultAddress.base58 !== box.dataset.walletAccount) return say("account");
    const field = document.querySelector("textarea[name=signed]");
    field.value = JSON.stringify(await tronWeb.trx.sign(request));
    field.form.requestSubmit();
  };

  const use = async (provider) => {
    if (busy) return;
    busy = true;
    say("");
    try {
      await (returns ? sign : send)(provider);
    } catch {
      say("stopped");
    } finally {
      busy = false;
    }
  };

  // Wallets name themselves: the name is shown as text, their pictures are not loaded.
  const kind = returns ? "TIP6963" : "eip6963";
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
