// An MCP server on standard input and output that answers in exactly the bytes of a script, and keeps what it was sent.
// A line of the script: a method, perhaps with the name it is for; then `result`, `error` or `notify`; then the bytes.
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [script, seen] = process.argv.slice(2);
const lines = readFileSync(script, "utf8").split("\n").filter(Boolean).map((line) => line.split("\t"));

createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync(seen, line + "\n");
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const name = params?.name ?? params?.uri ?? params?.ref?.name;
  const of = (key) => lines.filter(([wanted]) => wanted === key);
  const answers = of(`${method} ${name}`).length ? of(`${method} ${name}`) : of(method);
  if (!answers.length) answers.push([method, "error", '{"code":-32601,"message":"unknown method"}']);
  for (const [, kind, bytes] of answers) {
    const token = JSON.stringify(params?._meta?.progressToken ?? null);
    const text = bytes.replaceAll("$TOKEN", token);
    const frame = kind === "notify" ? text : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"${kind}":${text}}`;
    process.stdout.write(frame + "\n");
  }
});
