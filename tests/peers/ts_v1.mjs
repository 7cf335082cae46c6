// The TypeScript SDK v1 (`@modelcontextprotocol/sdk`) as a client of Toolgate. It knows the legacy era only.
//
//   node ts_v1.mjs http URL | sse URL | stdio COMMAND ARGS…

import { inbox, parseArguments, peerRequire, run, steps } from './peer.mjs';

const { Client } = peerRequire('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = peerRequire('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { SSEClientTransport } = peerRequire('@modelcontextprotocol/sdk/client/sse.js');
const { StdioClientTransport } = peerRequire('@modelcontextprotocol/sdk/client/stdio.js');
const types = peerRequire('@modelcontextprotocol/sdk/types.js');

const { transport, target, args } = parseArguments(['legacy']);

const client = new Client(
  { name: 'toolgate-ts-v1', version: '1.0.0' },
  { capabilities: { elicitation: {}, sampling: {}, roots: { listChanged: true } } },
);

let protocol;
const connection = {
  http: () => new StreamableHTTPClientTransport(new URL(target)),
  sse: () => new SSEClientTransport(new URL(target)),
  stdio: () => new StdioClientTransport({ command: target, args, env: process.env, stderr: 'inherit' }),
}[transport]();
// The client tells its transport the version that was agreed on, and nobody else.
const tell = connection.setProtocolVersion?.bind(connection);
connection.setProtocolVersion = (version) => {
  protocol = version;
  tell?.(version);
};

const peer = {
  era: 'legacy',
  transport,
  client,
  tasks: client.experimental.tasks,
  toolResult: types.CallToolResultSchema,
  connect: () => client.connect(connection),
  async close() {
    await connection.terminateSession?.();
    await client.close();
  },
  version: () => protocol,
  call: (name, args, { _meta, ...options } = {}) => client.callTool({ name, ...(args && { arguments: args }), ...(_meta && { _meta }) }, undefined, options),
  logs: inbox(),
  changes: inbox(),
  questions: inbox(),
  sampled: inbox(),
  roots: inbox(),
  answer: { action: 'decline' },
  listen: async () => async () => {},
};

client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => peer.logs.push(params));
client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => peer.changes.push(true));
client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => {
  peer.questions.push(params);
  return peer.answer;
});
client.setRequestHandler(types.CreateMessageRequestSchema, ({ params }) => {
  peer.sampled.push(params);
  return { role: 'assistant', model: 'test-model', stopReason: 'endTurn', content: { type: 'text', text: 'Paris, of course' } };
});
client.setRequestHandler(types.ListRootsRequestSchema, () => {
  peer.roots.push(true);
  return { roots: [{ uri: 'file:///test/root', name: 'Test Root' }] };
});

await run(`ts-v1 ${transport}`, steps(peer));
