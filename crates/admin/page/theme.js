// Light, dark, or what the system wants.

import { h } from "./dom.js";

const KEY = "toolgate-theme";

function kept() {
  try {
    return localStorage.getItem(KEY) ?? "auto";
  } catch {
    return "auto";
  }
}

function use(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

use(kept());

export function themeSwitch() {
  const choices = [
    ["auto", "Auto"],
    ["light", "Light"],
    ["dark", "Dark"],
  ];
  const changed = () => {
    use(select.value);
    try {
      localStorage.setItem(KEY, select.value);
    } catch {
      // It holds until the page is closed.
    }
  };
  const select = h(
    "select",
    { class: "theme", "aria-label": "Theme", onchange: changed },
    choices.map(([value, shown]) => h("option", { value }, shown)),
  );
  select.value = kept();
  return select;
}
