// The set-up token: takes it from the fragment of the address into its field, and out of the
// address, so that it stays in no history. Without this file it is pasted.
(() => {
  "use strict";
  const take = () => {
    const field = document.querySelector("[data-setup-token]");
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    if (!field || !token) return;
    field.value = token;
    history.replaceState(null, "", location.pathname + location.search);
    field.form.querySelector("[name=business_name]").focus();
  };
  take();
  addEventListener("hashchange", take); // the link was opened while the page was
})();
