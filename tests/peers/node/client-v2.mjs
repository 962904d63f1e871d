// The official TypeScript client, second major version: client-v2.mjs <url> <protocol version>
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { visit } from './visit.mjs';

const [url, version] = process.argv.slice(2);
const mode = version === '2026-07-28' ? { pin: version } : 'legacy';
const client = new Client({ name: 'client-v2', version: '1.0.0' }, { versionNegotiation: { mode } });
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
const visited = await visit(client, client.getNegotiatedProtocolVersion());
await transport.terminateSession?.();
await client.close();
console.log(JSON.stringify(visited));
