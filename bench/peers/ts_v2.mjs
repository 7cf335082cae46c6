// An echo tool on the TypeScript SDK v2, written as its documentation shows. It answers both eras.
import { createServer } from 'node:http';

import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';

function echoServer() {
  const server = new McpServer({ name: 'ts-v2-echo', version: '1.0.0' });
  const spec = { description: 'Answer with the message it was given.', inputSchema: z.object({ message: z.string() }) };
  server.registerTool('test_echo', spec, async ({ message }) => ({ content: [{ type: 'text', text: message }] }));
  return server;
}

const handle = toNodeHandler(createMcpHandler(echoServer, { responseMode: 'json' }));
const validHost = localhostHostValidation();
const validOrigin = localhostOriginValidation();

const server = createServer((request, response) => {
  if (validHost(request, response) && validOrigin(request, response)) handle(request, response);
});
server.listen(0, '127.0.0.1', () => {
  console.error(`listening on http://127.0.0.1:${server.address().port}/mcp`);
});
