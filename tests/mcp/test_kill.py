"""The kill switch: it waits for nobody."""

import contextlib
import json
import os
import signal
import subprocess
import threading

import anyio

from agent import Lines, request, run
from harness import GUARD, PATIENCE_S, environment, until
from pretend import STATUS, guard_that_says

NOW = {"coin": "ETH", "side": "buy", "type": "market", "size": "0.1"}


def test_a_kill_closes_everything_and_is_told(stand):
    stand.hold("ETH", "0.4", "2500")

    async def body():
        async with stand.sessions.open() as agent:
            told = await agent.trade("pull_kill_switch", "accepted", reason="the news")
            assert told["kill"] == {"pulled": True, "reason": "the news"}
            assert stand.guard.status()["killed"] == "the news"
            until("all to be closed", lambda: stand.venue.position("ETH") == "0")
            again = await agent.trade("pull_kill_switch", "accepted", reason="once more")
            assert again["kill"]["reason"] == "the news", "the first reason stands"
            assert (await agent.call("get_status"))["kill"] == {"pulled": True, "reason": "the news"}
        (kill,) = stand.guard.events("kill")
        assert kill["reason"].startswith("the news")

    run(body)


def test_an_order_that_hangs_holds_up_no_kill(stand):
    async def body():
        async with stand.sessions.open() as agent:
            stand.venue.do("fault", on="order", kind="stall", times=1)
            ended, before = [], len(stand.venue.requests())

            async def hang():
                ended.append(await agent.call("place_order", **NOW, client_id="hangs"))

            async with anyio.create_task_group() as group:
                group.start_soon(hang)
                # One that was decided and not sent by then would not be done at all.
                while len(stand.venue.requests()) == before:
                    await anyio.sleep(0.02)
                await agent.trade("pull_kill_switch", "accepted", reason="stuck")
                assert ended == [], "the order was still under way"
            assert ended[0]["outcome"] == "unknown"

    run(body)


def test_with_the_guard_down_the_kill_file_is_written(stand):
    async def body():
        kill_file = stand.guard.home / "kill"
        async with stand.sessions.open("--kill-file", kill_file) as agent:
            stand.guard.end()
            told = await agent.trade("pull_kill_switch", "accepted", reason="nobody there")
            assert "kill file" in told["message"] and told["kill"] == {"pulled": True, "reason": "nobody there"}
            assert kill_file.read_text().splitlines()[0] == "nobody there"
            await agent.trade("pull_kill_switch", "accepted", reason="again")
            assert kill_file.read_text().splitlines()[0] == "nobody there"

    run(body)


def test_with_the_guard_down_and_no_kill_file_it_says_that_nothing_is_pulled(stand):
    async def body():
        async with stand.sessions.open() as agent:
            stand.guard.end()
            told = await agent.trade("pull_kill_switch", "unavailable", reason="nobody there")
            assert "NOT pulled" in told["message"] and told["retry"] == "later"
            assert told["kill"] == {"pulled": None, "reason": None}
        assert not (stand.guard.home / "kill").exists()

    run(body)


def test_with_a_guard_that_hangs_the_kill_file_is_written(stand):
    kill_file = stand.guard.home / "kill"
    with Lines(*stand.sessions.flags("--kill-file", kill_file)) as lines:
        # It serves, so that the guard was there when it began.
        assert lines.ask(request("ping"))["result"] == {}
        os.kill(stand.guard.process.pid, signal.SIGSTOP)
        try:
            told = lines.call("pull_kill_switch", reason="it hangs")
            assert told["outcome"] == "accepted" and kill_file.exists()
        finally:
            os.kill(stand.guard.process.pid, signal.SIGCONT)
        until("the guard to see it", lambda: stand.guard.status()["killed"] is not None)


def test_input_that_ends_ends_the_server_also_while_a_call_hangs(stand):
    with Lines(*stand.sessions.flags()) as lines:
        stand.venue.do("fault", on="order", kind="stall", times=1)
        lines.send(request("tools/call", name="place_order", arguments={**NOW, "client_id": "hangs"}))
        until("the order to be decided", lambda: stand.guard.events("decision"))
        assert lines.end() == 0
        assert lines.next() is None, "no answer was made up"
    with Lines(*stand.sessions.flags()) as lines:
        assert lines.ask(request("ping"))["result"] == {}
        lines.send(request("tools/call", 2, name="get_status", arguments={}))
        lines.process.stdin.close()
        assert lines.next()["id"] == 2, "what was asked before the end is answered"
        assert lines.process.wait(60) == 0


@contextlib.contextmanager
def server_that_nobody_reads(stand):
    """A server with full hands: what it answers stays in the pipe."""
    command = [GUARD, *stand.sessions.flags()]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    # Writing to a server that hangs would wait for good; one that is ended like this fails its test.
    end = threading.Timer(PATIENCE_S, server.kill)
    end.start()
    try:
        yield server
    finally:
        end.cancel()
        server.kill()
        server.communicate()


def send(server, number, method, **params):
    server.stdin.write(json.dumps(request(method, number, **params)).encode() + b"\n")
    server.stdin.flush()


def test_answers_that_nobody_reads_hold_up_no_kill_and_no_end(stand):
    with server_that_nobody_reads(stand) as server:
        for number in range(50):
            # Each of these answers is long, and few fill the pipe.
            send(server, number, "tools/list")
        send(server, 50, "tools/call", name="pull_kill_switch", arguments={"reason": "nobody listens"})
        until("the kill", lambda: stand.guard.status()["killed"] == "nobody listens")
        server.stdin.close()
        assert server.wait(PATIENCE_S) == 0
        server.stdin = None


def test_a_client_that_reads_nothing_is_taken_for_gone(stand):
    with server_that_nobody_reads(stand) as server:
        with contextlib.suppress(BrokenPipeError):
            for number in range(20_000):
                send(server, number, "tools/list")
        assert server.wait(PATIENCE_S) == 0
        server.stdin = None


def test_a_client_that_is_taken_for_gone_has_its_kill_pulled(stand):
    with server_that_nobody_reads(stand) as server:
        for number in range(1000):
            send(server, number, "tools/list")
        send(server, 1000, "tools/call", name="pull_kill_switch", arguments={"reason": "nobody listens"})
        until("the kill", lambda: stand.guard.status()["killed"] == "nobody listens")
        assert server.wait(PATIENCE_S) == 0


def test_a_kill_under_way_when_the_input_ends_is_pulled(stand):
    kill_file = stand.guard.home / "kill"
    with Lines(*stand.sessions.flags("--kill-file", kill_file)) as lines:
        assert lines.ask(request("ping"))["result"] == {}
        os.kill(stand.guard.process.pid, signal.SIGSTOP)
        try:
            arguments = {"reason": "the host is going"}
            lines.send(request("tools/call", 2, name="pull_kill_switch", arguments=arguments))
            lines.process.stdin.close()
            assert lines.process.wait(PATIENCE_S) == 0
            assert kill_file.read_text().splitlines()[0] == "the host is going"
        finally:
            os.kill(stand.guard.process.pid, signal.SIGCONT)


def test_an_answer_that_names_no_kill_is_no_word_that_it_is_pulled(key, tmp_path):
    with guard_that_says({**STATUS, "mode": "testnet"}, {"/guard/kill": (200, {"status": "ok"})}) as (url, _):
        with Lines("mcp", "--guard-url", url, "--key-file", key) as lines:
            told = lines.call("pull_kill_switch", reason="x")
            assert told["outcome"] == "unknown" and "MAY be pulled" in told["message"]
            assert told["kill"] == {"pulled": None, "reason": None}
        with Lines("mcp", "--guard-url", url, "--key-file", key, "--kill-file", tmp_path / "kill") as lines:
            assert lines.call("pull_kill_switch", reason="x")["outcome"] == "accepted"
            assert (tmp_path / "kill").exists()


def test_a_kill_file_that_the_guard_does_not_watch_is_told_of(key, tmp_path):
    status = {**STATUS, "mode": "testnet", "kill_file": "/elsewhere/kill"}
    with guard_that_says(status, {"/guard/kill": (503, {"code": "busy", "msg": "", "data": None})}) as (url, _):
        with Lines("mcp", "--guard-url", url, "--key-file", key, "--kill-file", tmp_path / "kill") as lines:
            told = lines.call("pull_kill_switch", reason="x")
            assert told["outcome"] == "unknown" and told["kill"]["pulled"] is None
            assert f"written is {tmp_path / 'kill'}, while the guard named /elsewhere/kill" in told["message"]
            assert (tmp_path / "kill").exists()


def test_a_kill_file_where_no_guard_was_seen_may_stop_nothing(stand, tmp_path):
    file = tmp_path / "kill"
    stand.guard.end()
    with Lines(*stand.sessions.flags("--kill-file", file)) as lines:
        told = lines.call("pull_kill_switch", reason="x")
        assert told["outcome"] == "unknown" and told["kill"] == {"pulled": None, "reason": None}
        assert f"written is {file}, in a folder that looks like no home of a guard" in told["message"]
        assert file.read_text().startswith("x")


def test_what_stands_there_and_is_no_file_is_no_word_that_it_is_pulled(stand):
    kill_file = stand.guard.home / "kill"
    with Lines(*stand.sessions.flags("--kill-file", kill_file)) as lines:
        assert lines.ask(request("ping"))["result"] == {}
        stand.guard.end()
        kill_file.mkdir()
        told = lines.call("pull_kill_switch", reason="x")
        assert told["outcome"] == "unknown" and told["kill"] == {"pulled": None, "reason": None}
        assert f"{kill_file} is no regular file" in told["message"]
        assert f"svc-guard --home {stand.guard.home} kill --reason" in told["message"]


def test_the_home_that_was_named_stands_in_the_way_out(stand):
    home = stand.guard.home
    stand.guard.end()
    with Lines("--home", home, *stand.sessions.flags()) as lines:
        told = lines.call("pull_kill_switch", reason="x")
        assert told["outcome"] == "unavailable"
        assert f"svc-guard --home {home} kill --reason" in told["message"]
