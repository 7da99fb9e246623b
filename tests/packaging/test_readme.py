"""README's commands and programs, typed as they stand there by somebody with a checkout and a toolchain."""

import contextlib
import http.server
import io
import json
import os
import re
import subprocess
import threading

import pytest
import requests

import readme
from conftest import needs
from harness import ACCOUNT, PATIENCE_S, WALLET_KEY, Venue, until
from terminal import BUILDING_S, Terminal

# Where each heading's commands are typed.
TYPED = {
    "See it work": "here",
    "Test it": "it is what runs this",
    "Use it on paper": "here",
    "Go to testnet": "here",
    "Go to mainnet": "here",
    "Install it as a service": "test_readme_service.py, test_readme_container.py",
    "What it did with the money": "here",
    "Let an agent trade": "here",
    "Be told of it": "here",
}
# What stands between the lines and begins as a command does.
SPOKEN = {
    "-- --once": "here",
    "svc-guard mcp": "the agent's configuration, here",
    "svc-guard kill --reason …": "test_readme_service.py",
    "svc-guard notify": "here",
    "svc-guard report": "here",
    "guard init": "test_readme_service.py",
    "guard pair": "test_readme_service.py",
    "guard key replace --key-stdin --no-store": "test_readme_service.py",
    "sudo systemctl start svc-guard": "test_readme_service.py",
    "apt remove": "test_readme_service.py",
    "apt purge": "test_readme_service.py",
    "init --refuse-mainnet REASON": "here",
}


def test_every_command_is_typed_somewhere():
    assert {heading for heading, language, _ in readme.all_blocks() if language == "sh"} == set(TYPED)
    assert {language for _, language, _ in readme.all_blocks()} == {"sh", "toml", "python", "json", "text"}
    begins = re.compile(r"(svc-guard|guard|sudo|apt|cargo|podman|systemctl|init|--) ")
    assert {span for span in readme.spans() if begins.match(span)} == set(SPOKEN)


@pytest.fixture(scope="session")
def built():
    """A checkout in which the program was built by README's command."""
    needs("cargo", "bash")
    folder = readme.checkout()
    build, export, *_ = readme.commands(readme.blocks("Use it on paper")[0])
    terminal = Terminal({"HOME": "/nonexistent", "PATH": os.environ["PATH"], **readme.TOOLCHAIN, **readme.QUICK_RELEASE}, folder)
    try:
        terminal.type(build, patience_s=BUILDING_S)
        terminal.type(export)
        found = terminal.type("command -v svc-guard")
        assert str(folder / "target/release/svc-guard") in found, found
    finally:
        terminal.end()
    return folder


class Reader:
    """Somebody who types what README says, in a folder of theirs; only the venue is another one."""

    def __init__(self, built, folder, network):
        self.folder = folder
        self.venue = Venue(folder / "venue.log", network)
        for home in (".svc-guard", ".svc-guard-testnet", ".svc-guard-mainnet"):
            (folder / home).mkdir()
            (folder / home / "guard.toml").write_text(f'[venue]\nurl = "{self.venue.url}"\n')
        (folder / "wallet.key").write_text(WALLET_KEY)
        [rules] = readme.blocks("Use it on paper", "toml")
        (folder / "my-rules.toml").write_text(rules)
        # Little on the path but the program: no key is sealed for the machine that the tests run on.
        (folder / "bin").mkdir()
        (folder / "bin" / "bash").symlink_to("/bin/bash")
        self.variables = {
            "HOME": str(folder),
            "PATH": f"{built}/target/release:{folder}/bin",
            "SVC_GUARD_LISTEN": "127.0.0.1:0",
        }
        self.terminal = Terminal(self.variables, folder, ["env", f"PATH=/bin:/usr/bin:{folder}/bin"])

    def type(self, command, answers=None, status=0):
        return self.terminal.type(command, answers, status)

    def run(self, command):
        """Starts the service, and waits until it is well."""
        self.terminal.start(command)
        url = self.terminal.see(r"listening on (http://\S+)")

        def well():
            with contextlib.suppress(requests.ConnectionError):
                return requests.get(url + "/healthz", timeout=PATIENCE_S).status_code == 200

        until(f"{command} to be healthy", well)
        return url

    def end(self):
        self.terminal.end()
        self.venue.end()


@pytest.fixture
def reader(built, tmp_path):
    made = []

    def make(network="testnet"):
        made.append(Reader(built, tmp_path, network))
        return made[0]

    yield make
    for one in made:
        one.end()


def test_see_it_work():
    needs("cargo", "bash")
    [demo] = readme.commands(readme.blocks("See it work")[0])
    variables = {"HOME": "/nonexistent", "PATH": os.environ["PATH"], **readme.TOOLCHAIN, **readme.QUICK_RELEASE}
    terminal = Terminal(variables, readme.checkout())
    try:
        said = terminal.type(f"{demo} {readme.spoken('-- --once')}", patience_s=BUILDING_S)
    finally:
        terminal.end()
    for scene in ("daily loss stop", "kill"):
        assert scene in said, said


def test_paper_by_questions(reader):
    reader = reader()
    _, _, init, run = readme.commands(readme.blocks("Use it on paper")[0])
    answers = {
        r"Mode \[paper\]": "",
        r"Account \(0x\.\.\.\)": ACCOUNT,
        r"Network of the account \[mainnet\]": "testnet",
        r"Enter to keep these \[keep\]": "",
        r"Equity cap in USDC \[none\]": "",
        r"Listen address \[127\.0\.0\.1:8547\]": "",
        r"Share \[1\]": "",
        r"File for the client key \[show it\]": "bot.key",
        r"Set up now\? \[yes\]": "",
    }
    reader.type(init, answers)
    reader.run(run)
    reader.terminal.interrupt()


def test_paper_and_the_bot(reader):
    reader = reader()
    init, check, run = readme.commands(readme.blocks("Use it on paper")[1])
    reader.type(init)
    assert "loss" in reader.type(check)
    url = reader.run(run)
    [program] = readme.blocks("Use it on paper", "python")
    assert len([line for line in program.splitlines() if line]) <= 10
    program = program.replace("http://127.0.0.1:8547", url).replace('"bot.key"', repr(str(reader.folder / "bot.key")))
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(compile(program, "README.md", "exec"), {})  # noqa: S102: ours
    assert re.match(r"ok (allow|resize) ", told.getvalue()), told.getvalue()
    assert "stop" in told.getvalue(), told.getvalue()
    reader.terminal.interrupt()
    assert reader.venue.requests() == []


def test_testnet(reader):
    reader = reader()
    [init], [run] = map(readme.commands, readme.blocks("Go to testnet"))
    reader.type(init)
    url = reader.run(run)
    assert requests.get(url + "/guard/status", timeout=PATIENCE_S).json()["mode"] == "testnet"
    reader.terminal.interrupt()
    by_market, fills = readme.commands(readme.blocks("What it did with the money")[0])
    assert "volume" in reader.type(by_market)
    reader.type(fills)
    assert (reader.folder / "fills.csv").read_text().startswith('"time","market",'), (reader.folder / "fills.csv").read_text()


def test_mainnet(reader):
    reader = reader("mainnet")
    [init], [begin], [run] = map(readme.commands, readme.blocks("Go to mainnet"))
    reader.type(init)
    reader.type(begin)
    url = reader.run(run)
    assert requests.get(url + "/guard/status", timeout=PATIENCE_S).json()["mode"] == "mainnet"
    reader.terminal.interrupt()


def test_mainnet_refused(reader):
    reader = reader("mainnet")
    [init], [begin], [run] = map(readme.commands, readme.blocks("Go to mainnet"))
    refuse = readme.spoken("init --refuse-mainnet REASON").replace("REASON", '"a test machine"')
    paper = init.split(" --network mainnet")[0].replace(" init", f" {refuse}")
    reader.type(f"{paper} --account {ACCOUNT} --rules @my-rules.toml --client-key-out bot.key")
    assert "a test machine" in reader.type(init.replace(" init", " init --force"), status=2)
    for command in (begin, run):
        reader.type(command, status=2)


def test_an_agent(reader):
    reader = reader()
    init, _, run = readme.commands(readme.blocks("Use it on paper")[1])
    reader.type(init)
    [[add]] = map(readme.commands, readme.blocks("Let an agent trade"))
    reader.type(add)
    url = reader.run(run)
    [config] = [json.loads(text) for text in readme.blocks("Let an agent trade", "json")]
    [server] = config["mcpServers"].values()
    arguments = [argument.replace("/home/you", str(reader.folder)) for argument in server["args"]]
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "reader", "version": "1"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "get_rules", "arguments": {}}},
    ]
    command = ["env", f"PATH={reader.variables['PATH']}", "/usr/bin/env", server["command"], *arguments, "--guard-url", url]
    agent = subprocess.Popen(command, env={"HOME": str(reader.folder)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for line in asked:
            agent.stdin.write(json.dumps(line) + "\n")
        agent.stdin.flush()
        answers = {answer["id"]: answer for answer in (json.loads(agent.stdout.readline()) for _ in range(2))}
        assert answers[2]["result"]["structuredContent"]["headroom"], answers
        agent.stdin.close()
        assert agent.wait(PATIENCE_S) == 0
    finally:
        agent.kill()
        agent.wait()


class Inbox(http.server.ThreadingHTTPServer):
    """A server of ntfy's in place of the one that README names."""

    def __init__(self):
        self.titles = []
        inbox = self

        class Take(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                assert message["topic"] == "guard-7", message
                inbox.titles.append(message["title"])
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Take)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def test_being_told(reader):
    reader = reader()
    init, _, run = readme.commands(readme.blocks("Use it on paper")[1])
    reader.type(init)
    check, trial, notify = readme.commands(readme.blocks("Be told of it")[0])
    [config] = readme.blocks("Be told of it", "toml")
    url = reader.run(run)
    inbox = Inbox()
    config = config.replace("https://ntfy.sh", f"http://127.0.0.1:{inbox.server_port}").replace("<your topic>", "guard-7")
    # Every hour is awake here, and the guard does not listen where one of the reader's own would.
    # Whatever the hour is.
    config = config.replace('quiet = "22:00-07:00"\n', "")
    (reader.folder / ".svc-guard" / "notify.toml").write_text(f'guard = "{url}"\n{config}')
    other = Terminal(reader.variables, reader.folder, ["env", f"PATH=/bin:/usr/bin:{reader.folder}/bin"])
    try:
        assert "tells    phone (ntfy)" in other.type(check)
        assert "phone (ntfy): took it" in other.type(trial)
        assert inbox.titles == ["Test message"]
        other.start(notify)
        other.see("(telling phone of the guard)")
        until("its place among the events", lambda: (reader.folder / ".svc-guard" / "notify" / "state.json").exists())
        (reader.folder / ".svc-guard" / "kill").write_text("as a test\n")
        until("word of the kill", lambda: any("Kill switch pulled" in title for title in inbox.titles))
        other.interrupt()
    finally:
        other.end()
        inbox.shutdown()
        inbox.server_close()
    reader.terminal.interrupt()
