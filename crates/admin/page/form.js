// Forms whose faults stand beside their fields, and that lose nothing when something fails.

import { freshId, h, ticked } from "./dom.js";

// A labelled field. `kind`: text, password, area, select, check, or a type of input.
export function field(name, label, { kind = "text", hint, options, value, ...rest } = {}) {
  const id = freshId(name.replaceAll(/[^\w-]/g, "_"));
  const described = [hint && `${id}-hint`, `${id}-fault`].filter(Boolean).join(" ");
  const common = { id, name, "aria-describedby": described, ...rest };
  const control = controlOf(kind, common, options, value);
  const fault = h("p", { id: `${id}-fault`, class: "fault", hidden: true });
  const says = hint && h("p", { id: `${id}-hint`, class: "hint" }, ticked(hint));
  const named = h("label", { for: id }, label, rest.required && h("span", { class: "needed" }, " (required)"));
  const parts = kind === "check" ? [h("div", { class: "check" }, control, named), says, fault] : [named, says, control, fault];
  const element = h("div", { class: "field" }, parts);
  return Object.assign(element, { control, fault, named: name });
}

function controlOf(kind, common, options, value) {
  if (kind === "area") return h("textarea", { rows: 4, spellcheck: "false", ...common, value: value ?? "" });
  if (kind === "check") return h("input", { type: "checkbox", ...common, checked: Boolean(value) });
  if (kind !== "select")
    return h("input", { type: kind, autocapitalize: "none", spellcheck: "false", ...common, value: value ?? "" });
  const choices = options.map((option) => (Array.isArray(option) ? option : [option, option]));
  const select = h(
    "select",
    common,
    choices.map(([key, shown]) => h("option", { value: key }, shown)),
  );
  if (value !== undefined) select.value = value;
  return select;
}

export function blame(one, text) {
  one.fault.replaceChildren(...ticked(text));
  one.fault.hidden = !text;
  if (text) one.control.setAttribute("aria-invalid", "true");
  else one.control.removeAttribute("aria-invalid");
}

// A form: `send` gets the values by name, and may throw a problem, which is then shown where it belongs.
export function form({ label, fields, submit, tone = "main", send, extra, ...rest }) {
  const fault = h("div", { class: "fault whole", role: "alert", hidden: true });
  const go = h("button", { type: "submit", class: tone }, submit);
  const values = () =>
    Object.fromEntries(
      known.map((one) => [one.named, one.control.type === "checkbox" ? one.control.checked : one.control.value]),
    );
  const element = h(
    "form",
    { "aria-label": label, novalidate: true, ...rest },
    fields,
    fault,
    h("div", { class: "row" }, go, extra),
  );
  const known = [...element.querySelectorAll(".field")];
  const submitted = async (event) => {
    event.preventDefault();
    if (go.disabled) return;
    clear(known, fault);
    if (!filled(known)) return;
    go.disabled = true;
    element.setAttribute("aria-busy", "true");
    try {
      await send(values(), element);
    } catch (problem) {
      show(problem, known, fault);
    } finally {
      go.disabled = false;
      element.removeAttribute("aria-busy");
    }
  };
  element.addEventListener("submit", submitted);
  return element;
}

function clear(known, fault) {
  for (const one of known) blame(one, "");
  fault.hidden = true;
  fault.replaceChildren();
}

function filled(known) {
  const missing = known.filter((one) => one.control.required && !one.control.value.trim());
  for (const one of missing) blame(one, "is missing");
  missing[0]?.control.focus();
  return !missing.length;
}

// Beside their fields what is about them, above the button what is not.
function show(problem, known, fault) {
  if (problem.name === "AbortError") return;
  const of = (name) => known.find((one) => one.named === name || one.named === name.split(/[.[/]/)[0]);
  const placed = (problem.fields ?? []).filter(({ name }) => of(name));
  for (const { name, detail } of placed) blame(of(name), detail);
  if (placed.length) return of(placed[0].name).control.focus();
  fault.replaceChildren(...telling(problem));
  fault.hidden = false;
}

// What went wrong, and the next step.
export function telling(problem) {
  if (!problem.status && problem.status !== 0) console.error(problem);
  const text = problem.wait ? `${problem.message} (try again in ${problem.wait} s)` : problem.message;
  return [h("p", {}, ticked(text)), problem.hint && h("p", { class: "hint" }, ticked(problem.hint))].filter(Boolean);
}
