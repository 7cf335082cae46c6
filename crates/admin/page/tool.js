// One tool: what it says, what the policy makes of it, and a form to try it.

import { get, path, post, query } from "./api.js";
import { hints } from "./catalog.js";
import { button, fill, h, pairs, section, table, ticked } from "./dom.js";
import { telling } from "./form.js";
import { schemaForm } from "./schema.js";
import { state, took } from "./words.js";

export async function tool(root, at, name) {
  const { tool: one, definition, policy } = await get(path`/tools/${name}` + query({ principal: at.query.principal }));
  const facts = pairs([
    ["Title", one.title],
    ["Source", one.source],
    ["Says of itself", hints(one).join(", ") || "nothing"],
    ["Definition", `${one.bytes.toLocaleString()} bytes`],
    ["Policy", [state(one.gives), ` by rule ${one.rule}`, !one.listed && " (not listed)"]],
  ]);
  fill(
    root,
    h("p", {}, h("a", { href: "#/catalog" }, "← all tools")),
    h("p", { class: "prose" }, ticked(one.description)),
    facts,
    at.may("admin") && section("Try it", trying(name, definition)),
    section("Policy", rules(policy)),
    section(
      "Definition",
      h("pre", { class: "code", tabindex: 0, role: "region", "aria-label": "Definition" }, JSON.stringify(definition, null, 2)),
    ),
  );
  return {};
}

function rules(policy) {
  const tried = table("Rules that were tried", ["Rule", "Decides", "Matches", "Why"]);
  const rows = policy.tried.map((step) =>
    tried.row(h("code", {}, step.rule), state(step.then), step.matches ? "yes" : "no", step.why),
  );
  tried.body.append(...rows);
  const says = `${policy.principal} calls it: ${policy.gives}, by ${policy.rule}${policy.reason ? `: ${policy.reason}` : ""}.`;
  return [h("p", {}, says), rows.length > 0 && tried.element];
}

function trying(name, definition) {
  const result = h("div", { class: "result", role: "status" });
  let abort;
  const stop = button("Stop waiting", () => abort?.abort(), { hidden: true });
  const send = async (given) => {
    abort = new AbortController();
    stop.hidden = false;
    result.replaceChildren(
      h(
        "p",
        { class: "hint" },
        "Calling. If the policy wants a person, it waits in ",
        h("a", { href: "#/approvals", target: "_blank" }, "Approvals (new tab)"),
        ".",
      ),
    );
    try {
      result.replaceChildren(...outcome(await post(path`/tools/${name}/call`, { arguments: given }, { signal: abort.signal })));
    } catch (problem) {
      result.replaceChildren(
        h("div", { class: "fault whole" }, problem.name === "AbortError" ? "Stopped: the call ended with it." : telling(problem)),
      );
    } finally {
      stop.hidden = true;
    }
  };
  return [schemaForm(`Call ${name}`, definition.inputSchema ?? {}, send, stop), result];
}

function outcome(tried) {
  const good = tried.outcome === "complete" && !tried.result?.isError;
  const head = h(
    "p",
    {},
    state(good ? "complete" : "failed", good ? "complete" : tried.result?.isError ? "the tool failed" : tried.outcome),
    ` in ${took(tried.took_ms * 1000)}`,
  );
  if (tried.error)
    return [
      head,
      h(
        "div",
        { class: "fault whole" },
        h("p", {}, ticked(tried.error)),
        tried.hint && h("p", { class: "hint" }, ticked(tried.hint)),
      ),
    ];
  const content = (tried.result?.content ?? []).map(shownContent);
  const data = tried.result?.structuredContent;
  return [
    head,
    ...content,
    ...(data
      ? [h("details", {}, h("summary", {}, "Structured content"), code(JSON.stringify(data, null, 2), "Structured content"))]
      : []),
  ];
}

const code = (text, label) => h("pre", { class: "code", tabindex: 0, role: "region", "aria-label": label }, text);

function shownContent(item) {
  if (item.type === "text") return code(item.text, "Text of the result");
  if (item.type === "image" && /^image\/(png|jpeg|gif|webp)$/.test(item.mimeType))
    return h("img", { src: `data:${item.mimeType};base64,${item.data}`, alt: "Image of the result" });
  return code(JSON.stringify(item, null, 2), item.type);
}
