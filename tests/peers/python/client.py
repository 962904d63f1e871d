"""The official Python client: client.py <url> <protocol version, or sse>"""

import asyncio
import json
import sys

from mcp import Client
from mcp.client.sse import sse_client


async def visit(url: str, version: str) -> dict[str, object]:
    target = sse_client(url) if version == "sse" else url
    mode = "auto" if version == "2026-07-28" else "legacy"
    async with Client(target, mode=mode) as client:
        tools = await client.list_tools()
        echoed = await client.call_tool("echo", {"message": "good day"})
        read = await client.read_resource("test://static-text")
        return {
            "version": client.protocol_version,
            "server": client.server_info and client.server_info.name,
            "tools": [tool.name for tool in tools.tools],
            "echo": echoed.content[0].text,
            "resource": read.contents[0].text,
        }


print(json.dumps(asyncio.run(visit(*sys.argv[1:]))))
