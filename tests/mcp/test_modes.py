"""The official client in its three modes: what it is offered, and a trade in each."""

import mcp
import pytest

from agent import MODES, run

NAMES = [
    "get_status",
    "get_rules",
    "list_decisions",
    "list_events",
    "get_report",
    "get_fills",
    "get_positions",
    "get_open_orders",
    "get_markets",
    "place_order",
    "modify_order",
    "cancel_order",
    "close_position",
    "set_leverage",
    "pull_kill_switch",
]
# Read-only, destructive, idempotent, open world.
HINTS = {
    **{name: (True, False, True, False) for name in NAMES[:6]},
    **{name: (True, False, True, True) for name in NAMES[6:9]},
    **{name: (False, True, False, True) for name in ("place_order", "modify_order", "close_position")},
    **{name: (False, True, True, True) for name in ("cancel_order", "set_leverage", "pull_kill_switch")},
}


@pytest.mark.parametrize("mode", MODES)
def test_a_client_of_each_era_is_served(stand, mode):
    async def body():
        async with stand.sessions.open("--network", "testnet", mode=mode) as agent:
            assert list(agent.tools) == NAMES
            for name, tool in agent.tools.items():
                hints = tool["annotations"]
                kinds = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
                assert tuple(hints[kind] for kind in kinds) == HINTS[name], name
                assert ("outputSchema" in tool) == (not hints["readOnlyHint"])
            if mode != "2026-07-28":
                assert "veto is final" in agent.client.instructions
            status = await agent.call("get_status")
            assert (status["mode"], status["kill"], status["healthy"]) == (
                "testnet",
                {"pulled": False, "reason": None},
                True,
            )
            order = {"coin": "ETH", "side": "buy", "type": "limit", "size": "0.1", "limit_price": "2400"}
            placed = await agent.trade("place_order", "accepted", **order, client_id=mode)
            assert placed["order"]["status"] == "resting" and placed["order"]["client_id"] == mode
            with pytest.raises(mcp.MCPError) as unknown:
                await agent.client.call_tool("release_kill_switch", {})
            assert unknown.value.error.code == -32602

    run(body)


def test_a_server_that_only_reads_neither_lists_nor_runs_what_writes(stand):
    async def body():
        async with stand.sessions.open("--read-only") as agent:
            assert list(agent.tools) == NAMES[:9]
            assert (await agent.call("get_status"))["read_only"] is True
            assert (await agent.call("get_rules"))["rules"]
            for name in NAMES[9:]:
                with pytest.raises(mcp.MCPError) as unknown:
                    await agent.client.call_tool(name, {"reason": "x"})
                assert unknown.value.error.code == -32602
        assert stand.guard.status()["killed"] is None

    run(body)
