"""ccxt pro, unmodified but for its addresses: all that it can watch, and an exit on the fill that it is told of."""

import asyncio

import ccxt.pro
import pytest

from harness import ACCOUNT, PATIENCE_S

BTC, PURR = "BTC/USDC:USDC", "PURR/USDC"


@pytest.fixture
def mode():
    return "testnet"


def client(stand):
    """Every address of the venue's is the guard's; a host that it should ask for all the same does not exist."""
    exchange = ccxt.pro.hyperliquid({"walletAddress": ACCOUNT, "privateKey": stand.guard.client_key})
    url = stand.guard.url
    exchange.urls = {"api": {"public": url, "private": url, "ws": {"public": url.replace("http", "ws") + "/ws"}}}
    exchange.hostname = "venue.invalid"
    return exchange


async def states(exchange):
    """What begins with all that there is."""
    book = await exchange.watch_order_book(BTC)
    assert (book["bids"][0][0], book["asks"][0][0]) == (59999, 60001)
    for symbol, px in [(BTC, 60000), (PURR, 0.2)]:
        ticker = await exchange.watch_ticker(symbol)
        assert (ticker["symbol"], ticker["last"]) == (symbol, px)
    assert (await exchange.watch_tickers())[BTC]["last"] == 60000
    assert (await exchange.watch_ohlcv(BTC))[-1][4] == 60000
    assert (await exchange.watch_balance({"type": "spot"}))["info"] == []
    assert (await exchange.watch_balance())["USDC"]["total"] > 9_000
    assert await exchange.watch_positions() == []


async def left(stand, exchange):
    """What speaks when something happens, and the exit from what it tells of."""
    asked = (exchange.watch_orders(), exchange.watch_my_trades(), exchange.watch_trades(BTC))
    orders, fills, trades = map(asyncio.ensure_future, asked)
    # They have begun, and the frames of a socket are taken in order: once the next has its subscription they have theirs.
    await asyncio.sleep(0)
    await exchange.watch_ohlcv(BTC, "5m")
    rests = {"a": stand.asset("BTC"), "b": True, "p": "59000", "s": "0.01", "r": False}
    stand.venue.do("order", **rests, t={"limit": {"tif": "Gtc"}})
    assert [order["price"] for order in await orders] == [59000]
    stand.venue.do("position", coin="BTC", szi="0.05", entry_px="60000")
    fill = (await fills)[-1]
    reply = await exchange.create_order_ws(BTC, "market", "sell", fill["amount"], fill["price"], {"reduceOnly": True})
    assert (fill["symbol"], fill["side"], reply["filled"]) == (BTC, "buy", 0.05)
    assert [trade["id"] for trade in await trades] == [fill["id"]]


async def ended(exchange):
    for what in ["order_book", "ticker", "trades", "ohlcv"]:
        assert await getattr(exchange, "un_watch_" + what)(BTC)
    for what in ["tickers", "my_trades", "orders", "positions"]:
        assert await getattr(exchange, "un_watch_" + what)()
    assert await exchange.un_watch_balance({"type": "spot"})
    # What has ended can begin anew.
    assert (await exchange.watch_balance())["USDC"]["total"] > 9_000


def trades_by_ccxt(stand):
    async def whole():
        exchange = client(stand)
        try:
            await asyncio.wait_for(scenario(exchange), PATIENCE_S)
        finally:
            await exchange.close()

    async def scenario(exchange):
        await states(exchange)
        await left(stand, exchange)
        await ended(exchange)

    asyncio.run(whole())
    last = stand.guard.events("decision")[-1]
    assert (last["verdict"], last["code"], last["via"]) == ("allow", "reduces", "websocket")
    assert stand.venue.position("BTC") == "0"


def test_all_that_it_watches_arrives_and_a_fill_is_left_at_once(stand):
    trades_by_ccxt(stand)
