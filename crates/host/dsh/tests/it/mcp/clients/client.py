"""What the official Python client sees of `dsh mcp`: `client.py DSH ARGUMENT…` prints it as one JSON object."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ElicitResult

FIFTY = "for (let i = 0; i < 50; i++) await tools.read({ file_path: 'a.txt' }); return 50"
FOREVER = "await tools.read({ file_path: 'a.txt' }); await new Promise((done) => setTimeout(done, 600000))"


ANSWERS = [ElicitResult(action="accept", content={"allow": True}), ElicitResult(action="decline")]
BEYOND = {"sandbox_permissions": "danger-full-access", "justification": "It belongs there."}


async def answer(context, params):
    return ANSWERS.pop(0)


async def main(command, *args):
    env = {name: os.environ[name] for name in ("HOME", "PATH", "XDG_STATE_HOME")}
    server = StdioServerParameters(command=command, args=list(args), env=env)
    async with stdio_client(server) as streams, ClientSession(
        *streams, elicitation_callback=answer
    ) as session:
        begun = await session.initialize()
        # It checks `structuredContent` against the output schemas that are listed.
        tools = [tool.name for tool in (await session.list_tools()).tools]
        read = await session.call_tool("read", {"file_path": "a.txt"})
        unknown = await session.call_tool("raed", {})

        progress = []

        async def told(done, total, message):
            progress.append(done)

        program = {"code": FIFTY, "description": "Reads fifty times"}
        program = await session.call_tool("run_code", program, progress_callback=told)

        running = asyncio.Event()

        async def runs(done, total, message):
            running.set()

        forever = {"code": FOREVER, "description": "Waits for long"}
        call = asyncio.create_task(session.call_tool("run_code", forever, progress_callback=runs))
        await running.wait()
        call.cancel()
        cancelled = isinstance((await asyncio.gather(call, return_exceptions=True))[0], BaseException)
        after = await session.call_tool("glob", {"pattern": "*.txt"})

        # Beyond the workspace the user is asked, who says yes and then no.
        asked = []
        for content in ("one", "two"):
            write = {"file_path": "../beyond.txt", "content": content, **BEYOND}
            written = await session.call_tool("write", write)
            asked.append((written.meta or {}).get("dsh/error", {}).get("code", "ok"))

    print(
        json.dumps(
            {
                "server": begun.server_info.name,
                "tools": tools,
                "read": read.structured_content["lines"][0]["text"],
                "unknown": [unknown.is_error, unknown.meta["dsh/error"]["code"]],
                "program": program.structured_content["result"],
                "progress": len(progress) > 0,
                "ascending": all(one < other for one, other in zip(progress, progress[1:])),
                "cancelled": cancelled,
                "after": after.is_error,
                "asked": asked,
            }
        )
    )


asyncio.run(main(*sys.argv[1:]))
