"""The real programs as child processes: the simulated venue, and the guard between it and the SDK."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import requests

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("SVC_GUARD_TARGET", ROOT / "target" / "debug"))
GUARD = TARGET / "svc-guard"
VENUE = TARGET / "examples" / "venue_sim"

ACCOUNT = "0x1111111111111111111111111111111111111111"
# Obviously no real key, and its address.
WALLET_KEY = "0x0123456789012345678901234567890123456789012345678901234567890123"
WALLET = "0x14791697260e4c9a71f18484c9f997b308e59325"

# A hung program fails its test; a slow machine does not.
PATIENCE_S = 60

DEFAULT_RULES = "# every rule at its default\n"


def until(what, condition, patience_s=PATIENCE_S):
    """Waits for a condition and returns what it gave; fails naming what was waited for."""
    deadline = time.monotonic() + patience_s
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def environment(**more):
    """Our own environment without variables that would speak to the guard."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    return {**kept, **more}


class Program:
    """A child process whose output goes to a file; it names its address there."""

    def __init__(self, command, log, address, env=None, stdin=None):
        self.log = log
        # A program that is started again goes on in the same log.
        self.said_before = log.stat().st_size if log.exists() else 0
        with open(log, "ab") as output:
            self.process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=env,
            )
        if stdin is not None:
            with self.ended_on_failure():
                self.process.stdin.write(stdin.encode())
                self.process.stdin.close()

        def listening():
            assert self.process.poll() is None, f"{command[0]} ended:\n{self.said()}"
            return re.findall(address, self.said())

        with self.ended_on_failure():
            self.url = until(f"{command[0]} to listen", listening)[-1]

    @contextlib.contextmanager
    def ended_on_failure(self):
        """Nobody else can end a program whose set-up fails: its maker never gets to hold it."""
        try:
            yield
        except BaseException:
            self.end()
            raise

    def said(self):
        """What it has said in this life."""
        return self.log.read_bytes()[self.said_before :].decode()

    def stop(self):
        """Asks it to end, and returns its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Venue(Program):
    """The simulated venue, its controls and its truth."""

    def __init__(self, log, network, agent=WALLET, account=ACCOUNT):
        command = [VENUE, "--listen", "127.0.0.1:0", "--account", account, "--agent", agent, "--network", network]
        super().__init__(command, log, r"listening on (http://\S+)", environment())

    def do(self, op, **members):
        reply = requests.post(self.url + "/sim", json={"op": op, **members}, timeout=PATIENCE_S)
        assert reply.status_code == 200, reply.text
        return reply.json()["results"][0]

    def truth(self):
        return requests.get(self.url + "/sim", timeout=PATIENCE_S).json()

    def requests(self):
        """Every exchange request the venue has seen."""
        return self.truth()["requests"]

    def orders(self, coin):
        return [order for order in self.truth()["orders"] if order["coin"] == coin]

    def position(self, coin):
        held = [position["szi"] for position in self.truth()["positions"] if position["coin"] == coin]
        return held[0] if held else "0"


def svc_guard(home, *arguments, stdin="", **env):
    """Runs a command to its end and returns what it printed; it must succeed."""
    done = subprocess.run(
        [GUARD, "--home", home, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(**env),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def new_home(folder, venue):
    """A home that holds nothing but where the venue is, which counts as empty."""
    home = folder / "home"
    home.mkdir()
    (home / "guard.toml").write_text(f'[venue]\nurl = "{venue.url}"\n')
    return home


class Guard(Program):
    """The service, running."""

    def __init__(self, home, log, *arguments, listen="127.0.0.1:0", stdin=None, **env):
        self.home = home
        command = [GUARD, "--home", home, "run", "--listen", listen, *arguments]
        super().__init__(command, log, r"listening on (http://\S+)", environment(**env), stdin)
        with self.ended_on_failure():
            until("the guard to be healthy", lambda: self.get("/healthz").status_code == 200)

    @classmethod
    def set_up(cls, folder, venue, mode, rules=DEFAULT_RULES, listen="127.0.0.1:0"):
        """A fresh home, set up as an installer would, with the service started on it."""
        home = new_home(folder, venue)
        (folder / "rules.toml").write_text(rules)
        key_out = folder / "bot.key"
        arguments = ["--rules", f"@{folder / 'rules.toml'}", "--account", ACCOUNT, "--client-key-out", key_out]
        key = []
        if mode != "paper":
            key = ["--network", mode, "--key-stdin", "--key-store", "file"]
        if mode == "mainnet":
            key += ["--equity-cap", "10000", "--confirm-mainnet", ACCOUNT]
        svc_guard(home, "init", "--non-interactive", *arguments, *key, stdin=WALLET_KEY if key else "")
        if mode == "mainnet":
            word = {"SVC_MAINNET_CONFIRM": ACCOUNT}
            svc_guard(home, "journal-init", "--mode", mode, "--note", "begin", **word)
            flags = ["--network", mode, "--key-stdin"]
            guard = cls(home, folder / "guard.log", *flags, listen=listen, stdin=WALLET_KEY, **word)
        else:
            guard = cls(home, folder / "guard.log", *(["--network", mode] if key else []), listen=listen)
        guard.client_key = key_out.read_text().strip()
        return guard

    def get(self, path, **query):
        return requests.get(self.url + path, params=query, timeout=PATIENCE_S)

    def status(self):
        reply = self.get("/guard/status")
        assert reply.status_code == 200, reply.text
        return reply.json()

    def events(self, kind=None, since=0):
        reply = self.get("/guard/events", since=since)
        assert reply.status_code == 200, reply.text
        events = reply.json()["events"]
        return [event for event in events if kind in (None, event["kind"])]

    def event(self, seq):
        found = [event for event in self.events() if event["seq"] == seq]
        assert len(found) == 1, f"{len(found)} events with seq {seq}"
        return found[0]

    def decision(self, **query):
        """What the journal on disk knows of one request."""
        reply = self.get("/guard/decision", **query)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def written(self):
        """Every file of the home and the log, for the search for keys: path and text."""
        files = [path for path in self.home.rglob("*") if path.is_file()]
        return {str(path): path.read_bytes().decode("utf-8", "replace") for path in [*files, self.log]}


def same(left, right):
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
