// The project's look: one neutral palette, one accent, light and dark.
// Loaded by static/css/app.css through @config; build with `npm run build`.
const daisyui = require("daisyui").default;
const theme = require("daisyui/theme").default;

const shape = {
  "--radius-selector": "0.375rem",
  "--radius-field": "0.4375rem",
  "--radius-box": "0.625rem",
  "--size-selector": "0.25rem",
  "--size-field": "0.25rem",
  "--border": "1px",
  "--depth": "0",
  "--noise": "0",
};

const light = {
  name: "cointill",
  default: true,
  "color-scheme": "light",
  "--color-base-100": "#ffffff",
  "--color-base-200": "#f6f4ef",
  "--color-base-300": "#e4dfd4",
  "--color-base-content": "#1f1c17",
  "--color-primary": "#0b566b",
  "--color-primary-content": "#ffffff",
  "--color-secondary": "#5f584c",
  "--color-secondary-content": "#ffffff",
  "--color-accent": "#0b566b",
  "--color-accent-content": "#ffffff",
  "--color-neutral": "#2b2720",
  "--color-neutral-content": "#f6f4ef",
  "--color-info": "#0b566b",
  "--color-info-content": "#ffffff",
  "--color-success": "#1b6b3f",
  "--color-success-content": "#ffffff",
  "--color-warning": "#8a4b00",
  "--color-warning-content": "#ffffff",
  "--color-error": "#a3242a",
  "--color-error-content": "#ffffff",
  ...shape,
};

const dark = {
  name: "cointill-dark",
  prefersdark: true,
  "color-scheme": "dark",
  "--color-base-100": "#1d1b18",
  "--color-base-200": "#151411",
  "--color-base-300": "#37332c",
  "--color-base-content": "#ece8df",
  "--color-primary": "#73c5da",
  "--color-primary-content": "#04232c",
  "--color-secondary": "#a8a192",
  "--color-secondary-content": "#1d1b18",
  "--color-accent": "#73c5da",
  "--color-accent-content": "#04232c",
  "--color-neutral": "#ece8df",
  "--color-neutral-content": "#1d1b18",
  "--color-info": "#73c5da",
  "--color-info-content": "#04232c",
  "--color-success": "#7fd0a0",
  "--color-success-content": "#06210f",
  "--color-warning": "#f0b45c",
  "--color-warning-content": "#2b1800",
  "--color-error": "#f59a98",
  "--color-error-content": "#2f0607",
  ...shape,
};

/** @type {import('tailwindcss').Config} */
module.exports = {
  content: ["./views/**/*.templ", "./views/ui/*.go", "!./views/**/*_templ.go"],
  darkMode: ["selector", '[data-theme="cointill-dark"]'],
  theme: {
    extend: {
      fontFamily: {
        sans: ["ui-sans-serif", "system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans", "Helvetica Neue", "Arial", "sans-serif"],
        mono: ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "Liberation Mono", "monospace"],
      },
      colors: {
        muted: "var(--color-secondary)",
        line: "var(--color-base-300)",
      },
    },
  },
  plugins: [
    require("@tailwindcss/forms"),
    daisyui({ themes: false, logs: false, include: "rootcolor, properties, button, progress, link" }),
    theme(light),
    theme(dark),
  ],
};
