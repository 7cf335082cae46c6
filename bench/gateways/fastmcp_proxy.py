"""FastMCP as a proxy, as its documentation shows: fastmcp_proxy.py PORT (URL | COMMAND [ARGUMENT...])."""

import sys

from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.server import create_proxy

port, target, *arguments = sys.argv[1:]
if target.startswith("http"):
    transport = StreamableHttpTransport(target)
else:
    transport = StdioTransport(command=target, args=arguments)
create_proxy(transport, name="proxy").run(
    transport="http", host="127.0.0.1", port=int(port), path="/mcp", log_level="error", show_banner=False
)
