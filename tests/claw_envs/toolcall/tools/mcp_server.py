"""An MCP server for tests, made with the official package.

    python mcp_server.py stdio | stdio-2025 | http | sse

The second knows only the protocol before 2026; the last two listen on a port that they print.
"""

import asyncio
import base64
import os
import signal
import socket
import sys
from typing import Any

import mcp.types as types
import uvicorn
from mcp import MCPError
from mcp.server import Server
from mcp.server.runner import serve_loop
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

PICTURE = base64.b64encode(b"12345").decode()
seen = {"cancelled": asyncio.Event(), "hanging": asyncio.Event()}
counted = 0


def tool(name: str, description: str = "", /, **properties: str) -> types.Tool:
    """A tool whose arguments are all required; the values are JSON types."""
    schema = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": list(properties),
    }
    return types.Tool(name=name, description=description, input_schema=schema)


PAGES = {
    "": [tool("add", "Add two integers.", a="integer", b="integer"), tool("structured"), tool("mixed"), tool("fail")],
    "2": [tool("refuse"), tool("broken"), tool("hang"), tool("saw", event="string"), tool("crash"), tool("count")],
    "3": [tool("environment", name="string"), tool("pid"), tool("directory"), tool("grow"), tool("promised")],
}
PAGES["3"][-1].output_schema = {"type": "object", "required": ["loaves"]}


def text(*texts: str, error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=each) for each in texts], is_error=error)


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    page = (params.cursor if params else None) or ""
    following = {"": "2", "2": "3"}.get(page)
    return types.ListToolsResult(tools=PAGES[page], next_cursor=following)


async def call_tool(context: Any, params: Any) -> types.CallToolResult:
    global counted
    arguments = params.arguments or {}
    match params.name:
        case "add":
            return text(str(arguments["a"] + arguments["b"]))
        case "structured":
            return types.CallToolResult(content=[], structured_content={"city": "Rome", "high": 31})
        case "mixed":
            return types.CallToolResult(
                content=[
                    types.TextContent(type="text", text="a picture:"),
                    types.ImageContent(type="image", data=PICTURE, mime_type="image/png"),
                    types.ResourceLink(type="resource_link", name="notes", uri="file:///notes.txt"),
                    types.EmbeddedResource(
                        type="resource", resource=types.TextResourceContents(uri="file:///a.txt", text="inside")
                    ),
                ]
            )
        case "fail":
            return text("the oven is cold", error=True)
        case "refuse":
            raise MCPError(types.INVALID_PARAMS, "no such city")
        case "broken":
            raise MCPError(types.INTERNAL_ERROR, "the server is confused")
        case "hang":
            seen["hanging"].set()
            try:
                await asyncio.Event().wait()
            finally:
                seen["cancelled"].set()
        case "saw":
            await seen[arguments["event"]].wait()
            return text("yes")
        case "crash":
            print("out of flour", file=sys.stderr, flush=True)
            os._exit(3)
        case "count":
            counted += 1
            return text(str(counted))
        case "environment":
            return text(os.environ.get(arguments["name"], "unset"))
        case "directory":
            return text(os.getcwd())
        case "pid":
            return text(str(os.getpid()))
        case "grow":
            PAGES["3"].append(tool("grown"))
            return text("done")
        case "grown":
            return text("yes")
        case "promised":
            return types.CallToolResult(content=[], structured_content={"loaves of": "nothing"})
    raise MCPError(types.INVALID_PARAMS, f"no tool {params.name}")


server = Server("bakery", on_list_tools=list_tools, on_call_tool=call_tool)


async def over_stdio() -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
    if "STAYS" in os.environ:
        signal.pause()


async def over_stdio_2025() -> None:
    async with stdio_server() as (reading, writing), server.lifespan(server) as state:
        await serve_loop(server, reading, writing, lifespan_state=state)


def sse_app() -> Starlette:
    transport = SseServerTransport("/messages/")

    async def connected(request: Request) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        return Response()

    return Starlette(routes=[Route("/sse", connected), Mount("/messages/", app=transport.handle_post_message)])


async def over_http(app: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listening])


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["stdio"]:
            asyncio.run(over_stdio())
        case ["stdio-2025"]:
            asyncio.run(over_stdio_2025())
        case ["http"]:
            asyncio.run(over_http(server.streamable_http_app()))
        case ["sse"]:
            asyncio.run(over_http(sse_app()))
