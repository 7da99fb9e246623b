"""From nothing to trading: an empty home that sets itself up, and the SDK straight at the simulated venue."""

import stat

import eth_account
import pytest
from hyperliquid.exchange import Exchange
from hyperliquid.info import Info
from hyperliquid.utils.error import ClientError, ServerError
from hyperliquid.utils.types import Cloid

from conftest import Stand
from contract import check_event, check_events, check_status
from harness import ACCOUNT, WALLET_KEY, Guard, Venue, new_home, svc_guard, until

GTC = {"limit": {"tif": "Gtc"}}


@pytest.fixture
def mode():
    return "paper"


def test_empty_home_sets_itself_up_from_its_environment(venue, guard, tmp_path):
    rules = svc_guard(guard.home, "config", "get", "rules").strip()
    (tmp_path / "second").mkdir()
    home = new_home(tmp_path / "second", venue)
    fresh = Guard(home, tmp_path / "second.log", SVC_GUARD_RULES=rules, SVC_GUARD_ACCOUNT=ACCOUNT)
    try:
        key_file = home / "client-key"
        assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
        fresh.client_key = key_file.read_text().strip()
        stand = Stand("paper", venue, fresh)
        reply = stand.bot.order("BTC", True, 0.01, 59800, GTC)
        assert stand.decided(reply)["code"] == "resized"
        status = fresh.status()
        assert (status["mode"], status["account"], status["rules"]) == ("paper", ACCOUNT, rules)
        assert status["clients"] == [stand.client]
        for path, text in fresh.written().items():
            if path != str(key_file):
                assert fresh.client_key[2:] not in text, path
        assert fresh.stop() == 0
    finally:
        fresh.end()


def test_events_are_whole_and_gapless_over_a_restart(venue, guard, tmp_path):
    stand = Stand("paper", venue, guard)
    for px in (59000, 59100, 59200):
        stand.bot.order("BTC", True, 0.01, px, GTC)
    assert guard.stop() == 0
    again = Guard(guard.home, guard.log)
    try:
        # It listens while its first event is still on its way to the disk.
        events = until("the second start", lambda: (found := again.events()) and found[-1]["kind"] != "stopped" and found)
        check_events(events)
        assert events[0]["seq"] == 1
        kinds = [event["kind"] for event in events]
        assert kinds.count("decision") == 3 and kinds.count("started") == 2 and kinds.count("stopped") == 1
        started = [event for event in events if event["kind"] == "started"]
        assert {event["schema"] for event in started} == {1}
        check_status(again.status())
        last = again.get("/guard/events", since=events[-1]["seq"]).json()
        assert last["events"] == [] and last["last"] == events[-1]["seq"] and last["oldest"] == 1
        assert again.get("/guard/events", since=events[-2]["seq"]).json()["events"] == events[-1:]
    finally:
        again.end()


def test_refusals_break_no_sdk(venue, guard):
    stand = Stand("paper", venue, guard)
    stranger = Exchange(eth_account.Account.from_key("0x" + "77" * 32), base_url=guard.url, account_address=ACCOUNT)
    reply = stranger.order("BTC", True, 0.01, 59800, GTC)
    assert reply["status"] == "err" and reply["response"].startswith("svc-guard veto (bad_signature): ")
    decision = guard.event(reply["guard"]["seq"])
    check_event(decision)
    assert (decision["client"], decision["signed_as"], decision["nonce"]) == (None, None, None)
    # What is an HTTP error at the venue is the SDK's own error, with the code and text that it looks for.
    with pytest.raises(ClientError) as refused:
        stand.bot.post("/exchange", {"action": {"type": "order"}})
    assert (refused.value.status_code, refused.value.error_code) == (422, "malformed")
    with pytest.raises(ClientError) as refused:
        stand.bot.post("/nowhere", {})
    assert (refused.value.status_code, refused.value.error_code) == (404, "not_found")
    venue.do("fault", on="openOrders", kind="drop_before", times=10)
    with pytest.raises(ServerError) as away:
        stand.bot.info.open_orders(ACCOUNT)
    assert away.value.status_code == 502
    assert venue.requests() == []


def test_sdk_straight_at_the_simulated_venue(tmp_path):
    venue = Venue(tmp_path / "venue.log", "testnet")
    try:
        bot = Exchange(eth_account.Account.from_key(WALLET_KEY), base_url=venue.url, account_address=ACCOUNT)
        info = Info(venue.url, skip_ws=True)
        cloid = Cloid.from_int(3)
        rests = bot.order("BTC", True, 0.01, 59000, GTC, cloid=cloid)
        oid = rests["response"]["data"]["statuses"][0]["resting"]["oid"]
        assert [order["oid"] for order in info.open_orders(ACCOUNT)] == [oid]
        moved = bot.modify_order(oid, "BTC", True, 0.02, 59100, GTC, cloid=cloid)
        assert "resting" in moved["response"]["data"]["statuses"][0]
        assert info.query_order_by_cloid(ACCOUNT, cloid)["order"]["order"]["sz"] == "0.02"
        assert bot.cancel_by_cloid("BTC", cloid)["response"]["data"]["statuses"] == ["success"]
        assert "filled" in bot.market_open("ETH", True, 0.5)["response"]["data"]["statuses"][0]
        assert info.user_state(ACCOUNT)["assetPositions"][0]["position"]["szi"] == "0.5"
        trigger = {"trigger": {"triggerPx": 2400, "isMarket": True, "tpsl": "sl"}}
        assert "error" not in bot.order("ETH", False, 0.5, 2200, trigger, True)["response"]["data"]["statuses"][0]
        venue.do("price", coin="ETH", px="2390")
        until("the stop to close the position", lambda: venue.position("ETH") == "0")
        assert bot.update_leverage(3, "SOL")["status"] == "ok"
        assert {request["verdict"] for request in venue.requests()} == {"applied"}
    finally:
        venue.end()
