"""The book of money as an agent gets to see it: held to the venue's record, with what is missing beside it."""

from decimal import Decimal

import pytest

from agent import Lines, run
from harness import until
from pretend import STATUS, guard_that_says

TODAY_IS_ALL = "2020-01-01"


def total(rows, amount):
    return sum((Decimal(amount(row)) for row in rows), Decimal(0))


def test_report_and_fills_are_the_venues_record(stand):
    async def body():
        async with stand.sessions.open() as agent:
            market = {"type": "market", "side": "buy"}
            bought = await agent.trade("place_order", "accepted", coin="ETH", size=0.1, client_id="a", **market)
            await agent.trade("place_order", "accepted", coin="BTC", size=0.001, client_id="b", **market)
            until("the position", lambda: stand.position("ETH"))
            await agent.trade("close_position", "accepted", coin="ETH", size="0.04", client_id="c")
            truth = stand.venue.truth()["fills"]
            assert len({fill["coin"] for fill in truth}) == 2
            # Fills come as they happen; what is summed up is given again for some seconds.
            until("the fills on record", lambda: len(stand.guard.events("fill")) == len(truth))
            report = await told_of(agent, "get_report", lambda told: told["total"]["fills"] == len(truth))
            assert report["book_lacks"] == report["unreadable_lines"] == report["missing_events"] == 0
            for name, amount in [
                ("gross", lambda fill: fill["closedPnl"]),
                ("fees", lambda fill: fill["fee"]),
                ("volume", lambda fill: Decimal(fill["px"]) * Decimal(fill["sz"])),
            ]:
                assert Decimal(report["total"][name]) == total(truth, amount), name
            by_market = await agent.call("get_report", by="market", **{"from": TODAY_IS_ALL})
            assert {row["key"]: row["fills"] for row in by_market["rows"]} == {
                coin: sum(fill["coin"] == coin for fill in truth) for coin in ("BTC", "ETH")
            }
            fills = await agent.call("get_fills", **{"from": TODAY_IS_ALL})
            names = {"oid": "oid", "tid": "tid", "market": "coin", "px": "px", "size": "sz", "fee": "fee"}
            shown = [tuple(as_number(fill[name]) for name in names) for fill in fills["fills"]]
            assert shown == [tuple(as_number(fill[name]) for name in names.values()) for fill in reversed(truth)]
            first = next(fill for fill in truth if fill["oid"] == bought["order"]["id"])
            of_first = next(fill for fill in fills["fills"] if fill["tid"] == first["tid"])
            assert of_first["side"] == "buy" and stand.guard.event(of_first["intent"])["kind"] == "decision"
            assert of_first["client"] == stand.guard.event(of_first["intent"])["client"]
            assert (fills["fills_left_out"], fills["book_lacks"], fills["truncated"]) == (0, 0, False)
            one = await agent.call("get_fills", limit=1, **{"from": TODAY_IS_ALL})
            assert (len(one["fills"]), one["fills_left_out"]) == (1, len(truth) - 1)
            of_eth = await agent.call("get_fills", coin="eth", limit=1, **{"from": TODAY_IS_ALL})
            count = sum(fill["coin"] == "ETH" for fill in truth)
            assert (of_eth["fills"][0]["market"], of_eth["fills_left_out"]) == ("ETH", count - 1)

    run(body)


async def told_of(agent, tool, is_there):
    """An answer is given again for some seconds: another question has another one."""
    for day in range(1, 60):
        told = await agent.call(tool, **{"from": f"2020-{1 + day // 28:02}-{1 + day % 28:02}"})
        if is_there(told):
            return told
    raise AssertionError(told)


def as_number(value):
    try:
        return Decimal(value)
    except ArithmeticError:
        return value


LACKS = {
    "missing_events": 3,
    "missing_days": [{"from": None, "to": "2026-01-01"}],
    "left_out_rows": 4,
    "unreadable_lines": 5,
    "changed_lines": 6,
    "doubled_lines": 7,
    "book_lacks": 8,
}


@pytest.mark.parametrize("coin", [None, "ETH"])
def test_fills_tell_what_may_be_missing_beside_them(key, coin):
    fills = [{"market": market, "tid": tid} for tid, market in enumerate(["ETH", "BTC", "ETH", "ETH"])]
    said = {**LACKS, "fills": fills, "fills_left_out": 9, "from": "2026-01-01", "to": None}
    status = {**STATUS, "mode": "testnet"}
    with guard_that_says(status, {"/guard/report": (200, said)}) as (url, _):
        with Lines("mcp", "--guard-url", url, "--key-file", key) as lines:
            told = lines.call("get_fills", limit=2, **({"coin": coin} if coin else {}))
    assert [fill["tid"] for fill in told["fills"]] == [3, 2]
    assert {name: told[name] for name in LACKS} == LACKS
    assert told["fills_left_out"] == 9 + (1 if coin else 2)


@pytest.mark.parametrize("coin", ["xyz:GOLD", "@107", "PURR/USDC"])
def test_fills_of_every_market_can_be_asked_for(key, coin):
    fills = [{"market": market, "tid": tid} for tid, market in enumerate([coin, "ETH"])]
    said = {**LACKS, "fills": fills, "fills_left_out": 0, "from": "2026-01-01", "to": None}
    with guard_that_says({**STATUS, "mode": "testnet"}, {"/guard/report": (200, said)}) as (url, _):
        with Lines("mcp", "--guard-url", url, "--key-file", key) as lines:
            told = lines.call("get_fills", coin=coin)
    assert [fill["tid"] for fill in told["fills"]] == [0]
