// The TypeScript SDK v2 (`@modelcontextprotocol/client`) as a client of Toolgate, in either era.
//
//   node ts_v2.mjs [--era auto|legacy|modern] http URL | sse URL | stdio COMMAND ARGS…

import { inbox, MODERN, parseArguments, peerRequire, run, steps } from './peer.mjs';

const { Client, SSEClientTransport, StreamableHTTPClientTransport } = peerRequire('@modelcontextprotocol/client');
const { StdioClientTransport } = peerRequire('@modelcontextprotocol/client/stdio');

const { era, transport, target, args } = parseArguments(['auto', 'legacy', 'modern']);

const mode = { auto: 'auto', legacy: 'legacy', modern: { pin: MODERN } }[transport === 'sse' ? 'legacy' : era];
const client = new Client(
  { name: 'toolgate-ts-v2', version: '1.0.0' },
  { capabilities: { elicitation: {}, sampling: {}, roots: { listChanged: true } }, versionNegotiation: { mode } },
);

const connection = {
  http: () => new StreamableHTTPClientTransport(new URL(target)),
  sse: () => new SSEClientTransport(new URL(target)),
  stdio: () => new StdioClientTransport({ command: target, args, env: process.env, stderr: 'inherit' }),
}[transport]();

const peer = {
  era: mode === 'legacy' ? 'legacy' : 'modern',
  transport,
  client,
  connect: () => client.connect(connection),
  async close() {
    await connection.terminateSession?.();
    await client.close();
  },
  version: () => client.getNegotiatedProtocolVersion(),
  call: (name, args, { _meta, ...options } = {}) => client.callTool({ name, ...(args && { arguments: args }), ...(_meta && { _meta }) }, options),
  logs: inbox(),
  changes: inbox(),
  questions: inbox(),
  sampled: inbox(),
  roots: inbox(),
  answer: { action: 'decline' },
  async listen() {
    if (peer.era === 'legacy') return async () => {};
    const subscription = await client.listen({ toolsListChanged: true });
    if (subscription.honoredFilter.toolsListChanged !== true) throw new Error('the server did not honour toolsListChanged');
    return () => subscription.close();
  },
};

client.setNotificationHandler('notifications/message', ({ params }) => peer.logs.push(params));
client.setNotificationHandler('notifications/tools/list_changed', () => peer.changes.push(true));
client.setRequestHandler('elicitation/create', ({ params }) => {
  peer.questions.push(params);
  return peer.answer;
});
client.setRequestHandler('sampling/createMessage', ({ params }) => {
  peer.sampled.push(params);
  return { role: 'assistant', model: 'test-model', stopReason: 'endTurn', content: { type: 'text', text: 'Paris, of course' } };
});
client.setRequestHandler('roots/list', () => {
  peer.roots.push(true);
  return { roots: [{ uri: 'file:///test/root', name: 'Test Root' }] };
});

await run(`ts-v2 ${era} ${transport}`, steps(peer));
