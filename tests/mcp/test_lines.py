"""Bare lines: the handshake, both eras side by side, and lines that no honest client sends."""

import contextlib
import json
import os
import subprocess

import pytest

from agent import Lines, request
from harness import GUARD, PATIENCE_S, environment
from schemas import LEGACY, MODERN, check_answer

VERSION, CAPABILITIES = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"


def modern(method, number=1, version=MODERN, **params):
    return request(method, number, **params, _meta={VERSION: version, CAPABILITIES: {}})


@pytest.fixture
def lines():
    """A server whose guard is not there; what is asked here needs none."""
    with Lines("mcp", "--read-only", "--guard-url", "http://127.0.0.1:1") as lines:
        yield lines
        assert lines.ask(request("ping", "last"))["result"] == {}, "served on afterwards"
        assert lines.end() == 0


def error(answer):
    return answer["error"]["code"]


@pytest.mark.parametrize(
    "asked, told",
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", LEGACY),
        ("1999-01-01", LEGACY),
    ],
)
def test_the_handshake_agrees_on_a_revision(lines, asked, told):
    client = {"name": "x", "version": "1"}
    answer = lines.ask(request("initialize", protocolVersion=asked, capabilities={}, clientInfo=client))["result"]
    assert answer["protocolVersion"] == told
    assert answer["serverInfo"]["name"] == "svc-guard" and "veto is final" in answer["instructions"]
    lines.send({"jsonrpc": "2.0", "method": "notifications/initialized"})


def test_eras_are_told_apart_request_by_request(lines):
    found = lines.ask(modern("server/discover"))["result"]
    assert (found["supportedVersions"], found["resultType"]) == ([MODERN], "complete")
    assert lines.ask(request("initialize", 2, protocolVersion=LEGACY))["result"]["protocolVersion"] == LEGACY
    new, old = lines.ask(modern("tools/list", 3))["result"], lines.ask(request("tools/list", 4))["result"]
    assert new["tools"] == old["tools"] and len(new["tools"]) == 9
    assert new["ttlMs"] >= 0 and new["cacheScope"] == "private" and "resultType" not in old
    called = lines.ask(modern("tools/call", 5, name="get_status"))["result"]
    assert called["resultType"] == "complete" and called["structuredContent"]["outcome"] == "unavailable"
    # The stateless era has no ping.
    assert error(lines.ask(modern("ping", 6))) == -32601


def test_what_the_stateless_era_demands(lines):
    answer = lines.ask(modern("tools/list", version="2030-01-01"))
    assert answer["error"]["data"] == {"supported": [MODERN], "requested": "2030-01-01"}
    assert error(answer) == -32022
    assert error(lines.ask(modern("tools/list", version=LEGACY))) == -32022
    assert error(lines.ask(request("server/discover"))) == -32602
    assert error(lines.ask(request("tools/list", _meta={VERSION: MODERN}))) == -32602
    assert error(lines.ask(request("tools/list", _meta={CAPABILITIES: {}}))) == -32602
    assert error(lines.ask(request("tools/list", _meta={VERSION: 7, CAPABILITIES: {}}))) == -32602


DEEP = "[" * 100_000 + "]" * 100_000
# The line, the code of its refusal, and the id that could be read in it.
BAD = [
    (b"this is no JSON", -32700, None),
    (b"{", -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping"} {"more":1}', -32700, None),
    (b'\xff\xfe{"jsonrpc":"2.0"}', -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}', -32700, None),
    (DEEP.encode(), -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"}", -32700, None),
    (b"[]", -32600, None),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]', -32600, None),
    (b"7", -32600, None),
    (b"null", -32600, None),
    (b'"ping"', -32600, None),
    (b"{}", -32600, None),
    (b'{"id":1,"method":"ping"}', -32600, 1),
    (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":99999999999999999999999,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":1}', -32600, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}', -32602, 1),
    (b"x" * 300_000, -32600, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"y" * 2_000_000 + b'"}}', -32600, None),
]


@pytest.mark.parametrize("line, code, id", BAD, ids=range(len(BAD)))
def test_a_line_that_is_no_request_is_refused(lines, line, code, id):
    lines.send(line)
    answer = lines.next()
    check_answer(answer, None, {})
    assert (error(answer), answer["id"]) == (code, id)


CALLS = [
    ("no/such", {}, -32601),
    ("resources/list", {}, -32601),
    ("prompts/list", {}, -32601),
    ("logging/setLevel", {"level": "debug"}, -32601),
    ("x" * 5000, {}, -32601),
    ("tools/list", {"cursor": "x"}, -32602),
    ("tools/call", {}, -32602),
    ("tools/call", {"name": 7}, -32602),
    ("tools/call", {"name": "no_such"}, -32602),
    ("tools/call", {"name": "get_status", "arguments": [1]}, -32602),
    ("tools/call", {"name": "get_status", "arguments": "x"}, -32602),
]


@pytest.mark.parametrize("method, params, code", CALLS, ids=range(len(CALLS)))
def test_a_request_that_cannot_stand_is_refused(lines, method, params, code):
    for number in (7, "seven", -1, 0, ""):
        assert error(lines.ask(request(method, number, **params))) == code
    assert error(lines.ask(modern(method, **params))) == code


def test_notifications_and_answers_are_passed_over(lines):
    for line in (
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "method": "notifications/no_such"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "get_status"}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
        "",
        "   ",
    ):
        lines.send(line)


def test_arguments_of_wrong_shapes_are_named(lines):
    for arguments, name in (
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": -1}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"limit": [1]}, "limit"),
        ({"before": "x"}, "before"),
        ({"more": 1}, "more"),
        ({"l\u202eimit": 1}, "limit"),
        ({str(number): number for number in range(100)}, "arguments"),
    ):
        told = lines.call("list_events", **arguments)
        assert (told["outcome"], told["rule"]["id"]) == ("invalid", f"argument_{name}"), told
    # Twice the same name: each reader would take another one.
    lines.send('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_events","arguments":{"limit":1,"limit":2}}}')
    assert lines.next()["result"]["structuredContent"]["rule"]["observed"] == "it twice"
    lines.send('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}')
    assert error(lines.next()) == -32602


def test_many_calls_at_once_are_bounded_and_all_are_answered(lines):
    count = 300
    for number in range(count):
        lines.send(request("tools/call", number, name="get_status", arguments={}))
    answers = [lines.next() for _ in range(count)]
    assert sorted(answer["id"] for answer in answers) == list(range(count))
    assert {answer["result"]["structuredContent"]["outcome"] for answer in answers} == {"unavailable"}


def test_a_line_without_an_end_is_read_at_the_end_of_input():
    with Lines("mcp", "--read-only", "--guard-url", "http://127.0.0.1:1") as lines:
        lines.process.stdin.write(json.dumps(request("ping")).encode())
        lines.process.stdin.close()
        assert lines.next()["result"] == {} and lines.next() is None
        assert lines.process.wait(60) == 0


def test_nobody_who_listens_ends_the_server():
    ours, theirs = os.pipe()
    command = [GUARD, "mcp", "--read-only", "--guard-url", "http://127.0.0.1:1"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=theirs, env=environment())
    os.close(theirs)
    os.close(ours)
    try:
        with contextlib.suppress(BrokenPipeError):
            for _ in range(100_000):
                server.stdin.write(json.dumps(request("ping")).encode() + b"\n")
                server.stdin.flush()
        assert server.wait(PATIENCE_S) == 0
    finally:
        server.kill()
        server.wait()
