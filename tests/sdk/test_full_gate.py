"""A gate that is full, as the official SDK sees it: an error of its own kind with the reason in it, and never a broken line."""

import json
import socket
from urllib.parse import urlparse

import pytest
from hyperliquid.exchange import Exchange
from hyperliquid.utils.error import ServerError

from conftest import went_well
from harness import ACCOUNT, until

GTC = {"limit": {"tif": "Gtc"}}
# More than may wait for the venue at a time.
MANY = 60


@pytest.fixture
def mode():
    return "testnet"


@pytest.fixture
def strangers(guard):
    """Connections whose question hangs at the venue."""
    address = urlparse(guard.url)
    body = json.dumps({"type": "l2Book", "coin": "ETH"})
    head = f"POST /info HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    held = []

    def ask():
        line = socket.create_connection((address.hostname, address.port))
        line.sendall((head + body).encode())
        held.append(line)

    yield ask
    for line in held:
        line.close()


def test_the_sdk_sees_a_full_gate_as_a_server_error_and_trades_on(stand, strangers):
    stand.venue.do("fault", on="l2Book", kind="stall", times=1_000_000)
    for _ in range(MANY):
        strangers()

    def refused():
        try:
            stand.bot.info.timeout = 5
            stand.bot.info.l2_snapshot("ETH")
        except ServerError as error:
            return error
        except OSError:
            # It found a place, and hangs as all others do.
            return None

    error = until("the gate to be full", refused)
    told = json.loads(error.message)
    assert (error.status_code, told["code"]) == (503, "busy"), error.message
    assert told["msg"]
    assert went_well(stand.bot.order("BTC", True, 0.01, 59800, GTC))


def test_four_clients_start_one_after_the_other(stand):
    """Each asks for all markets as it starts; a share of the whole budget has room for that beside the guard's own reads."""
    for _ in range(4):
        bot = Exchange(stand.bot.wallet, base_url=stand.guard.url, account_address=ACCOUNT)
        assert bot.info.all_mids()["BTC"]
    assert went_well(bot.order("BTC", True, 0.01, 59800, GTC))
    assert [request["reply"]["status"] for request in stand.venue.requests()].count("err") == 0
