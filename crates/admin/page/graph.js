// Small graphs of the last minutes, drawn as SVG; each also says in words what it shows.

import { h, svg } from "./dom.js";
import { clockAt, round } from "./words.js";

const COLUMNS = 120;
const HEIGHT = 40;

// The newest samples in columns, several to a column where the time is long; a column without any is empty.
export function columns(samples, each, pick, join) {
  const wanted = samples.slice(-COLUMNS * each);
  const groups = [];
  for (let end = wanted.length; end > 0; end -= each) groups.unshift(wanted.slice(Math.max(0, end - each), end));
  return groups.map((group) => {
    const values = group.map(pick).filter((value) => value !== undefined && value !== null);
    return { at: group.at(-1).at_ms, value: values.length ? join(values) : undefined };
  });
}

export const sum = (values) => values.reduce((a, b) => a + b, 0);
export const most = (values) => Math.max(...values);

// A graph with a title; `draw` shows lines, each `{name, data, kind}`, where a kind is `bars` or `line`.
export function graph(title) {
  const plot = svg("svg", { viewBox: `0 0 ${COLUMNS} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
  const value = h("output", { class: "now" });
  const scale = h("span", { class: "scale" });
  const figure = h("figure", { class: "graph" }, h("figcaption", {}, h("span", {}, title), value), plot, scale);
  let lines = [];
  let resting = "";

  const read = (event) => {
    const box = plot.getBoundingClientRect();
    const data = lines[0]?.data ?? [];
    const place = Math.floor(((event.clientX - box.left) / box.width) * COLUMNS) - (COLUMNS - data.length);
    if (!data[place]) return rest();
    const shown = lines.map((line) => `${line.name} ${line.data[place].value ?? "–"}`).join(", ");
    value.textContent = `${clockAt(data[place].at)}: ${shown}`;
  };
  const rest = () => {
    value.textContent = resting;
  };
  plot.addEventListener("pointermove", read);
  plot.addEventListener("pointerleave", rest);

  const draw = (next, now, span, unit) => {
    lines = next;
    const found = Math.max(0, ...lines.flatMap(({ data }) => data.map((one) => one.value ?? 0)));
    // Nothing at all is a flat line, not a full one.
    plot.replaceChildren(...lines.map((line) => shape(line, found || 1)));
    const top = round(found);
    plot.setAttribute("aria-label", `${title}, ${span}: now ${now}, at most ${top} ${unit}`);
    scale.textContent = `at most ${top} ${unit}`;
    resting = now;
    rest();
  };
  return { element: figure, draw };
}

function shape({ data, kind, tone }, top) {
  const x = (place) => COLUMNS - data.length + place;
  const y = (value) => HEIGHT - (value / top) * (HEIGHT - 2);
  if (kind === "bars") {
    const bars = data.map((one, place) => (one.value ? `M${x(place)} ${HEIGHT}V${y(one.value).toFixed(2)}h.8V${HEIGHT}z` : ""));
    return svg("path", { d: bars.join("") || "M0 0", class: `bars ${tone}` });
  }
  let open = false;
  const steps = data.map((one, place) => {
    if (one.value === undefined) return ((open = false), "");
    const step = `${open ? "L" : "M"}${x(place)} ${y(one.value).toFixed(2)}h.8`;
    open = true;
    return step;
  });
  return svg("path", { d: steps.join("") || "M0 0", class: `line ${tone}` });
}
