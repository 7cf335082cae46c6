// An echo tool on the TypeScript SDK v1, written as its documentation shows: `node ts_v1.mjs stdio|stateless|session`.
import { randomUUID } from 'node:crypto';

import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

function echoServer() {
  const server = new McpServer({ name: 'ts-v1-echo', version: '1.0.0' });
  const spec = { description: 'Answer with the message it was given.', inputSchema: { message: z.string() } };
  server.registerTool('test_echo', spec, async ({ message }) => ({ content: [{ type: 'text', text: message }] }));
  return server;
}

// The SDK binds a transport and a server to one request each.
async function stateless(request, response) {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  const server = echoServer();
  response.on('close', () => {
    transport.close();
    server.close();
  });
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
}

const transports = new Map();

async function session(request, response) {
  let transport = transports.get(request.headers['mcp-session-id']);
  if (!transport) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => transports.set(id, transport),
    });
    await echoServer().connect(transport);
  }
  await transport.handleRequest(request, response, request.body);
}

function listen(handler) {
  const app = createMcpExpressApp();
  app.post('/mcp', handler);
  const server = app.listen(0, '127.0.0.1', () => {
    console.error(`listening on http://127.0.0.1:${server.address().port}/mcp`);
  });
}

switch (process.argv[2]) {
  case 'stdio':
    await echoServer().connect(new StdioServerTransport());
    break;
  case 'stateless':
    listen(stateless);
    break;
  case 'session':
    listen(session);
    break;
  default:
    console.error('usage: ts_v1.mjs stdio|stateless|session');
    process.exitCode = 2;
}
