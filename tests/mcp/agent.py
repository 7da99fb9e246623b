"""An agent's two ways to the server: the official client, with every line of the session kept and checked, and bare lines."""

import contextlib
import json
import pathlib
import queue
import subprocess
import threading

import anyio
from mcp import Client, StdioServerParameters

from harness import GUARD, PATIENCE_S, environment
from schemas import check_answer, check_session

MODES = ("auto", "legacy", "2026-07-28")
# Keeps what goes in and what comes out, and gets in nobody's way.
TEE = 'asked=$1; said=$2; shift 2; tee -a "$asked" | "$@" 2>>"$said.err" | tee -a "$said"'


class Agent:
    """One session of the official client."""

    def __init__(self, client):
        self.client = client
        self.tools = {}

    async def call(self, tool, **arguments):
        """What a tool tells, and nothing that its result says otherwise."""
        result = await self.client.call_tool(tool, arguments)
        told = result.structured_content
        assert json.loads(result.content[0].text) == told
        return told

    async def trade(self, tool, outcome, **arguments):
        told = await self.call(tool, **arguments)
        assert told["outcome"] == outcome, told
        return told


class Sessions:
    """Starts sessions on one guard, and checks every line of each when it has ended."""

    def __init__(self, folder, guard_url, key_file):
        self.folder, self.guard_url, self.key_file = pathlib.Path(folder), guard_url, key_file
        self.count = 0

    def flags(self, *more):
        key = [] if "--read-only" in more else ["--key-file", str(self.key_file)]
        return ["mcp", "--guard-url", self.guard_url, *key, *map(str, more)]

    @contextlib.asynccontextmanager
    async def open(self, *flags, mode="auto"):
        self.count += 1
        asked, said = (self.folder / f"session-{self.count}.{name}" for name in ("in", "out"))
        command = ["-c", TEE, "sh", str(asked), str(said), str(GUARD), *self.flags(*flags)]
        parameters = StdioServerParameters(command="sh", args=command)
        with anyio.fail_after(PATIENCE_S):
            async with Client(parameters, mode=mode, read_timeout_seconds=PATIENCE_S) as client:
                agent = Agent(client)
                listed = (await client.list_tools()).model_dump(by_alias=True, exclude_none=True)["tools"]
                agent.tools = {tool["name"]: tool for tool in listed}
                yield agent
        check_session(asked.read_text(), said.read_text(), agent.tools)


def run(body):
    """Runs a test's coroutine function; what fails in it comes out of the groups that the client's tasks wrap it in."""
    try:
        anyio.run(body)
    except BaseExceptionGroup as group:
        fault = group
        while isinstance(fault, BaseExceptionGroup):
            fault = fault.exceptions[0]
        raise fault from None


class Lines:
    """The server spoken to in bare lines."""

    def __init__(self, *arguments, first="", env=None):
        self.process = subprocess.Popen(
            [str(part) for part in (GUARD, *arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env or environment(),
        )
        self.said = queue.Queue()
        self.errors = []
        self.readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True),
        ]
        for reader in self.readers:
            reader.start()
        if first:
            self.send(first)

    def _read(self):
        for line in self.process.stdout:
            self.said.put(line)
        self.said.put(None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def send(self, line):
        """Sends a line: text, bytes, or a message."""
        if isinstance(line, (dict, list)):
            line = json.dumps(line)
        line = line if isinstance(line, bytes) else line.encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def next(self):
        """The next line, or None at the end."""
        line = self.said.get(timeout=PATIENCE_S)
        return None if line is None else json.loads(line)

    def ask(self, request, tools=None):
        """Sends a request and returns its answer, checked."""
        self.send(request)
        answer = self.next()
        check_answer(answer, request, tools or {})
        return answer

    def call(self, tool, number=1, **arguments):
        answer = self.ask(request("tools/call", number, name=tool, arguments=arguments))
        return answer["result"]["structuredContent"]

    def end(self):
        """Closes its input and returns its exit status."""
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)

    def stderr(self):
        self.process.wait(PATIENCE_S)
        self.readers[1].join(PATIENCE_S)
        return b"".join(self.errors).decode()


def request(method, number=1, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def refused(*arguments, env=None):
    """Runs the command that must refuse, and returns its reason."""
    done = subprocess.run(
        [str(part) for part in (GUARD, *arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=env or environment(),
    )
    assert (done.returncode, done.stdout) == (2, ""), done
    return done.stderr
