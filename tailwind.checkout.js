// The customer's pages have what tailwind.config.js says, from their own templates
// alone. Loaded by static/css/pay.css through @config.
module.exports = {
  ...require("./tailwind.config.js"),
  content: ["./views/checkout/*.templ", "./views/layout/customer.templ", "./views/layout/parts.templ", "./views/ui/{form,icon,show}.templ", "./views/ui/{ui,icons,qr}.go"],
};
