// The official TypeScript client, first major version: client-v1.mjs <url> [sse]
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { visit } from './visit.mjs';

const [url, kind] = process.argv.slice(2);
const Transport = kind === 'sse' ? SSEClientTransport : StreamableHTTPClientTransport;
const transport = new Transport(new URL(url));
let version;
// This client tells the version that was agreed on to the transport, and to nobody else.
const tell = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (agreed) => {
  version = agreed;
  tell?.(agreed);
};
const client = new Client({ name: 'client-v1', version: '1.0.0' });
await client.connect(transport);
const visited = await visit(client, version);
// A session that is not ended stays with the server.
await transport.terminateSession?.();
await client.close();
console.log(JSON.stringify(visited));
