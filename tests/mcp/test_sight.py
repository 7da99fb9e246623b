"""What a tool goes by when the guard's picture of the account is older than what this server did last."""

import contextlib

import pytest

from agent import Lines
from pretend import STATUS, UNIVERSE, guard_that_says

STALE = [{"code": "account_stale", "text": "the account: last read over 5 s ago", "since_ms": 1}]
FILLED = {"status": "ok", "response": {"type": "order", "data": {"statuses": [{"filled": {"totalSz": "0.2", "avgPx": "2500", "oid": 9}}]}}}
BUY = {"side": "buy", "type": "limit", "size": "0.2", "limit_price": "2500", "tif": "ioc"}


def position(size, coin="ETH"):
    return {"coin": coin, "side": "long", "size": size, "mark_px": "2500"}


def order(size, **more):
    told = {"coin": "ETH", "oid": 5, "cloid": None, "side": "buy", "size": size, "px": "2400", "trigger_px": None}
    return {**told, "is_market_trigger": False, "order_type": "limit", "tif": "Gtc", "reduce_only": False, **more}


def stop(size):
    return order(size, side="sell", trigger_px="2400", is_market_trigger=True, order_type="stop_market", reduce_only=True)


class Picture:
    """A guard whose picture of the account is as old as the test says, and who lets everything pass."""

    def __init__(self, key):
        self.key = key
        self.status = {**STATUS, "mode": "testnet", "account_network": "testnet", "rules": "", "alerts": []}
        self.verdict = "allow"
        self.looks_until_read = None
        self.show(age_ms=0)

    def show(self, age_ms, positions=(), orders=(), alerts=()):
        self.status |= {"positions": list(positions), "open_orders": list(orders), "alerts": list(alerts)}
        self.status["venue"] = {"account_age_ms": age_ms}

    def read_after(self, looks, positions):
        """After so many questions for the status the guard has read the account anew."""
        self.looks_until_read, self.then = looks, positions

    def told(self, _):
        if self.looks_until_read is not None:
            self.looks_until_read -= 1
            if self.looks_until_read < 0:
                self.show(0, self.then)
        return self.status

    def decide(self, _):
        guard = {"seq": 7, "verdict": self.verdict, "code": "order_rate_limit", "text": "no"}
        return {**FILLED, "guard": guard} if self.verdict == "allow" else {"status": "err", "response": "no", "guard": guard}

    @contextlib.contextmanager
    def agent(self):
        answers = {
            "/guard/status": (200, self.told),
            "/guard/decision": (404, {"code": "not_found", "msg": "", "data": None}),
            "/info": (200, UNIVERSE),
            "/exchange": (200, self.decide),
        }
        with guard_that_says({}, answers) as (url, self.asked):
            with Lines("mcp", "--guard-url", url, "--key-file", self.key) as lines:
                yield lines

    def looks(self):
        """How often the status was asked for since the last time."""
        count = self.asked.count("/guard/status")
        self.asked[:] = []
        return count

    def sent(self):
        """The orders of the last request, whole or changed."""
        action = self.asked.posted("/exchange")[-1]["action"]
        return action.get("orders") or [modify["order"] for modify in action["modifies"]]


@pytest.fixture
def picture(key):
    return Picture(key)


def buy(lines, coin="ETH", outcome="accepted"):
    told = lines.call("place_order", coin=coin, **BUY, client_id=f"in-{coin}")
    assert told["outcome"] == outcome, told


def test_a_close_goes_at_once_where_reads_are_known_to_fail(picture):
    with picture.agent() as lines:
        buy(lines)
        picture.show(60_000, [position("0.3")], alerts=STALE)
        picture.looks()
        told = lines.call("close_position", coin="ETH", client_id="out")
        assert (told["outcome"], picture.looks()) == ("accepted", 1), told
        (sent,) = picture.sent()
        assert (sent["s"], sent["b"], sent["r"]) == ("0.3", False, True)
        assert "last read the account 60 s ago: before your last trade in this market" in told["message"]


def test_a_close_takes_what_a_read_that_is_about_to_come_shows(picture):
    with picture.agent() as lines:
        buy(lines)
        picture.show(60_000, [position("0.1")])
        picture.read_after(1, [position("0.3")])
        told = lines.call("close_position", coin="ETH", client_id="out")
        assert picture.sent()[0]["s"] == "0.3"
        assert "last read the account" not in told["message"]


def test_a_close_goes_by_what_is_seen_where_no_read_comes(picture):
    with picture.agent() as lines:
        buy(lines)
        picture.show(60_000, [position("0.1")])
        told = lines.call("close_position", coin="ETH", client_id="out")
        assert told["outcome"] == "accepted" and picture.sent()[0]["s"] == "0.1"
        assert "what that did may be missing" in told["message"]


def test_a_close_waits_for_no_other_market_and_for_nothing_that_was_vetoed(picture):
    with picture.agent() as lines:
        buy(lines, "BTC")
        picture.verdict = "veto"
        buy(lines, "ETH", "vetoed")
        picture.verdict = "allow"
        picture.show(60_000, [position("0.1")])
        picture.looks()
        told = lines.call("close_position", coin="ETH", client_id="out")
        assert (told["outcome"], picture.looks()) == ("accepted", 1), told
        assert "last read the account" not in told["message"]


def test_an_old_picture_without_a_position_is_no_word_that_there_is_none(picture):
    with picture.agent() as lines:
        buy(lines)
        picture.show(60_000, alerts=STALE)
        told = lines.call("close_position", coin="ETH", client_id="out")
        assert (told["outcome"], told["retry"]) == ("unavailable", "later")
        assert "shows no position in ETH, and it is old" in told["message"] and "reduce_only" in told["message"]
        # What is said to be held is sold without it.
        exit = {"coin": "ETH", "side": "sell", "type": "limit", "size": "0.2", "limit_price": "2400", "tif": "ioc"}
        told = lines.call("place_order", **exit, reduce_only=True, client_id="out")
        assert told["outcome"] == "accepted" and picture.sent()[0]["r"] is True
        picture.show(0)
        told = lines.call("close_position", coin="ETH", client_id="none")
        assert (told["outcome"], told["rule"]["id"]) == ("invalid", "no_position")


def test_an_old_picture_is_no_limit_to_what_is_closed(picture):
    with picture.agent() as lines:
        picture.show(60_000, [position("0.1")], alerts=STALE)
        told = lines.call("close_position", coin="ETH", size="0.3", client_id="out")
        assert told["outcome"] == "accepted" and picture.sent()[0]["s"] == "0.3"
        assert "its reads fail now" in told["message"]
        picture.show(0, [position("0.1")])
        told = lines.call("close_position", coin="ETH", size="0.3", client_id="much")
        assert (told["outcome"], told["rule"]["id"]) == ("invalid", "position_size")


def test_a_change_waits_only_for_what_it_takes_from_the_picture(picture):
    with picture.agent() as lines:
        buy(lines)
        for resting, change in ((stop("0.2"), {"new_price": "2450"}), (order("0.2"), {"new_price": "2410", "new_size": "0.1"})):
            picture.show(60_000, orders=[resting])
            picture.looks()
            told = lines.call("modify_order", coin="ETH", order_id=5, **change)
            assert (told["outcome"], picture.looks()) == ("accepted", 1), told
            assert "last read the account" in told["message"]
        # What is left of an entry is taken from the picture.
        picture.show(60_000, orders=[order("0.2")])
        picture.read_after(1, [])
        told = lines.call("modify_order", coin="ETH", order_id=5, new_price="2410")
        assert (told["outcome"], told["rule"]["id"]) == ("invalid", "order_unknown")
        picture.show(60_000, alerts=STALE)
        picture.looks_until_read = None
        told = lines.call("modify_order", coin="ETH", order_id=5, new_price="2410")
        assert told["outcome"] == "unavailable" and "it is old" in told["message"]


def test_a_list_says_that_it_is_old_and_waits_for_no_read_that_fails(picture):
    with picture.agent() as lines:
        buy(lines)
        picture.show(60_000, [position("0.1")], alerts=STALE)
        picture.looks()
        for tool in ("get_positions", "get_open_orders", "get_status"):
            told = lines.call(tool)
            assert (picture.looks(), "before what you did last" in told["caution"]) == (1, True), told
        picture.show(0, [position("0.3")])
        assert lines.call("get_positions")["caution"] is None
