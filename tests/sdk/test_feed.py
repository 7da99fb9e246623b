"""The unmodified SDK on the simulated venue's own socket, and through the guard: it takes what is pushed for the venue's."""

import queue

import pytest
from hyperliquid.info import Info

from harness import ACCOUNT, PATIENCE_S

# All that this SDK can subscribe to, but for a feed that the venue serves no longer.
OF_USER = ["orderUpdates", "userEvents", "userFills", "userFundings", "userNonFundingLedgerUpdates"]
OF_COIN = ["l2Book", "trades", "bbo", "activeAssetCtx"]
OTHERS = [
    {"type": "allMids"},
    {"type": "candle", "coin": "BTC", "interval": "1m"},
    {"type": "activeAssetData", "user": ACCOUNT, "coin": "BTC"},
]
# What says nothing before something has happened, or an empty list that the SDK keeps to itself.
QUIET = ["orderUpdates", "userEvents", "trades"]


@pytest.fixture(params=["testnet"])
def mode(request):
    return request.param


@pytest.fixture(params=["venue", "guard"])
def info(request, venue):
    # Nothing but the address is another.
    info = Info(request.getfixturevalue(request.param).url)
    yield info
    info.disconnect_websocket()


def hears_every_feed(venue, info):
    asked = [{"type": name, "user": ACCOUNT} for name in OF_USER] + [{"type": name, "coin": "BTC"} for name in OF_COIN]
    heard = {}
    for subscription in asked + OTHERS:
        heard[subscription["type"]] = arrived = queue.Queue()
        info.subscribe(subscription, arrived.put)
    for name in heard.keys() - set(QUIET):
        first = heard[name].get(timeout=PATIENCE_S)
        if name.startswith("user"):
            assert first["data"]["isSnapshot"] and first["data"]["user"] == ACCOUNT

    venue.do("position", coin="BTC", szi="0.5", entry_px="60000")
    fill = heard["userFills"].get(timeout=PATIENCE_S)["data"]["fills"][0]
    assert (fill["coin"], fill["sz"], fill["startPosition"], fill["dir"]) == ("BTC", "0.5", "0.0", "Open Long")
    assert heard["userEvents"].get(timeout=PATIENCE_S)["data"]["fills"] == [fill]
    while heard["trades"].get(timeout=PATIENCE_S)["data"][0]["tid"] != fill["tid"]:
        pass
    rests = {"a": info.name_to_asset("BTC"), "b": True, "p": "59000", "s": "0.01", "r": False}
    venue.do("order", **rests, t={"limit": {"tif": "Gtc"}})
    assert heard["orderUpdates"].get(timeout=PATIENCE_S)["data"][0]["status"] == "open"
    venue.do("deposit", usd="5")
    update = heard["userNonFundingLedgerUpdates"].get(timeout=PATIENCE_S)["data"]["nonFundingLedgerUpdates"][0]
    assert update["delta"] == {"type": "deposit", "usdc": "5.0"}
    venue.do("price", coin="BTC", px="61000")
    assert heard["bbo"].get(timeout=PATIENCE_S)["data"]["bbo"][0]["px"] == "60999.0"
    assert heard["candle"].get(timeout=PATIENCE_S)["data"]["h"] == "61000.0"


def test_every_feed_of_the_sdk_arrives(venue, info):
    hears_every_feed(venue, info)


def test_a_bots_own_address_is_the_accounts(venue, stand):
    # Bots that know nothing but their key ask for its address, in the case in which libraries write it.
    address = stand.bot.wallet.address
    info = Info(stand.guard.url)
    heard = queue.Queue()
    info.subscribe({"type": "userFills", "user": address}, heard.put)
    assert heard.get(timeout=PATIENCE_S)["data"]["user"] == address
    venue.do("position", coin="BTC", szi="0.5", entry_px="60000")
    told = heard.get(timeout=PATIENCE_S)["data"]
    assert (told["user"], told["fills"][0]["sz"]) == (address, "0.5")
    info.disconnect_websocket()


def test_a_fill_is_left_at_once(venue, stand):
    info = Info(stand.guard.url)
    heard = queue.Queue()
    info.subscribe({"type": "userFills", "user": ACCOUNT}, heard.put)
    assert heard.get(timeout=PATIENCE_S)["data"]["isSnapshot"]
    venue.do("position", coin="BTC", szi="0.05", entry_px="60000")
    assert heard.get(timeout=PATIENCE_S)["data"]["fills"][0]["sz"] == "0.05"
    reply = stand.bot.order("BTC", False, 0.05, 59000, {"limit": {"tif": "Ioc"}}, reduce_only=True)
    assert (reply["guard"]["verdict"], reply["guard"]["code"]) == ("allow", "reduces")
    assert venue.position("BTC") == "0"
    info.disconnect_websocket()
