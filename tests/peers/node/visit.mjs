// What every client does on its visit, and what it tells of it.
export async function visit(client, version) {
  const { tools } = await client.listTools();
  const echoed = await client.callTool({ name: 'echo', arguments: { message: 'good day' } });
  const read = await client.readResource({ uri: 'test://static-text' });
  return {
    version,
    server: client.getServerVersion()?.name,
    tools: tools.map((tool) => tool.name),
    echo: echoed.content[0].text,
    resource: read.contents[0].text,
  };
}
