"""The Python SDK (`mcp`) as a client of Toolgate, in either era.

    python_client.py [--era auto|legacy|modern] http URL | sse URL | stdio COMMAND ARGS…

It connects to a Toolgate that serves its fixtures (`toolgate serve --fixtures`), prints one line a step, and ends with status 1
at the first wrong answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters

LEGACY = "2025-11-25"
MODERN = "2026-07-28"
ERAS = ("auto", "legacy", "modern")
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
LOG_LINES = ["Tool execution started", "Tool processing data", "Tool execution completed"]

STEP_LIMIT = 20.0
# A cancelled call must come back long before the fixture's 30 s are over.
PROMPT = 3.0

# The legacy steps call what the current revision has deprecated, on purpose.
warnings.simplefilter("ignore", DeprecationWarning)
warnings.filterwarnings("ignore", message=r".*(deprecated|removed) as of 2026-07-28.*")


class Wrong(Exception):
    """The server answered something else than it should."""


def check(condition: object, message: str) -> None:
    if not condition:
        raise Wrong(message)


def equal(actual: object, expected: object, what: str = "") -> None:
    check(actual == expected, f"{what}: expected {expected!r}, got {actual!r}".removeprefix(": "))


@dataclass
class Inbox:
    """How often something arrived, and with what; can be awaited."""

    seen: list[Any] = field(default_factory=list)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    def push(self, item: Any) -> None:
        self.seen.append(item)
        self._wake.set()

    def clear(self) -> None:
        self.seen.clear()

    async def at_least(self, count: int, limit: float = 5.0) -> list[Any]:
        try:
            with anyio.fail_after(limit):
                while len(self.seen) < count:
                    self._wake.clear()
                    await self._wake.wait()
        except TimeoutError:
            raise Wrong(f"waited {limit} s for {count} message(s), of which {len(self.seen)} came") from None
        return self.seen


@dataclass
class Peer:
    """One connected client, and what the server asked of it."""

    era: str
    pinned: bool
    transport: str
    client: Client = field(init=False)
    logs: Inbox = field(default_factory=Inbox)
    changes: Inbox = field(default_factory=Inbox)
    questions: Inbox = field(default_factory=Inbox)
    sampled: Inbox = field(default_factory=Inbox)
    roots: Inbox = field(default_factory=Inbox)
    answer: types.ElicitResult = field(default_factory=lambda: types.ElicitResult(action="decline"))

    @property
    def modern(self) -> bool:
        return self.era == "modern"

    async def on_log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.logs.push(params.data)

    async def on_message(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.changes.push(message)

    async def on_question(self, _context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.questions.push(params)
        return self.answer

    async def on_sampling(self, _context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        self.sampled.push(params)
        content = types.TextContent(type="text", text="Paris, of course")
        return types.CreateMessageResult(role="assistant", content=content, model="test-model", stop_reason="endTurn")

    async def on_roots(self, _context: Any) -> types.ListRootsResult:
        self.roots.push(True)
        return types.ListRootsResult(roots=[types.Root(uri="file:///test/root", name="Test Root")])


def text_of(result: types.CallToolResult) -> str:
    return "\n".join(getattr(item, "text", "") for item in result.content)


async def rejection(call: Awaitable[Any]) -> MCPError:
    try:
        value = await call
    except MCPError as error:
        return error
    raise Wrong(f"expected an error, got {value!r}")


async def handshake(peer: Peer) -> str:
    info = peer.client.server_info
    if peer.pinned:
        # A pinned version is adopted without asking; ask now, or the server's name stays unknown.
        raw = await peer.client.session.send_discover(MODERN)
        info = types.Implementation.model_validate(raw["_meta"][SERVER_INFO])
    check(info is not None, "the server must identify itself")
    equal(info.name, "toolgate", "server name")
    check(info.version, "the server must say its version")
    version = peer.client.protocol_version
    equal(version, MODERN if peer.modern else LEGACY, "protocol version")
    return f"{info.name} {info.version}, protocol {version}"


async def all_tools(peer: Peer) -> list[types.Tool]:
    tools: list[types.Tool] = []
    cursor: str | None = None
    while True:
        page = await peer.client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return tools


async def list_tools(peer: Peer) -> str:
    tools = await all_tools(peer)
    names = [tool.name for tool in tools]
    check("test_simple_text" in names, f"no test_simple_text in {names}")
    equal(len(set(names)), len(names), "tool names must be unique")
    return f"{len(tools)} tools"


async def call_tool(peer: Peer) -> None:
    result = await peer.client.call_tool("test_simple_text")
    check(not result.is_error, text_of(result))
    equal(len(result.content), 1, "content items")
    equal(text_of(result), "This is a simple text response for testing.")


async def failing_tool(peer: Peer) -> None:
    result = await peer.client.call_tool("test_error_handling", {})
    equal(result.is_error, True, "isError")
    check(text_of(result), "the error must say something")


async def unknown_tool(peer: Peer) -> None:
    error = await rejection(peer.client.call_tool("test_no_such_tool", {}))
    equal(error.code, -32602, "error code")


async def progress(peer: Peer) -> None:
    ticks: list[tuple[float, float | None]] = []

    async def tick(progress: float, total: float | None, _message: str | None) -> None:
        ticks.append((progress, total))

    result = await peer.client.call_tool("test_tool_with_progress", {}, progress_callback=tick)
    check(not result.is_error, text_of(result))
    equal(ticks, [(0, 100), (50, 100), (100, 100)], "progress")


async def cancel(peer: Peer) -> None:
    stopped_at: float | None = None
    with anyio.CancelScope() as scope:

        async def tick(_progress: float, _total: float | None, _message: str | None) -> None:
            nonlocal stopped_at
            if stopped_at is None:
                stopped_at = time.monotonic()
                scope.cancel()

        await peer.client.call_tool("test_slow", {"seconds": 30}, progress_callback=tick)
    check(stopped_at is not None, "the call ended before its first sign of progress")
    rejected = time.monotonic() - stopped_at
    check(rejected < PROMPT, f"the cancelled call came back after {rejected:.1f} s")
    before = time.monotonic()
    await call_tool(peer)
    if not peer.modern:
        await peer.client.send_ping()
    check(time.monotonic() - before < PROMPT, "the next call was slow")


async def resources(peer: Peer) -> None:
    listed = await peer.client.list_resources()
    check(any(str(item.uri) == "test://static-text" for item in listed.resources), "test://static-text is not listed")
    read = await peer.client.read_resource("test://static-text")
    equal(str(read.contents[0].uri), "test://static-text", "uri")
    equal(read.contents[0].text, "This is the content of the static text resource.", "text")


async def template(peer: Peer) -> None:
    listed = await peer.client.list_resource_templates()
    check(any(item.uri_template == "test://template/{id}/data" for item in listed.resource_templates), "the template is not listed")
    read = await peer.client.read_resource("test://template/123/data")
    equal(str(read.contents[0].uri), "test://template/123/data", "uri")
    equal(json.loads(read.contents[0].text)["id"], "123", "id")


async def unknown_resource(peer: Peer) -> None:
    error = await rejection(peer.client.read_resource("test://no-such-resource"))
    # -32002 was the legacy revisions' own code; clients of that era take both.
    check(error.code in ((-32602,) if peer.modern else (-32602, -32002)), f"got {error.code}: {error}")


async def prompt(peer: Peer) -> None:
    result = await peer.client.get_prompt("test_prompt_with_arguments", {"arg1": "hello", "arg2": "world"})
    equal(result.messages[0].role, "user", "role")
    equal(result.messages[0].content.text, "Prompt with arguments: arg1='hello', arg2='world'", "text")


async def completion(peer: Peer) -> None:
    ref = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    result = await peer.client.complete(ref, {"name": "arg1", "value": "te"})
    check(isinstance(result.completion.values, list), "completion.values must be a list")


async def logging(peer: Peer) -> None:
    meta: Any = None
    if peer.modern:
        peer.logs.clear()
        await peer.client.call_tool("test_tool_with_logging", {})
        equal(peer.logs.seen, [], "a request that names no level must get no log messages")
        meta = {LOG_LEVEL: "info"}
    else:
        await peer.client.set_logging_level("debug")
    peer.logs.clear()
    await peer.client.call_tool("test_tool_with_logging", {}, meta=meta)
    equal(await peer.logs.at_least(3), LOG_LINES, "log messages")


async def elicitation(peer: Peer) -> None:
    peer.questions.clear()
    if peer.modern:
        peer.answer = types.ElicitResult(action="accept", content={"name": "Alice"})
        result = await peer.client.call_tool("test_input_required_result_elicitation", {})
        equal(text_of(result), "Hello, Alice!")
        expected = "What is your name?"
    else:
        peer.answer = types.ElicitResult(action="accept", content={"username": "ada", "email": "ada@example.com"})
        result = await peer.client.call_tool("test_elicitation", {"message": "Who are you?"})
        check(not result.is_error, text_of(result))
        check("accept" in text_of(result) and "ada@example.com" in text_of(result), text_of(result))
        expected = "Who are you?"
    equal([question.message for question in peer.questions.seen], [expected], "questions")


async def sampling(peer: Peer) -> None:
    peer.sampled.clear()
    if peer.modern:
        result = await peer.client.call_tool("test_input_required_result_sampling", {})
        check("Paris, of course" in text_of(result), text_of(result))
    else:
        result = await peer.client.call_tool("test_sampling", {"prompt": "Say something"})
        equal(text_of(result), "LLM response: Paris, of course")
    equal(len(peer.sampled.seen), 1, "sampling requests")


async def roots(peer: Peer) -> None:
    peer.roots.clear()
    result = await peer.client.call_tool("test_input_required_result_list_roots", {})
    equal(len(peer.roots.seen), 1, "roots requests")
    check(not result.is_error and text_of(result), f"got {result!r}")


async def list_changed(peer: Peer) -> None:
    if peer.modern:
        async with peer.client.listen(tools_list_changed=True) as subscription:
            equal(subscription.honored.tools_list_changed, True, "honoured filter")
            for _round in (1, 2):
                await peer.client.call_tool("test_trigger_tool_change", {})
                with anyio.fail_after(5):
                    await anext(subscription)
    else:
        for _round in (1, 2):
            peer.changes.clear()
            await peer.client.call_tool("test_trigger_tool_change", {})
            await peer.changes.at_least(1)
    await call_tool(peer)


async def mirrored_header(peer: Peer) -> str:
    annotated = [
        (tool.name, name)
        for tool in await all_tools(peer)
        for name, schema in tool.input_schema.get("properties", {}).items()
        if schema.get("x-mcp-header") and schema.get("type") == "string"
    ]
    check(annotated, "no fixture tool has an `x-mcp-header` string argument")
    tool, argument = annotated[0]
    # Plain, and one that only fits into a header as base64.
    for value in ("north", " Grüße "):
        result = await peer.client.call_tool(tool, {argument: value})
        check(not result.is_error, text_of(result))
    return f"{tool}.{argument}"


Step = Callable[[Peer], Awaitable[str | None]]

STEPS: list[tuple[str, Step]] = [
    ("handshake", handshake),
    ("list tools", list_tools),
    ("call a tool", call_tool),
    ("a failing tool answers isError", failing_tool),
    ("an unknown tool is error -32602", unknown_tool),
    ("progress", progress),
    ("cancel", cancel),
    ("list and read a resource", resources),
    ("read a resource by template", template),
    ("an unknown resource is an error", unknown_resource),
    ("get a prompt", prompt),
    ("completion", completion),
    ("logging", logging),
    ("elicitation", elicitation),
    ("sampling", sampling),
    ("roots", roots),
    ("tools/list_changed", list_changed),
]


def usage(problem: str) -> NoReturn:
    print(f"{problem}\nusage: {sys.argv[0]} [--era {'|'.join(ERAS)}] http URL | sse URL | stdio COMMAND ARGS…", file=sys.stderr)
    sys.exit(2)


def connect(words: list[str]) -> tuple[str, Peer]:
    era = "auto"
    if words[:1] == ["--era"]:
        era, words = (words[1:2] or [""])[0], words[2:]
    transport, target, args = (words[:1] or [""])[0], words[1:2], words[2:]
    if era not in ERAS:
        usage(f"unknown era `{era}`")
    if transport not in ("http", "sse", "stdio"):
        usage(f"unknown transport `{transport}`")
    if not target:
        usage(f"`{transport}` needs a {'command' if transport == 'stdio' else 'URL'}")
    if transport == "sse" and era == "modern":
        usage("the SSE transport has no modern era")
    mode = "legacy" if transport == "sse" else {"auto": "auto", "legacy": "legacy", "modern": MODERN}[era]
    server: Any = target[0]
    if transport == "sse":
        server = sse_client(target[0])
    elif transport == "stdio":
        server = StdioServerParameters(command=target[0], args=args, env=dict(os.environ))
    peer = Peer(era="legacy" if mode == "legacy" else "modern", pinned=mode == MODERN, transport=transport)
    peer.client = Client(
        server,
        mode=mode,
        read_timeout_seconds=STEP_LIMIT,
        client_info=types.Implementation(name="toolgate-python", version="1.0.0"),
        logging_callback=peer.on_log,
        message_handler=peer.on_message,
        elicitation_callback=peer.on_question,
        sampling_callback=peer.on_sampling,
        list_roots_callback=peer.on_roots,
    )
    return f"python {era} {transport}", peer


async def run(label: str, peer: Peer) -> int:
    steps = list(STEPS)
    if peer.modern and peer.transport == "http":
        steps.append(("arguments mirrored into headers", mirrored_header))
    passed = 0

    def fail(name: str) -> int:
        print(f"FAIL {label}: {name}: {traceback.format_exc()}")
        print(f"{passed} passed, 1 failed", flush=True)
        return 1

    try:
        async with peer.client:
            for name, step in steps:
                # Caught here and not around the client, whose task groups would wrap the error beyond recognition.
                try:
                    with anyio.fail_after(STEP_LIMIT):
                        note = await step(peer)
                except Exception:
                    return fail(name)
                passed += 1
                print(f"ok   {label}: {name}{f' ({note})' if note else ''}", flush=True)
    except Exception:
        return fail("close" if passed else "connect")
    passed += 1
    print(f"ok   {label}: close")
    print(f"{passed} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(run(*connect(sys.argv[1:]))))
