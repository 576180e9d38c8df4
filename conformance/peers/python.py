"""The Python SDK's client as a peer: it reads what to do, a line each, and
writes what came of it. conformance/peer.go has the other end."""

import json
import sys
import warnings
from contextlib import AsyncExitStack

import anyio
import anyio.to_thread
import httpx2
from mcp import Client, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client

# Legacy clients set the log level, which the modern era has deprecated.
warnings.simplefilter("ignore")


class Peer:
    def __init__(self, stack: AsyncExitStack):
        self.stack = stack

    async def connect(self, to):
        async def elicit(context, params):
            return types.ElicitResult(action="accept", content=to["content"])

        async def sample(context, params):
            text = types.TextContent(type="text", text=to["reply"])
            return types.CreateMessageResult(role="assistant", model="none", content=text)

        if "url" in to:
            headers = {"Authorization": f"Bearer {to['token']}"} if "token" in to else {}
            http = await self.stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=30))
            server = streamable_http_client(to["url"], http_client=http)
        else:
            server = StdioServerParameters(command=to["command"][0], args=to["command"][1:])
        # Its own way to the modern era is to ask for it: auto sends server/discover.
        self.client = await self.stack.enter_async_context(
            Client(
                server,
                mode="auto" if to["modern"] else "legacy",
                client_info=types.Implementation(name="python-peer", version="1"),
                elicitation_callback=elicit,
                sampling_callback=sample,
            )
        )
        return {"version": self.client.protocol_version}

    async def call(self, name, arguments):
        progress = 0

        async def count(*_):
            nonlocal progress
            progress += 1

        result = await self.client.call_tool(name, arguments, progress_callback=count)
        return {**plain(result), "progress": progress}

    async def do(self, method, params):
        match method:
            case "connect":
                return await self.connect(params)
            case "tools/list":
                return plain(await self.client.list_tools())
            case "tools/call":
                return await self.call(**params)
            case "prompts/list":
                return plain(await self.client.list_prompts())
            case "prompts/get":
                return plain(await self.client.get_prompt(**params))
            case "resources/list":
                return plain(await self.client.list_resources())
            case "resources/read":
                return plain(await self.client.read_resource(**params))
            case "resources/templates/list":
                return plain(await self.client.list_resource_templates())
            case "completion/complete":
                ref = types.PromptReference(**params["ref"])
                return plain(await self.client.complete(ref, params["argument"]))
            case "logging/setLevel":
                return plain(await self.client.set_logging_level(**params))
        raise ValueError(f"there is no method {method!r}")


def plain(result):
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


def reasons(error):
    """What is in a group of exceptions, or the exception."""
    if inner := getattr(error, "exceptions", None):
        return "; ".join(map(reasons, inner))
    return str(error) or repr(error)


async def main():
    async with AsyncExitStack() as stack:
        peer = Peer(stack)
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            asked = json.loads(line)
            try:
                answer = {"result": await peer.do(asked["method"], asked["params"])}
            except Exception as error:
                answer = {"error": reasons(error)}
            print(json.dumps(answer), flush=True)


anyio.run(main)
