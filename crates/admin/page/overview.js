// What is so right now: numbers of the last minutes, who is connected, what runs, what is wrong.

import { get, items } from "./api.js";
import { fill, h, pairs, renew, section, table } from "./dom.js";
import { columns, graph, most, sum } from "./graph.js";
import { link } from "./router.js";
import { count, plural, span, state, took, when } from "./words.js";

const SPANS = { "10 minutes": 1, "1 hour": 6 };
const KEPT = 720;
const ofMs = (ms) => took(ms * 1000);

export const overview = { title: "Overview", show };

async function show(root, at) {
  const graphs = drawing();
  const facts = h("div", { class: "facts" });
  const troubles = h("div", { class: "troubles", role: "region", "aria-label": "Troubles" });
  const sources = h("ul", { class: "chips" });
  const connected = table("Clients that are connected", ["Client", "Principal", "Transport", "Since"]);
  const runs = table("Calls under way", ["Target", "Principal", "Transport", "For"]);

  const status = (now) => {
    facts.replaceChildren(factsOf(now));
    renew(
      troubles,
      Object.entries(now.troubles),
      ([part]) => part,
      ([part, text]) => h("p", { class: "fault whole" }, `${part}: ${text}`),
    );
    renew(sources, sourcesOf(now), ({ name }) => name, sourceChip);
  };
  const load = async () => {
    const [clients, calls] = await Promise.all([items("/connections"), items("/runs")]);
    renew(
      connected.body,
      clients,
      ({ id }) => String(id),
      (one) => connected.row(clientName(one), one.principal, one.transport, when(one.since_ms)),
      "No client is connected.",
    );
    renew(
      runs.body,
      calls,
      (one) => `${one.connection} ${one.target} ${one.elapsed_ms}`,
      (one) => runs.row(h("code", {}, one.target), one.principal, one.transport, span(one.elapsed_ms)),
      "No call is under way.",
    );
  };

  fill(
    root,
    troubles,
    facts,
    graphs.element,
    section("Sources", sources),
    section("Connected", connected.element),
    section("Under way", runs.element),
  );
  const metrics = await get("/metrics");
  graphs.start(metrics);
  if (at.status) status(at.status);
  await load();
  return { status: (now) => (status(now), load()), metrics: graphs.add, stop: () => {} };
}

const clientName = (one) =>
  [one.client ?? "unnamed", one.client_version, one.process && `(process ${one.process})`].filter(Boolean).join(" ");

function factsOf(now) {
  const waiting = h("a", { href: "#/approvals" }, plural(now.approvals, "call"));
  const scripts = now.scripts && h("a", { href: "#/approvals" }, plural(now.scripts, "script"));
  return pairs([
    ["Version", now.version],
    ["Listens at", now.address],
    ["Up for", span(Date.now() - now.started_ms)],
    ["Store", now.store],
    ["Connected", plural(now.connections, "client")],
    ["Under way", plural(now.runs, "call")],
    ["Wait for a person", [waiting, scripts && [", ", scripts]]],
  ]);
}

function sourcesOf(now) {
  const names = new Set([...now.sources, ...Object.keys(now.upstreams)]);
  return [...names].map((name) => ({ name, state: now.upstreams[name] }));
}

function sourceChip(one) {
  if (!one.state) return h("li", {}, one.name, h("span", { class: "role" }, " pack"));
  return h("li", {}, h("a", { href: link("servers", one.name) }, one.name), " ", state(one.state));
}

function drawing() {
  let samples = [];
  let totals = { step_seconds: 5, calls: 0, failed: 0, limited: 0 };
  let chosen = "10 minutes";
  let aligned = false;
  const calls = graph("Calls");
  const failed = graph("Errors");
  const latency = graph("Latency");
  const limited = graph("Rate-limit hits");
  const since = h("p", { class: "hint" });
  const choice = h(
    "select",
    { "aria-label": "Time shown", onchange: () => ((chosen = choice.value), draw()) },
    Object.keys(SPANS).map((name) => h("option", {}, name)),
  );
  const all = h(
    "div",
    { class: "graphs" },
    [calls, failed, latency, limited].map((one) => one.element),
  );
  const element = h("section", {}, h("div", { class: "row between" }, h("h2", {}, "Traffic"), choice), all, since);

  const draw = () => {
    const each = SPANS[chosen];
    const of = (pick, join) => columns(samples, each, pick, join);
    const bars = (target, key, tone) => {
      const data = of((one) => one[key], sum);
      target.draw(
        [{ name: key, data, kind: "bars", tone }],
        count(sum(data.map((one) => one.value ?? 0))),
        chosen,
        `in ${totals.step_seconds * each} s`,
      );
    };
    bars(calls, "calls", "calm");
    bars(failed, "failed", "bad");
    bars(limited, "limited", "busy");
    const half = of((one) => one.p50_ms, most);
    const slow = of((one) => one.p95_ms, most);
    const last = [half, slow].map((data) => data.findLast((one) => one.value !== undefined)?.value);
    const now = last[0] === undefined ? "no calls" : `p50 ≤ ${ofMs(last[0])}, p95 ≤ ${ofMs(last[1])}`;
    latency.draw(
      [
        { name: "p95", data: slow, kind: "line", tone: "busy dashed" },
        { name: "p50", data: half, kind: "line", tone: "calm" },
      ],
      now,
      chosen,
      "ms",
    );
    since.textContent = `Since the start: ${plural(totals.calls, "call")}, ${count(totals.failed)} failed, ${count(totals.limited)} refused by a limit.`;
  };
  const start = (metrics) => {
    const { items: first, ...rest } = metrics;
    samples = first;
    totals = rest;
    draw();
  };
  const add = async (sample) => {
    if (samples.at(-1)?.at_ms >= sample.at_ms) return;
    // What came between the step before and the first look would count twice: once more, at the end of a step.
    if (!aligned) {
      aligned = true;
      return start(await get("/metrics"));
    }
    samples = [...samples, sample].slice(-KEPT);
    for (const key of ["calls", "failed", "limited"]) totals[key] += sample[key];
    draw();
  };
  return { element, start, add };
}
