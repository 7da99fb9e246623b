"""How the server is started, and what it refuses to serve."""

import eth_account
import pytest

from agent import Lines, refused, request, run
from harness import ACCOUNT, environment
from pretend import STATUS, UNIVERSE, guard_that_says

OTHER = "0x2222222222222222222222222222222222222222"


def test_mainnet_asks_for_its_account(key):
    assert "--confirm-account" in refused("mcp", "--key-file", key, "--network", "mainnet")
    with guard_that_says(STATUS) as (url, asked):
        flags = ["mcp", "--guard-url", url, "--key-file", key]
        why = refused(*flags)
        assert "--confirm-account" in why and ACCOUNT in why
        why = refused(*flags, "--network", "mainnet", "--confirm-account", OTHER)
        assert OTHER in why and ACCOUNT in why
        assert "--network asks for testnet" in refused(*flags, "--network", "testnet", "--confirm-account", ACCOUNT)
        with Lines(*flags, "--network", "mainnet", "--confirm-account", ACCOUNT) as lines:
            told = lines.call("get_status")
            assert told["mode"] == "mainnet"
            assert lines.end() == 0
        assert all(path in ("/guard/status", "/healthz") for path in asked)


def test_a_guard_that_changes_is_traded_through_no_more(key):
    status = {**STATUS, "mode": "testnet"}
    with guard_that_says(status) as (url, asked):
        with Lines("mcp", "--guard-url", url, "--key-file", key, "--network", "testnet") as lines:
            assert lines.ask(request("ping"))["result"] == {}, "it has begun, with the guard as asked for"
            status["mode"] = "mainnet"
            order = {"coin": "ETH", "side": "buy", "type": "market", "size": "1", "client_id": "x"}
            told = lines.call("place_order", **order)
            assert (told["outcome"], told["retry"]) == ("unavailable", "never")
            assert "--network asks for testnet" in told["message"]
        assert "/exchange" not in asked


def test_another_network_or_account_is_refused(stand):
    flags = stand.sessions.flags()
    assert "the guard runs in testnet mode" in refused(*flags, "--network", "paper")
    assert ACCOUNT in refused(*flags, "--confirm-account", OTHER)
    with Lines(*flags, "--network", "testnet", "--confirm-account", ACCOUNT) as lines:
        assert lines.ask(request("ping"))["result"] == {}
        assert lines.end() == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://0.0.0.0:8547",
        "http://guard.example.test:8547",
        "http://127.0.0.1.example.test:8547",
        "http://[::]:8547",
        "https://127.0.0.1:8547",
        "http://user@127.0.0.1:8547",
        "http://127.0.0.1:8547/guard",
        "127.0.0.1:8547",
        "file:///tmp/x",
    ],
)
def test_a_guard_that_is_not_on_this_machine_is_refused(key, url):
    assert "--guard-url" in refused("mcp", "--guard-url", url, "--key-file", key)


def test_the_key_is_asked_for_and_looked_at(key, tmp_path):
    why = refused("mcp")
    assert "--key-file" in why and "--read-only" in why
    # In a container a key that others can read is taken, with a warning; one that others can write nowhere.
    key.chmod(0o666)
    assert str(key) in refused("mcp", "--key-file", key)
    assert "first line" in refused("mcp", "--key-stdin")
    assert "cannot be used with" in refused("mcp", "--read-only", "--key-stdin")
    (tmp_path / "none.key").write_text("not a key\n")
    (tmp_path / "none.key").chmod(0o600)
    why = refused("mcp", "--key-file", tmp_path / "none.key")
    assert "holds no key" in why and "not a key\n" not in why.replace("holds no key", "")


def test_the_first_line_of_input_is_the_key_and_the_rest_is_protocol(stand):
    with Lines("mcp", "--guard-url", stand.guard.url, "--key-stdin", first=stand.guard.client_key) as lines:
        assert lines.ask(request("ping"))["result"] == {}
        wish = {"coin": "ETH", "leverage": 3, "margin_mode": "cross"}
        assert lines.call("set_leverage", **wish)["outcome"] == "accepted"
        assert lines.end() == 0
        assert stand.guard.client_key[2:] not in lines.stderr()


def test_no_environment_variable_is_read(stand, tmp_path):
    elsewhere = {
        "SVC_GUARD_HOME": str(tmp_path / "nowhere"),
        "SVC_GUARD_LISTEN": "127.0.0.1:1",
        "SVC_GUARD_KEY_FILE": "/nonexistent",
        "SVC_GUARD_NETWORK": "mainnet",
        "HTTP_PROXY": "http://127.0.0.1:1",
        "http_proxy": "http://127.0.0.1:1",
    }
    with Lines(*stand.sessions.flags("--network", "testnet"), env=environment(**elsewhere)) as lines:
        assert lines.call("get_status")["mode"] == "testnet"
    with Lines("--home", stand.guard.home, "mcp", "--read-only", env={}) as lines:
        # The address of the home's config, where no guard listens now.
        assert lines.call("get_status")["outcome"] == "unavailable"


def test_a_client_key_that_the_guard_does_not_know_cannot_trade(stand, key):
    with Lines("mcp", "--guard-url", stand.guard.url, "--key-file", key) as lines:
        assert lines.call("get_rules")["rules"]
        wish = {"coin": "ETH", "leverage": 3, "margin_mode": "cross"}
        told = lines.call("set_leverage", **wish)
        assert (told["outcome"], told["rule"]["id"], told["retry"]) == ("vetoed", "bad_signature", "never")
        told = lines.call("pull_kill_switch", reason="x")
        assert told["outcome"] == "unavailable" and "NOT pulled" in told["message"]
    assert stand.guard.status()["killed"] is None


def test_nothing_that_an_agent_can_reach_changes_the_set_up(stand):
    before = {path: path.read_bytes() for path in stand.guard.home.glob("*.toml")}

    async def body():
        async with stand.sessions.open() as agent:
            names = set(agent.tools)
            assert not {name for name in names if "release" in name or "client" in name or "resume" in name}
            for rest in ("rule", "config", "journal", "pair"):
                assert not {name for name in names - {"get_rules"} if rest in name}

    run(body)
    assert before == {path: path.read_bytes() for path in stand.guard.home.glob("*.toml")}


def test_a_real_mainnet_guard_wants_its_account_said(stand_of):
    stand = stand_of("mainnet")
    flags = stand.sessions.flags()
    assert "--confirm-account" in refused(*flags, "--network", "mainnet")
    # Not said, it is asked for as soon as the guard tells its mode.
    why = refused(*flags)
    assert "asks for --confirm-account" in why and ACCOUNT in why
    for network in ([], ["--network", "mainnet"]):
        why = refused(*flags, *network, "--confirm-account", OTHER)
        assert OTHER in why and ACCOUNT in why
    for network in ("paper", "testnet"):
        assert "the guard runs in mainnet mode" in refused(*flags, "--network", network, "--confirm-account", ACCOUNT)
    assert stand.guard.events("decision") == []

    async def body():
        async with stand.sessions.open("--network", "mainnet", "--confirm-account", ACCOUNT) as agent:
            assert (await agent.call("get_status"))["mode"] == "mainnet"
            order = {"coin": "ETH", "side": "buy", "type": "market", "size": "0.1", "client_id": "real"}
            told = await agent.trade("place_order", "accepted", **order)
            assert told["order"]["filled"] == "0.1" and told["unprotected"] is False
            assert stand.guard.event(told["decision_id"])["signed_as"] == "mainnet"
        assert stand.venue.position("ETH") == "0.1"

    run(body)


VETO = {"seq": 7, "verdict": "veto", "code": "malformed", "text": "no\x1b[2J"}


@pytest.mark.parametrize(
    "status, body, outcome, retry",
    [
        (422, {"code": "malformed", "msg": "x", "data": None, "status": "err", "guard": VETO}, "vetoed", "after_change"),
        (200, {"status": "ok"}, "unknown", "check_first"),
        (200, ["x"], "unknown", "check_first"),
        (500, {"code": "x", "msg": "y"}, "unknown", "check_first"),
        (504, {"code": "x", "msg": "y"}, "unknown", "check_first"),
        # No answer that a guard gives.
        (302, {"status": "ok"}, "unknown", "check_first"),
        (503, {"code": "busy", "msg": "y"}, "unavailable", "later"),
        (429, {"code": "slow_down", "msg": "y"}, "unavailable", "later"),
    ],
)
def test_whatever_the_guard_answers_is_told_for_what_it_is(key, status, body, outcome, retry):
    answers = {"/info": (200, UNIVERSE), "/exchange": (status, body)}
    with guard_that_says({**STATUS, "mode": "testnet"}, answers) as (url, asked):
        with Lines("mcp", "--guard-url", url, "--key-file", key) as lines:
            told = lines.call("set_leverage", coin="ETH", leverage=3, margin_mode="cross")
            assert (told["outcome"], told["retry"]) == (outcome, retry), told
        assert asked.count("/exchange") == 1, "nothing is sent twice"
    if outcome == "vetoed":
        assert (told["rule"]["id"], told["guard_says"], told["decision_id"]) == ("malformed", "no[2J", 7)


def test_a_guard_that_never_answers_is_waited_for_only_so_long(key):
    never = (None, None)
    answers = {"/info": (200, UNIVERSE), "/guard/events": never, "/exchange": never}
    with guard_that_says({**STATUS, "mode": "testnet"}, answers) as (url, asked):
        with Lines("mcp", "--guard-url", url, "--key-file", key) as lines:
            arguments = {"coin": "ETH", "leverage": 3, "margin_mode": "cross"}
            lines.send(request("tools/call", 1, name="set_leverage", arguments=arguments))
            lines.send(request("tools/call", 2, name="list_events", arguments={}))
            # Neither holds up what follows.
            assert lines.ask(request("ping", 3))["result"] == {}
            told = [lines.next(), lines.next()]
            outcomes = {answer["id"]: answer["result"]["structuredContent"]["outcome"] for answer in told}
            assert outcomes == {1: "unknown", 2: "unavailable"}
        assert asked.count("/exchange") == 1


def test_a_name_used_again_waits_for_the_journals_note_of_the_first_send(key):
    """The guard answers before its journal has that note, so whoever calls again at once may come before it."""
    order = {"a": 0, "b": True, "p": "2400", "s": "0.1", "r": False, "t": {"limit": {"tif": "Gtc"}}}
    sent = {"kind": "sent", "seq": 6, "decision": 5, "index": 0, "ok": False}
    refused = {"status": "ok", "response": {"type": "order", "data": {"statuses": [{"error": "No margin."}]}}}
    client = eth_account.Account.from_key(key.read_text().strip()).address.lower()
    lookups = []

    def record(path):
        lookups.append(path)
        request = {"type": "order", "orders": [{**order, "c": path.split("cloid=")[1]}], "grouping": "na"}
        decision = {"kind": "decision", "seq": 5, "verdict": "allow", "code": "allowed", "nonces": [1], "pre": []}
        decision |= {"request": request, "forward": request, "post": [], "client": client}
        noted = [{**sent, "reply": refused}] if len(lookups) > 4 else []
        return {"decisions": [{"decision": decision, "sent": noted, "intents": [], "recovered": [], "done": None}]}

    answers = {"/info": (200, UNIVERSE), "/guard/decision": (200, record)}
    with guard_that_says({**STATUS, "mode": "testnet"}, answers) as (url, asked):
        with Lines("mcp", "--guard-url", url, "--key-file", key) as lines:
            wish = {"coin": "ETH", "side": "buy", "type": "limit", "size": "0.1", "limit_price": "2400"}
            told = lines.call("place_order", **wish, client_id="again")
            assert (told["outcome"], told["venue_says"]) == ("venue_rejected", "No margin."), told
        assert "/exchange" not in asked
