"""The libraries one after another through one guard: none is turned away for what those before it have spent."""

import pytest
from hyperliquid.info import Info

from harness import PATIENCE_S, until
from test_ccxt import trades_by_ccxt
from test_feed import hears_every_feed
from rust_sdk import LISTEN, PROGRAM, trades_by_rust
from test_nktkas import leaves_what_it_is_told_of, subscribed

# Of the minute's 1200: less than an audit of everything.
STARTED = 100


@pytest.fixture
def mode():
    return "testnet"


@pytest.fixture
def listen():
    return LISTEN if PROGRAM.exists() else "127.0.0.1:0"


def has_started(stand):
    """What a start reads counts for a minute."""
    venue = stand.guard.status()["venue"]
    return venue["feed"]["audited"] and venue["weight_used"] < STARTED


def test_a_whole_share_is_enough_for_all_of_them(stand):
    if PROGRAM.exists():
        # What a start reads and all four ask for is more than a minute leaves for questions; three of them need not wait.
        # They are, and an audit of everything in the second minute too, after two minutes.
        until("the start's reads to be past", lambda: has_started(stand), 3 * PATIENCE_S)
    # A library that is turned away fails here, and so does one that what the others did is in the way of. The one in Rust is
    # among them where it is built: it takes minutes.
    trades_by_ccxt(stand)
    if PROGRAM.exists():
        trades_by_rust(stand)
    with subscribed(stand) as client:
        leaves_what_it_is_told_of(stand, client)
    info = Info(stand.guard.url)
    hears_every_feed(stand.venue, info)
    info.disconnect_websocket()
    calls = [line for line in stand.guard.get("/metrics").text.splitlines() if 'outcome="rate_limited"' in line]
    assert calls and all(line.endswith(" 0") for line in calls), calls
