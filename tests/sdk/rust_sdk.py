"""The official Rust SDK, unmodified: its program, and what it says. It knows one local address, which no option moves."""

import contextlib
import json
import queue
import subprocess
import threading

from harness import ACCOUNT, PATIENCE_S, TARGET

# Built by `tests/run rust-sdk`.
PROGRAM = TARGET.parent / "test-rust-sdk" / "debug" / "rust-sdk-client"
LISTEN = "127.0.0.1:3001"


class Client:
    def __init__(self, stand):
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(json.dumps({"key": stand.guard.client_key, "user": ACCOUNT}) + "\n")
        self.process.stdin.close()
        self.said = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.said.put(json.loads(line))
        self.said.put(None)

    def hear(self, *whats):
        """What it says of all these, whatever it says between."""
        heard = {}
        while heard.keys() < set(whats):
            said = self.said.get(timeout=PATIENCE_S)
            assert said, f"it ended and did not say {set(whats) - heard.keys()}"
            assert said["what"] != "error", said
            if said["what"] in whats:
                heard.setdefault(said["what"], said["data"])
        return heard


@contextlib.contextmanager
def program(stand):
    client = Client(stand)
    try:
        yield client
    finally:
        client.process.kill()
        client.process.wait()


def trades_by_rust(stand):
    """Every subscription that it has says something, and it leaves on the fill that it is told of."""
    with program(stand) as client:
        told = client.hear("mids", "value", "subscribed")
        assert (told["mids"], told["subscribed"]) == ("60000.0", 11), told
        client.hear("allMids", "candle", "l2Book", "activeAssetCtx", "userFills", "userFundings", "userNonFundingLedgerUpdates")
        stand.venue.do("position", coin="BTC", szi="0.05", entry_px="60000")
        fill = client.hear("fill")["fill"]
        assert (fill["sz"], fill["dir"]) == ("0.05", "Open Long"), fill
        assert client.hear("close") == {"close": {"filled": "0.05"}}
        assert client.hear("open") == {"open": {"filled": "0.001"}}
        assert client.hear("order", "cancel") == {"order": "resting", "cancel": "success"}
        assert client.hear("close", "unsubscribed")["close"] == {"filled": "0.001"}
        assert client.process.wait(PATIENCE_S) == 0
    assert stand.venue.position("BTC") == "0"
