// What the two TypeScript client scripts share: finding the installed packages, reading the command line, and the checks.
//
// The scripts connect a real SDK client to a Toolgate that serves its fixtures (`toolgate serve --fixtures`), and say on the
// first wrong answer what was expected. They know the SDKs; the checks below know only the small `peer` that a script hands over.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';

export const LEGACY = '2025-11-25';
export const MODERN = '2026-07-28';

const STEP_LIMIT_MS = 20_000;
// A cancelled call must come back long before the fixture's 30 s are over.
const PROMPT_MS = 3_000;

const here = dirname(fileURLToPath(import.meta.url));
const peersDir = resolve(process.env.TOOLGATE_PEERS_DIR || join(here, '../../target/peers'));

/** Loads a package from where `install.sh` put it. */
export const peerRequire = createRequire(join(peersDir, 'package.json'));

/** What was typed: `[--era legacy|auto|modern] http URL | sse URL | stdio COMMAND ARGS…`. */
export function parseArguments(eras) {
  const words = process.argv.slice(2);
  let era = eras[0];
  if (words[0] === '--era') [, era] = words.splice(0, 2);
  const [transport, target, ...args] = words;
  if (!eras.includes(era)) usage(eras, `unknown era \`${era}\``);
  if (!['http', 'sse', 'stdio'].includes(transport)) usage(eras, `unknown transport \`${transport ?? ''}\``);
  if (!target) usage(eras, `\`${transport}\` needs a ${transport === 'stdio' ? 'command' : 'URL'}`);
  if (transport === 'sse' && era === 'modern') usage(eras, 'the SSE transport has no modern era');
  return { era, transport, target, args };
}

function usage(eras, problem) {
  const choice = eras.length > 1 ? `[--era ${eras.join('|')}] ` : '';
  console.error(`${problem}\nusage: ${process.argv[1]} ${choice}http URL | sse URL | stdio COMMAND ARGS…`);
  process.exit(2);
}

/** Runs the steps in order; prints one line a step; the first failure ends the process with status 1. */
export async function run(label, steps) {
  let passed = 0;
  for (const [name, step] of steps) {
    try {
      const note = await within(STEP_LIMIT_MS, `step \`${name}\``, step());
      passed += 1;
      console.log(`ok   ${label}: ${name}${note ? ` (${note})` : ''}`);
    } catch (error) {
      console.log(`FAIL ${label}: ${name}: ${inspect(error)}`);
      console.log(`${passed} passed, 1 failed`);
      process.exit(1);
    }
  }
  console.log(`${passed} passed, 0 failed`);
  // A transport that keeps a socket or a child open must not turn success into a hang.
  process.exit(0);
}

function within(limit, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not finish within ${limit} ms`)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** A counter that can be awaited: how often something arrived, and with what. */
export function inbox() {
  const seen = [];
  let wake = () => {};
  return {
    seen,
    push(item) {
      seen.push(item);
      wake();
    },
    clear: () => seen.splice(0),
    async atLeast(count, limit = 5_000) {
      const arrived = (async () => {
        while (seen.length < count) await new Promise((resolve) => (wake = resolve));
      })();
      await within(limit, `waiting for ${count} message(s)`, arrived);
      return seen;
    },
  };
}

/** The error that `promise` is rejected with. */
async function rejection(promise) {
  let value;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`expected a rejection, got ${JSON.stringify(value)}`);
}

const textOf = (result) => result.content.map((item) => item.text ?? '').join('\n');

/**
 * The steps that every client takes.
 *
 * `peer` is `{ era, transport, client, connect, close, version, call, listen, answer, logs, changes, questions, sampled, roots }`;
 * see the scripts for how each SDK provides them. `era` is the one that must have been negotiated, the last five are inboxes.
 */
export function steps(peer) {
  const modern = peer.era === 'modern';
  const all = [
    ['handshake', () => handshake(peer)],
    ['list tools', () => listTools(peer)],
    ['call a tool', () => callTool(peer)],
    ['a failing tool answers isError', () => failingTool(peer)],
    ['an unknown tool is error -32602', () => unknownTool(peer)],
    ['progress', () => progress(peer)],
    ['cancel', () => cancel(peer)],
    ['list and read a resource', () => resources(peer)],
    ['read a resource by template', () => template(peer)],
    ['an unknown resource is an error', () => unknownResource(peer)],
    ['get a prompt', () => prompt(peer)],
    ['completion', () => completion(peer)],
    ['logging', () => (modern ? modernLogging(peer) : legacyLogging(peer))],
    ['elicitation', () => (modern ? modernElicitation(peer) : legacyElicitation(peer))],
    ['sampling', () => (modern ? modernSampling(peer) : legacySampling(peer))],
    ['roots', () => roots(peer)],
    ['tools/list_changed', () => listChanged(peer)],
  ];
  if (modern && peer.transport === 'http') all.push(['arguments mirrored into headers', () => mirroredHeader(peer)]);
  if (peer.tasks) {
    all.push(['a task', () => task(peer)]);
    all.push(['a task that asks', () => askingTask(peer)]);
    all.push(['tasks are listed, and cancelled', () => cancelledTask(peer)]);
  }
  all.push(['close', () => peer.close()]);
  return all;
}

/** Calls a tool as a task; what came, in order, and the task. */
async function asTask(peer, name, args) {
  const came = [];
  for await (const message of peer.tasks.callToolStream({ name, arguments: args }, undefined, { task: { ttl: 60_000 } })) {
    came.push(message);
  }
  const task = came.find(({ type }) => type === 'taskCreated')?.task;
  assert.ok(task, `no task: ${JSON.stringify(came)}`);
  return { came, task, last: came.at(-1) };
}

async function task(peer) {
  const { task, last } = await asTask(peer, 'slow_compute', { seconds: 0.1, label: 'work' });
  assert.equal(last.type, 'result', JSON.stringify(last));
  assert.equal(textOf(last.result), 'work: done after 0.1 s');
  assert.equal(task.ttl, 60_000);
  assert.equal((await peer.tasks.getTask(task.taskId)).status, 'completed');
  const again = await peer.tasks.getTaskResult(task.taskId, peer.toolResult);
  assert.equal(again._meta['io.modelcontextprotocol/related-task'].taskId, task.taskId);
}

async function askingTask(peer) {
  peer.questions.clear();
  peer.answer = { action: 'accept', content: { confirm: true } };
  const { task, last } = await asTask(peer, 'confirm_delete', { filename: 'a.txt' });
  assert.equal(last.type, 'result', JSON.stringify(last));
  assert.equal(textOf(last.result), 'Deleted a.txt');
  assert.equal(peer.questions.seen[0]._meta['io.modelcontextprotocol/related-task'].taskId, task.taskId);
}

async function cancelledTask(peer) {
  const stream = peer.tasks.callToolStream({ name: 'slow_compute', arguments: { seconds: 600 } }, undefined, { task: {} });
  const { value } = await stream.next();
  assert.equal(value.type, 'taskCreated');
  const { taskId } = value.task;
  const { tasks } = await peer.tasks.listTasks();
  assert.ok(tasks.some((task) => task.taskId === taskId && task.status === 'working'));
  assert.equal((await peer.tasks.cancelTask(taskId)).status, 'cancelled');
  const rest = [];
  for await (const message of stream) rest.push(message);
  assert.equal(rest.at(-1)?.type, 'error', JSON.stringify(rest));
}

async function handshake(peer) {
  await peer.connect();
  const server = peer.client.getServerVersion();
  assert.equal(server?.name, 'toolgate', 'the server must say its name');
  assert.ok(server.version, 'the server must say its version');
  const version = peer.version();
  assert.equal(version, peer.era === 'modern' ? MODERN : LEGACY);
  return `${server.name} ${server.version}, protocol ${version}`;
}

async function listTools(peer) {
  const { tools } = await peer.client.listTools();
  const names = tools.map((tool) => tool.name);
  assert.ok(names.includes('test_simple_text'), `no test_simple_text in ${names}`);
  assert.equal(new Set(names).size, names.length, 'tool names must be unique');
  for (const tool of tools) assert.equal(tool.inputSchema.type, 'object', `${tool.name}: inputSchema must be an object schema`);
  return `${tools.length} tools`;
}

async function callTool(peer) {
  const result = await peer.call('test_simple_text');
  assert.ok(!result.isError);
  assert.deepEqual(
    result.content.map(({ type, text }) => ({ type, text })),
    [{ type: 'text', text: 'This is a simple text response for testing.' }],
  );
}

async function failingTool(peer) {
  const result = await peer.call('test_error_handling');
  assert.equal(result.isError, true);
  assert.ok(textOf(result), 'the error must say something');
}

async function unknownTool(peer) {
  const error = await rejection(peer.call('test_no_such_tool'));
  assert.equal(error.code, -32602, `got ${error.code}: ${error.message}`);
}

async function progress(peer) {
  const ticks = [];
  const result = await peer.call('test_tool_with_progress', {}, { onprogress: ({ progress, total }) => ticks.push([progress, total]) });
  assert.ok(!result.isError);
  assert.deepEqual(ticks, [[0, 100], [50, 100], [100, 100]]);
}

async function cancel(peer) {
  const stop = new AbortController();
  let stoppedAt;
  const onprogress = () => {
    stoppedAt ??= performance.now();
    stop.abort('the test gives up');
  };
  await rejection(peer.call('test_slow', { seconds: 30 }, { onprogress, signal: stop.signal }));
  assert.ok(stoppedAt !== undefined, 'the call ended before its first sign of progress');
  const rejected = performance.now() - stoppedAt;
  assert.ok(rejected < PROMPT_MS, `the cancelled call came back after ${rejected} ms`);
  const before = performance.now();
  await callTool(peer);
  if (peer.era === 'legacy') await peer.client.ping();
  const next = performance.now() - before;
  assert.ok(next < PROMPT_MS, `the next call took ${next} ms`);
}

async function resources(peer) {
  const { resources } = await peer.client.listResources();
  assert.ok(resources.some(({ uri }) => uri === 'test://static-text'));
  const { contents } = await peer.client.readResource({ uri: 'test://static-text' });
  assert.equal(contents[0].uri, 'test://static-text');
  assert.equal(contents[0].text, 'This is the content of the static text resource.');
}

async function template(peer) {
  const { resourceTemplates } = await peer.client.listResourceTemplates();
  assert.ok(resourceTemplates.some(({ uriTemplate }) => uriTemplate === 'test://template/{id}/data'));
  const { contents } = await peer.client.readResource({ uri: 'test://template/123/data' });
  assert.equal(contents[0].uri, 'test://template/123/data');
  assert.equal(JSON.parse(contents[0].text).id, '123');
}

async function unknownResource(peer) {
  const error = await rejection(peer.client.readResource({ uri: 'test://no-such-resource' }));
  // -32002 was the legacy revisions' own code; clients of that era take both.
  const allowed = peer.era === 'modern' ? [-32602] : [-32602, -32002];
  assert.ok(allowed.includes(error.code), `got ${error.code}: ${error.message}`);
}

async function prompt(peer) {
  const { messages } = await peer.client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'hello', arg2: 'world' } });
  assert.equal(messages[0].role, 'user');
  assert.equal(messages[0].content.text, "Prompt with arguments: arg1='hello', arg2='world'");
}

async function completion(peer) {
  const { completion } = await peer.client.complete({
    ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
    argument: { name: 'arg1', value: 'te' },
  });
  assert.ok(Array.isArray(completion.values));
}

const LOG_LINES = ['Tool execution started', 'Tool processing data', 'Tool execution completed'];

async function legacyLogging(peer) {
  await peer.client.setLoggingLevel('debug');
  peer.logs.clear();
  await peer.call('test_tool_with_logging');
  const messages = await peer.logs.atLeast(3);
  assert.deepEqual(messages.map(({ data }) => data), LOG_LINES);
}

async function modernLogging(peer) {
  peer.logs.clear();
  await peer.call('test_tool_with_logging');
  assert.equal(peer.logs.seen.length, 0, 'a request that names no level must get no log messages');
  await peer.call('test_tool_with_logging', {}, { _meta: { 'io.modelcontextprotocol/logLevel': 'info' } });
  const messages = await peer.logs.atLeast(3);
  assert.deepEqual(messages.map(({ data }) => data), LOG_LINES);
}

async function legacyElicitation(peer) {
  peer.questions.clear();
  peer.answer = { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } };
  const result = await peer.call('test_elicitation', { message: 'Who are you?' });
  assert.equal(peer.questions.seen.length, 1, 'the client must have been asked once');
  assert.equal(peer.questions.seen[0].message, 'Who are you?');
  assert.deepEqual(Object.keys(peer.questions.seen[0].requestedSchema.properties), ['username', 'email']);
  assert.ok(!result.isError, textOf(result));
  assert.match(textOf(result), /accept/);
  assert.match(textOf(result), /ada@example\.com/);
}

async function modernElicitation(peer) {
  peer.questions.clear();
  peer.answer = { action: 'accept', content: { name: 'Alice' } };
  const result = await peer.call('test_input_required_result_elicitation');
  assert.equal(peer.questions.seen.length, 1, 'the client must have been asked once');
  assert.equal(peer.questions.seen[0].message, 'What is your name?');
  assert.equal(textOf(result), 'Hello, Alice!');
}

async function legacySampling(peer) {
  peer.sampled.clear();
  const result = await peer.call('test_sampling', { prompt: 'Say something' });
  assert.equal(peer.sampled.seen.length, 1, 'the client must have been asked once');
  assert.equal(peer.sampled.seen[0].messages[0].content.text, 'Say something');
  assert.equal(textOf(result), 'LLM response: Paris, of course');
}

async function modernSampling(peer) {
  peer.sampled.clear();
  const result = await peer.call('test_input_required_result_sampling');
  assert.equal(peer.sampled.seen.length, 1, 'the client must have been asked once');
  assert.match(textOf(result), /Paris, of course/);
}

async function roots(peer) {
  peer.roots.clear();
  const result = await peer.call('test_input_required_result_list_roots');
  assert.equal(peer.roots.seen.length, 1, 'the client must have been asked once');
  assert.ok(!result.isError, textOf(result));
  assert.ok(textOf(result));
}

async function listChanged(peer) {
  const stop = await peer.listen();
  for (const round of [1, 2]) {
    peer.changes.clear();
    await peer.call('test_trigger_tool_change');
    await peer.changes.atLeast(1).catch((error) => {
      throw new Error(`round ${round}: ${error.message}`);
    });
  }
  await stop();
  await callTool(peer);
}

async function mirroredHeader(peer) {
  const { tools } = await peer.client.listTools();
  const annotated = tools.flatMap((tool) =>
    Object.entries(tool.inputSchema.properties ?? {})
      .filter(([, schema]) => schema['x-mcp-header'] && schema.type === 'string')
      .map(([name]) => [tool.name, name]),
  );
  assert.ok(annotated.length > 0, 'no fixture tool has an `x-mcp-header` string argument');
  const [tool, argument] = annotated[0];
  // Plain, and one that only fits into a header as base64.
  for (const value of ['north', ' Grüße ']) {
    const result = await peer.call(tool, { [argument]: value });
    assert.ok(!result.isError, textOf(result));
  }
  return `${tool}.${argument}`;
}
