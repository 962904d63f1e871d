"""A server made with the official Python SDK: the transport in $MCP_TRANSPORT, on the port in $MCP_PORT."""

import os

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

server = MCPServer("python")


@server.tool()
def echo(message: str) -> str:
    """Says what you said"""
    return message


@server.tool()
def whoami() -> str:
    """Says which pod this is"""
    return os.environ.get("HOSTNAME", "")


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text that never changes"""
    return "This is the content of the static text resource."


server.run(
    transport=os.environ.get("MCP_TRANSPORT", "streamable-http"),
    host="0.0.0.0",
    port=int(os.environ.get("MCP_PORT", "8080")),
    # Which names lead here is for the network to decide; a check of `Host` is for servers on a desktop.
    transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
)
