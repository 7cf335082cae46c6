// An MCP server on standard input whose one tool is described as a file says, and that tells when the file changes.
import { readFileSync, watchFile } from "node:fs";
import { createInterface } from "node:readline";

const file = process.argv[2];
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "changing", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({
    tools: [{ name: "greet", description: readFileSync(file, "utf8"), inputSchema: { type: "object" } }],
  }),
  "tools/call": () => ({ content: [{ type: "text", text: "hello" }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  say(answer ? { id, result: answer(params) } : { id, error: { code: -32601, message: "unknown method" } });
});
watchFile(file, { interval: 50 }, () => say({ method: "notifications/tools/list_changed" }));
