"""An echo tool on the Python SDK, written as its documentation shows: `python_echo.py stdio|http`."""

import socket
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer

server = MCPServer("python-echo", log_level="ERROR")


@server.tool(structured_output=False)
def test_echo(message: str) -> str:
    """Answer with the message it was given."""
    return message


def http() -> None:
    app = server.streamable_http_app(stateless_http=True, json_response=True)
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    config = uvicorn.Config(app, log_level="error", access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


match sys.argv[1:]:
    case ["stdio"]:
        server.run("stdio")
    case ["http"]:
        http()
    case _:
        sys.exit("usage: python_echo.py stdio|http")
