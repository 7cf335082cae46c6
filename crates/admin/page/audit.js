// The record of all calls: searched, read page by page, and taken along as a file.

import { address, get, query } from "./api.js";
import { button, fill, h, table } from "./dom.js";
import { field, form } from "./form.js";
import { clockAt, at as exactly, state, took } from "./words.js";

const SHOWN = 50;
const NAMES = ["since_ms", "until_ms", "principal", "target", "outcome"];
const OUTCOMES = [
  "complete",
  "denied",
  "needsApproval",
  "rateLimited",
  "invalidInput",
  "notFound",
  "timeout",
  "connectionFailed",
  "cancelled",
  "internal",
];

export const audit = { title: "Audit", show };

async function show(root, at) {
  const list = table("Records, newest first", ["Time", "Target", "Principal", "Client", "Outcome", "Took", "Rule", "Approver"]);
  const more = button("Older ones", () => load(true), { hidden: true });
  const file = h("a", { download: "", class: "button" }, "Export as JSON lines");
  const fields = [
    field("since_ms", "Not before", { kind: "datetime-local", step: 1, value: at.query.since_ms }),
    field("until_ms", "Before", { kind: "datetime-local", step: 1, value: at.query.until_ms }),
    field("principal", "Principal", { value: at.query.principal }),
    field("target", "Target", { value: at.query.target, placeholder: "tool:workspace_*" }),
    field("outcome", "Outcome", { value: at.query.outcome, list: "outcomes", placeholder: "complete" }),
  ];
  const filter = form({
    label: "Filter the record",
    fields: [h("div", { class: "filters" }, fields)],
    submit: "Search",
    send: () => search(),
    extra: [button("Clear", clear), file],
  });
  let next;
  let wanted = {};

  const load = async (older) => {
    const page = await get(`/audit${query({ ...wanted, limit: SHOWN, after: older ? next : undefined })}`);
    const rows = page.items.map((one) => row(list, one));
    if (!older) list.body.replaceChildren();
    list.body.append(...rows);
    if (!list.body.children.length) list.body.append(h("tr", {}, h("td", { colspan: 8, class: "empty" }, "No record fits.")));
    next = page.next;
    more.hidden = !next;
    if (older) rows[0]?.querySelector("summary, td")?.focus?.();
  };
  const search = async () => {
    const values = Object.fromEntries(fields.map((one) => [one.named, one.control.value.trim()]));
    wanted = { ...values, since_ms: msOf(values.since_ms), until_ms: msOf(values.until_ms) };
    file.setAttribute("href", address(`/audit/export${query(wanted)}`));
    // The address keeps the filter, so that it can be shared and found again.
    history.replaceState(null, "", `#/audit${query(Object.fromEntries(NAMES.map((name) => [name, values[name]])))}`);
    await load(false);
  };
  function clear() {
    for (const one of fields) one.control.value = "";
    search();
  }
  fill(
    root,
    filter,
    h(
      "datalist",
      { id: "outcomes" },
      OUTCOMES.map((value) => h("option", { value })),
    ),
    list.element,
    h("div", { class: "row" }, more),
  );
  await search();
  return {};
}

function msOf(text) {
  const ms = text ? new Date(text).getTime() : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function row(list, one) {
  const moment = h(
    "time",
    { datetime: new Date(one.time_ms).toISOString(), title: exactly(one.time_ms) },
    new Date(one.time_ms).toDateString() === new Date().toDateString() ? clockAt(one.time_ms) : exactly(one.time_ms),
  );
  const all = h(
    "details",
    {},
    h("summary", {}, h("code", {}, one.target)),
    h("pre", { class: "code", tabindex: 0, role: "region", "aria-label": "The record" }, JSON.stringify(one, null, 2)),
  );
  return list.row(
    moment,
    all,
    one.principal,
    clientOf(one.client),
    state(one.outcome),
    took(one.took_us),
    one.rule,
    one.approver,
  );
}

const clientOf = (client) => (typeof client === "object" && client ? client.name : client);
