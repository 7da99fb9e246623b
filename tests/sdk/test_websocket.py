"""A bot on the WebSocket: the SDK's own signatures, the venue's frames, and the same decisions as over HTTP."""

import itertools
import json
import threading
import time

import eth_account
import pytest
import requests
import websocket
from hyperliquid.utils.signing import sign_l1_action

from harness import ACCOUNT, PATIENCE_S, same, until

GTC = {"limit": {"tif": "Gtc"}}
nonces = itertools.count(time.time_ns() // 1_000_000)


def signed(stand, action):
    """The body that the SDK posts, with the signature that it makes."""
    nonce = next(nonces)
    wallet = eth_account.Account.from_key(stand.guard.client_key)
    signature = sign_l1_action(wallet, action, None, nonce, None, False)
    return {"action": action, "nonce": nonce, "signature": signature, "vaultAddress": None, "expiresAfter": None}


def order(asset, px, sz, is_buy=True, reduce_only=False, tif="Gtc"):
    wire = {"a": asset, "b": is_buy, "p": px, "s": sz, "r": reduce_only, "t": {"limit": {"tif": tif}}}
    return {"type": "order", "orders": [wire], "grouping": "na"}


class Socket:
    """One connection, frames in and out."""

    def __init__(self, stand, path="/ws", **options):
        url = stand.guard.url.replace("http://", "ws://") + path
        self.socket = websocket.create_connection(url, timeout=PATIENCE_S, suppress_origin=True, **options)
        self.ids = itertools.count(1)

    def say(self, frame):
        self.socket.send(json.dumps(frame))

    def hear(self):
        frame = self.socket.recv()
        if not frame:
            # The frame that closes it.
            raise websocket.WebSocketConnectionClosedException("closed")
        return json.loads(frame)

    def post(self, kind, payload):
        post = next(self.ids)
        self.say({"method": "post", "id": post, "request": {"type": kind, "payload": payload}})
        return post

    def answer(self, kind, payload):
        """Posts, and returns the payload of its answer, which must come in the venue's frame."""
        post = self.post(kind, payload)
        frame = self.hear()
        assert frame["channel"] == "post" and frame["data"]["id"] == post, frame
        assert frame["data"]["response"]["type"] == kind, frame
        return frame["data"]["response"]["payload"]


@pytest.fixture(params=["/ws", "/exchange"])
def socket(request, stand):
    socket = Socket(stand, request.param)
    yield socket
    socket.socket.close()


def told(stand, reply):
    """What a decision says beside its place in the journal; the ids that the guard derives name that place."""
    event = stand.guard.event(reply["guard"]["seq"])
    kept = {key: event[key] for key in ("client", "signed_as", "action", "verdict", "code", "text", "request", "pre")}
    return kept | {"changes": event.get("changes"), "via": event["via"]}


def test_the_same_requests_are_decided_as_over_http(stand, socket):
    btc, eth = stand.asset("BTC"), stand.asset("ETH")
    asked = [
        {"type": "updateLeverage", "asset": btc, "isCross": True, "leverage": 5},
        {"type": "updateLeverage", "asset": btc, "isCross": True, "leverage": 6},
        order(btc, "63000", "0.001", tif="Ioc"),
        order(btc, "60000.5", "0.001"),
        order(9_999, "1", "100"),
        order(eth, "2400", "1", is_buy=False, reduce_only=True),
        {"type": "cancel", "cancels": [{"a": eth, "o": 12345}]},
        {"type": "scheduleCancel"},
        {"type": "noop"},
    ]
    for action in asked:
        over_http = requests.post(stand.guard.url + "/exchange", json=signed(stand, action), timeout=PATIENCE_S).json()
        if over_http["guard"]["code"] == "resized":
            # The same entry again within the rule's second is another decision.
            decided_ms = stand.guard.event(over_http["guard"]["seq"])["at_ms"]
            until("the window to pass", lambda: time.time() * 1000 > decided_ms + 1_100)
        reply = socket.answer("action", signed(stand, action))
        assert reply["status"] == over_http["status"], (reply, over_http)
        assert type(reply["response"]) is type(over_http["response"]), (reply, over_http)
        first, second = told(stand, over_http), told(stand, reply)
        assert (first.pop("via"), second.pop("via")) == ("http", "websocket")
        assert same(first, second)


def test_a_bare_body_is_answered_with_the_bare_reply(stand, socket):
    socket.say(signed(stand, {"type": "noop"}))
    reply = socket.hear()
    assert (reply["status"], reply["guard"]["code"]) == ("ok", "allowed")
    assert stand.guard.event(reply["guard"]["seq"])["via"] == "websocket"


def test_questions_pings_and_subscriptions(stand, socket):
    answer = socket.answer("info", {"type": "clearinghouseState", "user": ACCOUNT})
    assert answer["type"] == "clearinghouseState"
    assert answer["data"]["marginSummary"]["accountValue"] == "10000.0"
    socket.say({"method": "ping"})
    assert socket.hear() == {"channel": "pong"}
    socket.say({"method": "subscribe", "subscription": {"type": "l2Book", "coin": "BTC"}})
    begun = socket.hear()
    assert begun["channel"] == "subscriptionResponse", begun
    whole = {"type": "l2Book", "coin": "BTC", "nSigFigs": None, "mantissa": None, "fast": False}
    assert begun["data"] == {"method": "subscribe", "subscription": whole}
    assert socket.hear()["data"]["coin"] == "BTC"
    gone = {"method": "subscribe", "subscription": {"type": "webData2", "user": ACCOUNT}}
    socket.say(gone)
    refused = socket.hear()
    assert refused["channel"] == "error"
    assert refused["data"] == f"Error parsing JSON into valid websocket request: {json.dumps(gone)}", refused
    # So is a question that the venue has not, on the same channel and without its id.
    unknown = {"method": "post", "id": 77, "request": {"type": "info", "payload": {"type": "noSuchRead"}}}
    socket.say(unknown)
    assert socket.hear() == {
        "channel": "error",
        "data": f"Error parsing JSON into valid websocket request: {json.dumps(unknown)}",
    }


@pytest.mark.parametrize("mode", ["testnet"])
def test_a_slow_order_does_not_hold_up_what_comes_after(stand, socket):
    stand.venue.do("fault", on="order", kind="delay", times=1, ms=5_000)
    slow = socket.post("action", signed(stand, order(stand.asset("BTC"), "59800", "0.001")))
    quick = socket.post("action", signed(stand, {"type": "cancel", "cancels": [{"a": stand.asset("ETH"), "o": 1}]}))
    assert [socket.hear()["data"]["id"], socket.hear()["data"]["id"]] == [quick, slow]


def test_what_is_no_request_is_a_decision_on_exchange_only(stand, socket):
    before = len(stand.guard.events("decision"))
    socket.socket.send("this is not JSON")
    answer = socket.hear()
    decisions = stand.guard.events("decision")[before:]
    if "guard" in answer:
        assert (answer["status"], answer["guard"]["code"]) == ("err", "malformed")
        assert [event["via"] for event in decisions] == ["websocket"]
    else:
        assert answer["channel"] == "error" and decisions == []
    # The connection lives on.
    assert socket.answer("action", signed(stand, {"type": "noop"}))["status"] == "ok"


def test_a_frame_that_is_too_large_ends_the_connection_and_no_other(stand):
    large, other = Socket(stand), Socket(stand)
    large.socket.send(json.dumps({"method": "ping", "padding": "x" * 300_000}))
    with pytest.raises(websocket.WebSocketException):
        while large.socket.recv_frame().opcode != websocket.ABNF.OPCODE_CLOSE:
            pass
        raise websocket.WebSocketConnectionClosedException
    other.say({"method": "ping"})
    assert other.hear() == {"channel": "pong"}


def test_connections_are_bounded_and_the_longest_silent_give_way(stand):
    sockets = [Socket(stand) for _ in range(200)]
    # Whoever comes has a way in.
    assert stand.guard.get("/guard/status").status_code == 200

    def is_served(socket):
        try:
            socket.say({"method": "ping"})
            return socket.hear() == {"channel": "pong"}
        except (websocket.WebSocketException, OSError):
            return False

    served = [is_served(socket) for socket in sockets]
    assert served[-1]
    assert 1 < sum(served) <= 128
    assert not served[0]
    for socket in sockets:
        socket.socket.close()


def test_whoever_gives_way_hears_why(stand):
    # As the SDK's own manager listens: an app of this package on a thread of its own.
    opened, ended = threading.Event(), []
    app = websocket.WebSocketApp(
        stand.guard.url.replace("http://", "ws://") + "/ws",
        on_open=lambda _: opened.set(),
        on_close=lambda _, code, text: ended.append((code, text)),
    )
    threading.Thread(target=app.run_forever, kwargs={"suppress_origin": True}, daemon=True).start()
    assert opened.wait(PATIENCE_S)
    others = [Socket(stand) for _ in range(200)]
    until("the first one to be closed", lambda: ended)
    # "Try again later", by RFC 6455's registry.
    assert ended[0][0] == 1013 and ended[0][1], ended
    for other in others:
        other.socket.close()


def test_a_page_from_elsewhere_gets_no_socket(stand):
    with pytest.raises(websocket.WebSocketBadStatusException) as refused:
        websocket.create_connection(
            stand.guard.url.replace("http://", "ws://") + "/ws", timeout=PATIENCE_S, origin="http://example.invalid"
        )
    assert refused.value.status_code == 403
