"""Each outcome of a trade, what is told of it, and that no name trades twice."""

import anyio
import pytest

from agent import Lines, request, run
from harness import Guard, until
from pretend import STATUS, UNIVERSE, guard_that_says

BUY = {"coin": "ETH", "side": "buy", "type": "limit", "size": "0.1", "limit_price": "2400"}
NOW = {"coin": "ETH", "side": "buy", "type": "market", "size": "0.1"}


def test_a_veto_tells_its_limit_and_the_actual_value(stand_of):
    stand = stand_of(rules='order_value = "10"\nmarkets = ["ETH"]\n')

    async def body():
        async with stand.sessions.open() as agent:
            told = await agent.trade("place_order", "vetoed", **BUY, client_id="big")
            assert told["rule"] == {"id": "order_value_limit", "limit": "10.00", "observed": "240.00"}
            assert "240.00" in told["message"] and "10.00" in told["message"]
            assert told["retry"] == "after_change" and told["kill"] == {"pulled": False, "reason": None}
            assert stand.guard.event(told["decision_id"])["text"] == told["guard_says"]
            other = {**BUY, "coin": "BTC", "limit_price": "59000", "size": "0.001"}
            told = await agent.trade("place_order", "vetoed", **other, client_id="btc")
            assert told["rule"] == {"id": "market_not_allowed", "limit": "ETH", "observed": "BTC"}
            assert told["retry"] == "never"
            # A veto uses no name up.
            small = {**BUY, "limit_price": "2500", "size": "0.004"}
            await agent.trade("place_order", "accepted", **small, client_id="big")
        assert len(stand.placed()) == 1

    run(body)


def test_a_size_that_is_cut_says_so(stand_of):
    stand = stand_of(rules='position = "5"\n')

    async def body():
        async with stand.sessions.open() as agent:
            told = await agent.trade("place_order", "accepted", **{**BUY, "size": "1"}, client_id="cut")
            assert any("cut from 1 to 0.2083" in change for change in told["changes"])
            assert "The guard changed it first" in told["message"]

    run(body)


def test_the_venues_refusal_is_told_in_its_words_and_uses_the_name_up(stand):
    async def body():
        async with stand.sessions.open() as agent:
            stand.venue.do("fault", on="order", kind="error", times=1, text="Insufficient margin to place order.")
            told = await agent.trade("place_order", "venue_rejected", **BUY, client_id="r")
            assert told["venue_says"] == "Insufficient margin to place order." and told["retry"] == "after_change"
            again = await agent.trade("place_order", "venue_rejected", **BUY, client_id="r")
            assert again["decision_id"] == told["decision_id"] and "new client_id" in again["message"]
            # The whole request refused, not one order of it.
            stand.venue.do("fault", on="exchange", kind="error", times=1, text="Too many open orders.")
            told = await agent.trade("cancel_order", "venue_rejected", coin="ETH", order_id=5)
            assert told["venue_says"] == "Too many open orders."

    run(body)


INVALID = [
    ({"size": "0.00001"}, "size_invalid"),
    ({"limit_price": "2400.55"}, "price_invalid"),
    ({"stop_loss_price": "2300.123"}, "price_invalid"),
    ({"stop_loss_price": "2450"}, "argument_stop_loss_price"),
    ({"take_profit_price": "2350"}, "argument_take_profit_price"),
    ({"reduce_only": True, "stop_loss_price": "2300"}, "argument_stop_loss_price"),
    ({"size": "-1"}, "argument_size"),
    ({"size": "1e3"}, "argument_size"),
    ({"size": 0}, "argument_size"),
    ({"size": "0.1000000001"}, "argument_size"),
    ({"size": ["1"]}, "argument_size"),
    ({"side": "long"}, "argument_side"),
    ({"type": "market"}, "argument_limit_price"),
    ({"limit_price": None}, "argument_limit_price"),
    ({"tif": "day"}, "argument_tif"),
    ({"coin": "../x"}, "argument_coin"),
    ({"coin": "NOSUCH"}, "market_unknown"),
    ({"client_id": ""}, "argument_client_id"),
    ({"client_id": "x" * 65}, "argument_client_id"),
    ({"client_id": 7}, "argument_client_id"),
    ({"reduce_only": "yes"}, "argument_reduce_only"),
    ({"leverage": 3}, "argument_leverage"),
    ({"reason": "x" * 201}, "argument_reason"),
]


def test_arguments_that_cannot_stand_are_named_and_nothing_is_sent(stand):
    async def body():
        async with stand.sessions.open() as agent:
            for wrong, rule in INVALID:
                told = await agent.trade("place_order", "invalid", **{**BUY, "client_id": "i", **wrong})
                assert told["rule"]["id"] == rule, told
                assert told["retry"] == "after_change"
            price = await agent.trade("place_order", "invalid", **{**BUY, "limit_price": "2400.55", "client_id": "i"})
            assert price["rule"] == {"id": "price_invalid", "limit": "2400.5 or 2400.6", "observed": "2400.55"}
        assert stand.guard.events("decision") == []

    run(body)


def in_the_dark(stand):
    """Nothing settles what has no answer, until the venue's faults are cleared: else that may be done before the agent is told."""
    for on in ("noop", "orderStatus"):
        stand.venue.do("fault", on=on, kind="drop_before", times=1000)


def test_a_lost_answer_is_unknown_and_the_same_name_tells_what_became_of_it(stand):
    async def body():
        async with stand.sessions.open() as agent:
            in_the_dark(stand)
            stand.venue.do("fault", on="order", kind="apply_then_drop", times=1)
            told = await agent.trade("place_order", "unknown", **NOW, client_id="lost")
            stand.venue.do("clear")
            assert told["retry"] == "check_first" and "same client_id" in told["message"]
            until("the guard to settle it", lambda: stand.guard.events("recovered"))
            again = await agent.trade("place_order", "accepted", **NOW, client_id="lost")
            assert again["decision_id"] == told["decision_id"] and "nothing new was sent" in again["message"]
            assert (again["order"]["status"], again["order"]["filled"]) == ("filled", "0.1")
        # Another process, as when an agent's client has died and come back.
        async with stand.sessions.open(mode="legacy") as agent:
            third = await agent.trade("place_order", "accepted", **NOW, client_id="lost")
            assert third["decision_id"] == told["decision_id"]
            other = await agent.trade("place_order", "invalid", **{**NOW, "size": "0.2"}, client_id="lost")
            assert other["rule"]["id"] == "client_id_used"
        assert len([asked for asked in stand.placed() if not asked["action"]["orders"][0]["r"]]) == 1
        assert stand.venue.position("ETH") == "0.1"

    run(body)


def test_what_never_reached_the_venue_is_told_so_and_not_sent_again(stand):
    async def body():
        async with stand.sessions.open() as agent:
            in_the_dark(stand)
            stand.venue.do("fault", on="order", kind="drop_before", times=1)
            told = await agent.trade("place_order", "unknown", **NOW, client_id="gone")
            stand.venue.do("clear")
            until("the guard to settle it", lambda: stand.guard.events("recovered"))
            again = await agent.trade("place_order", "unavailable", **NOW, client_id="gone")
            assert again["decision_id"] == told["decision_id"] and "new client_id" in again["message"]
            assert stand.venue.position("ETH") == "0"
            # Another size: the same entry twice within a second is a duplicate by the owner's rules.
            await agent.trade("place_order", "accepted", **{**NOW, "size": "0.2"}, client_id="new")
            assert stand.venue.position("ETH") == "0.2"

    run(body)


def test_while_in_doubt_the_same_name_stays_unknown(stand):
    async def body():
        async with stand.sessions.open() as agent:
            in_the_dark(stand)
            stand.venue.do("fault", on="order", kind="apply_then_drop", times=1)
            first = await agent.trade("place_order", "unknown", **NOW, client_id="doubt")
            again = await agent.trade("place_order", "unknown", **NOW, client_id="doubt")
            assert again["decision_id"] == first["decision_id"] and again["retry"] == "check_first"
            stand.venue.do("clear")
            until("the guard to settle it", lambda: stand.guard.events("recovered"))
            await agent.trade("place_order", "accepted", **NOW, client_id="doubt")
        assert stand.venue.position("ETH") == "0.1"

    run(body)


def test_two_processes_with_the_same_name_at_once_trade_once(stand):
    async def body():
        async with stand.sessions.open() as one, stand.sessions.open() as two:
            told = []

            async def trade(agent, number):
                # Each of another size: the same entry twice within a second is a duplicate by the owner's rules.
                wish = {**NOW, "size": f"0.02{number}", "client_id": f"race-{number}"}
                told.append((await agent.call("place_order", **wish))["outcome"])

            for number in range(5):
                async with anyio.create_task_group() as group:
                    for agent in (one, two, one):
                        group.start_soon(trade, agent, number)
            assert set(told) <= {"accepted", "unavailable", "unknown"} and told.count("accepted") >= 5
        assert stand.venue.position("ETH") == "0.11"
        entries = [asked for asked in stand.placed() if not asked["action"]["orders"][0]["r"]]
        assert len(entries) == 5

    run(body)


def test_the_same_name_trades_no_second_time_over_a_restart_of_the_guard(stand):
    async def body():
        async with stand.sessions.open() as agent:
            first = await agent.trade("place_order", "accepted", **NOW, client_id="kept")
            home, key, url = stand.guard.home, stand.guard.client_key, stand.guard.url
            assert stand.guard.stop() == 0
            away = await agent.trade("place_order", "unavailable", **NOW, client_id="kept")
            assert away["retry"] == "later" and away["kill"] == {"pulled": None, "reason": None}
            again = {"coin": "ETH", "client_id": "c"}
            assert (await agent.trade("close_position", "unavailable", **again))["retry"] == "later"
            assert (await agent.call("get_status"))["outcome"] == "unavailable"
            listen = url.removeprefix("http://")
            stand.guard = Guard(home, stand.folder / "guard.log", "--network", "testnet", listen=listen)
            stand.guard.client_key = key
            back = await agent.trade("place_order", "accepted", **NOW, client_id="kept")
            assert back["decision_id"] == first["decision_id"]
        assert stand.venue.position("ETH") == "0.1"

    run(body)


def test_a_pulled_kill_switch_is_told_and_final(stand):
    stand.hold("ETH", "0.4", "2500")

    async def body():
        async with stand.sessions.open() as agent:
            await agent.trade("pull_kill_switch", "accepted", reason="enough")
            told = await agent.trade("place_order", "vetoed", **BUY, client_id="late")
            assert told["rule"]["id"] == "killed" and told["retry"] == "never"
            assert "A human must release it" in told["message"]
            assert told["kill"] == {"pulled": True, "reason": "enough"}
            assert list(agent.tools)[-1] == "pull_kill_switch", "what is listed does not change"
            until("all to be closed", lambda: stand.venue.position("ETH") == "0")

    run(body)


@pytest.mark.parametrize("kind", ["garbage", "http_502"])
def test_an_answer_that_cannot_be_read_is_unknown(stand, kind):
    async def body():
        async with stand.sessions.open() as agent:
            stand.venue.do("fault", on="order", kind=kind, times=1)
            # Nor can what became of it be read, or its nonce be spent, before that is told.
            for asked in ["orderStatus", "noop"]:
                stand.venue.do("fault", on=asked, kind="http_502", times=1000)
            told = await agent.trade("place_order", "unknown", **NOW, client_id="g")
            stand.venue.do("clear")
            until("the guard to settle it", lambda: stand.guard.events("recovered"))
            outcome = "accepted" if kind == "garbage" else "unavailable"
            again = await agent.trade("place_order", outcome, **NOW, client_id="g")
            assert again["decision_id"] == told["decision_id"]

    run(body)


@pytest.mark.parametrize("own", [{"stop_loss_price": "2450"}, {}], ids=["its stop", "the guard's stop"])
def test_an_entry_whose_stop_is_refused_is_accepted_and_told_to_be_unprotected(stand, own):
    async def body():
        async with stand.sessions.open() as agent:
            stand.venue.do("setting", name="refuse_triggers", value="No triggers are taken now.")
            told = await agent.trade("place_order", "accepted", **NOW, **own, client_id="bare")
            assert told["order"]["filled"] == "0.1"
            assert told["unprotected"] is True and "WARNING" in told["message"]
            assert told["venue_says"] == "No triggers are taken now."
            # The guard gets no stop of its own either, so it closes what it cannot protect.
            until("the position to be closed", lambda: stand.venue.position("ETH") == "0")
            again = await agent.trade("place_order", "accepted", **NOW, **own, client_id="bare")
            assert again["unprotected"] is True and again["decision_id"] == told["decision_id"]
            stand.venue.do("setting", name="refuse_triggers", value=None)
            # Another size: the same entry twice within a second is a duplicate by the owner's rules.
            told = await agent.trade("place_order", "accepted", **{**NOW, "size": "0.2"}, **own, client_id="covered")
            assert told["unprotected"] is False and "WARNING" not in told["message"]

    run(body)


def test_a_server_that_dies_amid_a_trade_leaves_a_name_that_trades_no_second_time(stand):
    stand.venue.do("fault", on="order", kind="stall", times=1)
    with Lines(*stand.sessions.flags()) as lines:
        lines.send(request("tools/call", name="place_order", arguments={**NOW, "client_id": "died"}))
        until("the order to be decided", lambda: stand.guard.events("decision"))
        lines.process.kill()
        lines.process.wait()

    async def body():
        async with stand.sessions.open() as agent:
            told = await agent.call("place_order", **NOW, client_id="died")
            assert told["outcome"] in ("unknown", "accepted"), told
            until("the guard to settle it", lambda: stand.guard.events("recovered"))
            told = await agent.trade("place_order", "accepted", **NOW, client_id="died")
            assert told["order"]["filled"] == "0.1" and "nothing new was sent" in told["message"]
        assert stand.venue.position("ETH") == "0.1"
        assert len([asked for asked in stand.placed() if not asked["action"]["orders"][0]["r"]]) == 1

    run(body)


def test_what_a_name_used_again_tells_is_told_of_the_first_call(stand):
    async def body():
        async with stand.sessions.open() as agent:
            await agent.trade("place_order", "accepted", **NOW, client_id="in")
            first = await agent.trade("close_position", "accepted", coin="ETH", client_id="out")
            # Another size: the same entry twice within a second is a duplicate by the owner's rules.
            await agent.trade("place_order", "accepted", **{**NOW, "size": "0.3"}, client_id="more")
            again = await agent.trade("close_position", "accepted", coin="ETH", client_id="out")
            assert again["decision_id"] == first["decision_id"] and again["order"]["filled"] == "0.1"
            assert "close 0.1 of ETH: filled." in again["message"]
            assert stand.venue.position("ETH") == "0.3"
            # What rested then has filled since.
            rested = await agent.trade("place_order", "accepted", **BUY, client_id="rests")
            assert rested["order"]["status"] == "resting"
            stand.venue.do("price", coin="ETH", px="2390")
            until("the order to fill", lambda: stand.venue.position("ETH") != "0.3")
            again = await agent.trade("place_order", "accepted", **BUY, client_id="rests")
            assert again["order"]["status"] == "filled" and "The order is filled now." in again["message"]

    run(body)


def test_a_repeat_of_which_the_journal_cannot_tell_is_unknown(key):
    """Another process was first: this one learns of it from the guard alone."""
    lookups = []
    veto = {"seq": 7, "verdict": "veto", "code": "duplicate_order", "text": "good for one trade"}

    def decisions(path):
        lookups.append(path)
        nothing = {"code": "not_found", "msg": "", "data": None}
        return (404, nothing) if len(lookups) == 1 else (500, {**nothing, "code": "journal"})

    answers = {
        "/info": (200, UNIVERSE),
        "/guard/decision": decisions,
        "/exchange": (200, {"status": "err", "response": "veto", "guard": veto}),
    }
    with guard_that_says({**STATUS, "mode": "testnet"}, answers) as (url, asked):
        with Lines("mcp", "--guard-url", url, "--key-file", key) as lines:
            told = lines.call("place_order", **BUY, client_id="second")
            assert (told["outcome"], told["retry"]) == ("unknown", "check_first"), told
            assert "Nothing new was sent" in told["message"]
        assert asked.count("/exchange") == 1


def test_an_exit_at_market_needs_no_question_to_the_venue(key):
    def info(question):
        return (200, UNIVERSE) if question["type"] == "meta" else (502, {"code": "venue_away", "msg": "", "data": None})

    filled = {"filled": {"totalSz": "0.1", "avgPx": "2500", "oid": 9}}
    reply = {"status": "ok", "response": {"type": "order", "data": {"statuses": [filled]}}}
    answers = {
        "/info": info,
        "/guard/decision": (404, {"code": "not_found", "msg": "", "data": None}),
        "/exchange": (200, {**reply, "guard": {"seq": 7, "verdict": "allow", "code": "reduces", "text": ""}}),
    }
    held = {"coin": "ETH", "side": "long", "size": "0.1", "mark_px": "2500"}
    with guard_that_says({**STATUS, "mode": "testnet", "positions": [held]}, answers) as (url, asked):
        with Lines("mcp", "--guard-url", url, "--key-file", key) as lines:
            exit = {**NOW, "side": "sell", "reduce_only": True}
            assert lines.call("place_order", **exit, client_id="out")["outcome"] == "accepted"
            assert lines.call("place_order", **NOW, client_id="in")["outcome"] == "unavailable"
        (sent,) = asked.posted("/exchange")
        (order,) = sent["action"]["orders"]
        assert (order["p"], order["r"]) == ("2375", True)
