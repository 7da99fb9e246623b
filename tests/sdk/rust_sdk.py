"""The official Rust SDK, unmodified: its program, and what it says. It knows one local address, which no option moves."""

import contextlib
import json
import queue
import subprocess
import threading

from harness import ACCOUNT, PATIENCE_S, TARGET, until

# Built by `tests/run rust-sdk`.
PROGRAM = TARGET.parent / "test-rust-sdk" / "debug" / "rust-sdk-client"
LISTEN = "127.0.0.1:3001"


class Client:
    def __init__(self, stand):
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(json.dumps({"key": stand.guard.client_key, "user": ACCOUNT}) + "\n")
        self.process.stdin.flush()
        self.said = queue.Queue()
        self.heard = []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.said.put(json.loads(line))
        self.said.put(None)

    def hear(self, *whats):
        """What it says of all these, whatever it says between."""
        heard = {}
        while heard.keys() < set(whats):
            said = self.next(set(whats) - heard.keys())
            if said["what"] in whats:
                heard.setdefault(said["what"], said["data"])
        return heard

    def hear_that(self, what, is_it):
        """Something of this that is it, from all that it has ever said."""
        is_found = lambda said: said["what"] == what and is_it(said["data"])
        if not any(map(is_found, self.heard)):
            until(f"{what}", lambda: is_found(self.next(what)))

    def next(self, wanted):
        said = self.said.get(timeout=PATIENCE_S)
        assert said, f"it ended and did not say {wanted}"
        assert said["what"] != "error", said
        self.heard.append(said)
        return said

    def end(self):
        self.process.stdin.close()
        assert self.hear("unsubscribed")
        assert self.process.wait(PATIENCE_S) == 0


@contextlib.contextmanager
def program(stand):
    client = Client(stand)
    try:
        yield client
    finally:
        client.process.kill()
        client.process.wait()


def trades_by_rust(stand):
    """Every subscription that it has says something, of what happens too, and it leaves on the fill that it is told of."""
    with program(stand) as client:
        told = client.hear("mids", "value", "subscribed")
        assert (told["mids"], told["subscribed"]) == ("60000.0", 11), told
        first = client.hear(
            "allMids", "candle", "l2Book", "activeAssetCtx", "userFills", "userFundings", "userNonFundingLedgerUpdates"
        )
        assert (first["allMids"], first["l2Book"], first["activeAssetCtx"]) == ("60000.0", "BTC", "BTC"), first
        assert first["userFundings"][0] and first["userNonFundingLedgerUpdates"][0], first
        stand.venue.do("position", coin="BTC", szi="0.05", entry_px="60000")
        fill = client.hear("fill")["fill"]
        assert (fill["sz"], fill["dir"]) == ("0.05", "Open Long"), fill
        assert client.hear("close") == {"close": {"filled": "0.05"}}
        assert client.hear("open") == {"open": {"filled": "0.001"}}
        assert client.hear("order", "cancel") == {"order": "resting", "cancel": "success"}
        assert client.hear("close")["close"] == {"filled": "0.001"}
        hears_what_happens(stand, client, fill)
        client.end()
    assert stand.venue.position("BTC") == "0"


def hears_what_happens(stand, client, fill):
    """What its feeds told meanwhile, and of what the venue does now. Notifications come, but it hands them to nobody: it files
    them under another name than it looks for."""
    is_fill = lambda event: event.startswith("Fills") and f"tid: {fill['tid']} }}" in event
    client.hear_that("userEvents", is_fill)
    client.hear_that("trades", lambda tid: tid == fill["tid"])
    stand.venue.do("deposit", usd="5")
    client.hear_that("userNonFundingLedgerUpdates", lambda told: told == [None, 1])
    rests = {"a": stand.asset("BTC"), "b": True, "p": "59500", "s": "0.01", "r": False}
    stand.venue.do("order", **rests, t={"limit": {"tif": "Gtc"}})
    client.hear_that("orderUpdates", lambda update: update == ["open", "59500.0"])
    stand.venue.do("price", coin="BTC", px="59500")
    client.hear_that("orderUpdates", lambda update: update == ["filled", "59500.0"])
    stand.venue.do("funding", rate="0.0001")
    client.hear_that("userFundings", lambda told: told == [None, 1])
    client.hear_that("allMids", lambda mid: mid == "59500.0")
    stand.venue.do("price", coin="BTC", px="60000")
    stand.venue.do("position", coin="BTC", szi="0", entry_px="60000")
    client.hear_that("fill", lambda fill: fill["dir"] == "Close Long")
