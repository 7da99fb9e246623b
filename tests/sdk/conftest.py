"""A venue and a guard for each test, everything in a folder of its own."""

import eth_account
import pytest
from hyperliquid.exchange import Exchange

from contract import check_event, check_status
from harness import ACCOUNT, WALLET, Guard, Venue, same, until


def went_well(reply):
    """`status: "ok"` alone is no success: each order has its own."""
    statuses = reply["response"].get("data", {}).get("statuses", []) if reply["status"] == "ok" else [{"error": ""}]
    return not any("error" in status for status in statuses if isinstance(status, dict))


class Stand:
    """A bot with the unmodified SDK, the guard it trades through, and the venue behind."""

    def __init__(self, mode, venue, guard):
        self.mode, self.venue, self.guard = mode, venue, guard
        wallet = eth_account.Account.from_key(guard.client_key)
        self.client = wallet.address.lower()
        self.bot = Exchange(wallet, base_url=guard.url, account_address=ACCOUNT)

    @property
    def is_paper(self):
        return self.mode == "paper"

    def asset(self, coin):
        return self.bot.info.name_to_asset(coin)

    def hold(self, coin, szi, entry_px):
        """A person opens a position by hand, and the guard reads it: a fill does not tell the leverage."""
        self.venue.do("position", coin=coin, szi=szi, entry_px=entry_px)
        until("the position to be read", lambda: (self.position(coin) or {"leverage": 1})["leverage"] != 1)

    def position(self, coin):
        held = [position for position in self.guard.status()["positions"] if position["coin"] == coin]
        return held[0] if held else None

    def decided(self, reply):
        """The decision behind a reply, checked against the events, the journal, the status and the venue's truth."""
        told = reply["guard"]
        decision = self.guard.event(told["seq"])
        check_event(decision)
        assert decision["kind"] == "decision"
        for field in ("verdict", "code", "text"):
            assert decision[field] == told[field]
        assert decision.get("changes") == told.get("changes")
        assert (decision["via"], decision["client"]) == ("http", self.client)
        # Given a local URL, this SDK signs as for the test network.
        assert decision["signed_as"] == "testnet"
        assert told.get("paper", False) == self.is_paper
        assert reply["status"] == ("err" if decision["verdict"] == "veto" else "ok")
        check_status(self.guard.status())

        if self.is_paper or decision["verdict"] == "veto":
            assert "nonces" not in decision
            self.journaled(decision, sent=[], done=False)
            self.nothing_was_sent(decision)
        else:
            self.sent_as_decided(decision)
        return decision

    def nothing_was_sent(self, decision):
        if self.is_paper:
            assert self.venue.requests() == []
        named = [event for event in self.guard.events("sent") if event["decision"] == decision["seq"]]
        assert named == []

    def sent_as_decided(self, decision):
        """The venue received exactly what the decision names, in its order, signed by the API wallet."""
        done = until("the intent to be done", lambda: self.of_intent("done", "intent", decision["seq"]))
        sent = self.of_intent("sent", "decision", decision["seq"])
        actions = [*decision["pre"], decision["forward"], *decision["post"]]
        nonces = decision["nonces"]
        assert len(nonces) == len(actions) and nonces == sorted(set(nonces))
        assert [event["index"] for event in sent] == list(range(len(actions)))
        assert [event["nonce"] for event in sent] == nonces
        seen = [request for request in self.venue.requests() if request["nonce"] in nonces]
        assert [request["nonce"] for request in seen] == nonces
        for request, action, event in zip(seen, actions, sent):
            assert request["signer"] == WALLET
            assert same(request["action"], action)
            assert same(request["reply"], event["reply"])
            assert event["ok"] == went_well(request["reply"])
            check_event(event)
        assert all(request["signer"] == WALLET for request in self.venue.requests())
        check_event(done[0])
        self.journaled(decision, sent, done=True)

    def of_intent(self, kind, field, seq):
        return [event for event in self.guard.events(kind) if event[field] == seq]

    def journaled(self, decision, sent, done):
        """The journal on disk tells the same as the events, found by the nonce that the bot signed with."""
        found = self.guard.decision(nonce=decision["nonce"])
        assert found["nonce"] == decision["nonce"]
        assert [entry["decision"] for entry in found["decisions"]] == [decision]
        entry = found["decisions"][0]
        assert entry["sent"] == sent
        assert (entry["done"] is not None) == done
        assert entry["intents"] == [] and entry["recovered"] == []


@pytest.fixture(params=["paper", "testnet"])
def mode(request):
    return request.param


@pytest.fixture
def venue(mode, tmp_path):
    # Paper mode reads a mainnet account unless told otherwise.
    venue = Venue(tmp_path / "venue.log", "mainnet" if mode == "paper" else "testnet")
    yield venue
    venue.end()


@pytest.fixture
def listen():
    return "127.0.0.1:0"


@pytest.fixture
def guard(mode, venue, tmp_path, listen):
    guard = Guard.set_up(tmp_path, venue, mode, listen=listen)
    yield guard
    guard.end()


@pytest.fixture
def stand(mode, venue, guard):
    return Stand(mode, venue, guard)
