"""README's commands and programs, run as they stand there."""

import contextlib
import io
import json
import re
import signal
import subprocess

import pytest
import requests

from harness import ACCOUNT, PATIENCE_S, ROOT, TARGET, WALLET_KEY, Venue, until

README = (ROOT / "README.md").read_text()
# What stands in README for the reader's own.
THEIRS = {"0x<your account>": ACCOUNT}
# Blocks that are run by something else: their first line, and what runs them.
ELSEWHERE = {
    "bot ── client key": "a picture",
    "cargo run --release --example demo": "tests/demo",
    "tests/run": "this runs in it",
    "cargo build --release": "tests/cli/interactive.rs runs init, tests/sdk builds",
    "get_rules": "tests/mcp",
    "packaging/build-deb": "tests/packaging/test_package.py builds and installs",
    "alias guard=": "tests/packaging/test_machine.py runs commands as the guard's user",
    "sudo systemctl enable --now svc-guard": "tests/packaging/test_machine.py",
    "guard init --network mainnet": "tests/packaging/test_machine.py goes these steps",
    "podman build": "tests/packaging/test_container.py runs what an image would hold",
}


def blocks():
    """Every fenced block: its language, what it says, and the heading above it."""
    found = []
    for part in re.split(r"^## ", README, flags=re.M)[1:]:
        heading = part.splitlines()[0]
        for indent, language, text in re.findall(r"^( *)```(\w*)\n(.*?)^ *```", part, flags=re.M | re.S):
            text = "".join(line.removeprefix(indent) for line in text.splitlines(keepends=True))
            for placeholder, own in THEIRS.items():
                text = text.replace(placeholder, own)
            found.append((heading, language, text))
    return found


def of(heading, language):
    return [text for where, what, text in blocks() if where == heading and what == language]


class Reader:
    """Somebody who types what README says, in an empty folder of theirs; only the venue is another one."""

    def __init__(self, folder, network):
        self.folder, self.running = folder, []
        self.venue = Venue(folder / "venue.log", network)
        for home in (".svc-guard", ".svc-guard-testnet", ".svc-guard-mainnet"):
            (folder / home).mkdir()
            (folder / home / "guard.toml").write_text(f'[venue]\nurl = "{self.venue.url}"\n')
        (folder / "wallet.key").write_text(WALLET_KEY)
        [rules] = of("Use it on paper", "toml")
        (folder / "my-rules.toml").write_text(rules)

    def environment(self):
        # Nothing on the path but the program: no key is sealed for the machine that the tests run on.
        return {"HOME": str(self.folder), "PATH": str(TARGET.resolve()), "SVC_GUARD_LISTEN": "127.0.0.1:0"}

    def type(self, line):
        """One line in a shell. A service goes on running, and its address is returned."""
        said, command = re.fullmatch(r"((?:\w+=\S+ )*)(.*)", line).groups()
        variables = dict(one.split("=", 1) for one in said.split())
        log = self.folder / f"{len(self.running)}.log"
        with open(log, "wb") as output:
            child = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {command}"],
                cwd=self.folder,
                env={**self.environment(), **variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self.running.append(child)
        if " run" not in line:
            assert child.wait(PATIENCE_S) == 0, f"{line}: {log.read_text()}"
            return log.read_text()

        def healthy():
            assert child.poll() is None, f"{line}: {log.read_text()}"
            for url in re.findall(r"listening on (http://\S+)", log.read_text()):
                with contextlib.suppress(requests.ConnectionError):
                    return url if requests.get(url + "/healthz", timeout=PATIENCE_S).status_code == 200 else None

        return until(f"{line} to be healthy", healthy)

    def stop(self):
        self.running[-1].send_signal(signal.SIGTERM)
        assert self.running[-1].wait(PATIENCE_S) == 0

    def end(self):
        for child in self.running:
            child.kill()
            child.wait()
        self.venue.end()


@pytest.fixture
def reader(tmp_path):
    made = []

    def make(network="testnet"):
        made.append(Reader(tmp_path, network))
        return made[0]

    yield make
    for one in made:
        one.end()


def lines(heading):
    found = [line for text in of(heading, "sh") for line in text.splitlines()]
    assert found, heading
    return found


def test_every_block_is_run_somewhere():
    for heading, language, text in blocks():
        is_run = language in ("sh", "toml", "python", "json") or any(text.startswith(first) for first in ELSEWHERE)
        assert is_run, f"nothing runs this of {heading}:\n{text}"


def test_paper_and_the_bot(reader):
    reader = reader()
    *first, run = lines("Use it on paper")
    said = [reader.type(line) for line in first]
    assert "loss" in said[-1], said
    url = reader.type(run)
    [program] = of("Use it on paper", "python")
    assert len([line for line in program.splitlines() if line]) <= 10
    program = program.replace("http://127.0.0.1:8547", url).replace('"bot.key"', repr(str(reader.folder / "bot.key")))
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(compile(program, "README.md", "exec"), {})  # noqa: S102: ours
    assert re.match(r"ok (allow|resize) ", told.getvalue()), told.getvalue()
    assert "stop" in told.getvalue(), told.getvalue()
    reader.stop()
    assert reader.venue.requests() == []


def test_testnet(reader):
    reader = reader()
    first, run = lines("Go to testnet")
    reader.type(first)
    url = reader.type(run)
    assert requests.get(url + "/guard/status", timeout=PATIENCE_S).json()["mode"] == "testnet"
    reader.stop()


def test_mainnet(reader):
    reader = reader("mainnet")
    *first, run = lines("Go to mainnet")
    for line in first:
        reader.type(line)
    url = reader.type(run)
    assert requests.get(url + "/guard/status", timeout=PATIENCE_S).json()["mode"] == "mainnet"
    reader.stop()


def test_an_agent(reader):
    reader = reader()
    init, *_, run = lines("Use it on paper")
    for line in (init, *lines("Let an agent trade")):
        reader.type(line)
    url = reader.type(run)
    [config] = [json.loads(text) for text in of("Let an agent trade", "json")]
    [server] = config["mcpServers"].values()
    arguments = [argument.replace("/home/you", str(reader.folder)) for argument in server["args"]]
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "reader", "version": "1"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "get_rules", "arguments": {}}},
    ]
    agent = subprocess.Popen(
        [TARGET / server["command"], *arguments, "--guard-url", url],
        env=reader.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    reader.running.append(agent)
    for line in asked:
        agent.stdin.write(json.dumps(line) + "\n")
    agent.stdin.flush()
    answers = {answer["id"]: answer for answer in (json.loads(agent.stdout.readline()) for _ in range(2))}
    assert answers[2]["result"]["structuredContent"]["headroom"], answers
    agent.stdin.close()
    assert agent.wait(PATIENCE_S) == 0
