"""A bot trades with the official SDK, unmodified: every call it makes, in paper mode and on a live venue."""

from hyperliquid.utils.types import Cloid

PAPER_OID = 1 << 52
GTC = {"limit": {"tif": "Gtc"}}
IOC = {"limit": {"tif": "Ioc"}}


def stop(px):
    return {"trigger": {"triggerPx": px, "isMarket": True, "tpsl": "sl"}}


def statuses(reply):
    return reply["response"]["data"]["statuses"]


def only(items):
    assert len(items) == 1, items
    return items[0]


def resting(reply):
    return only(statuses(reply))["resting"]["oid"]


def check_oid(stand, oid):
    assert isinstance(oid, int) and (oid >= PAPER_OID) == stand.is_paper


def check_attached(stand, decision, coin, entry, stop_px):
    """The forwarded action is the entry and under it the guard's own market stop."""
    forward = decision["forward"]
    assert (forward["type"], forward["grouping"]) == ("order", "normalTpsl")
    first, second = forward["orders"]
    asset = stand.asset(coin)
    assert {name: first[name] for name in "abpsrt"} == {"a": asset, "r": False, **entry}
    assert (second["a"], second["b"], second["s"], second["r"]) == (asset, not entry["b"], entry["s"], True)
    assert second["t"] == {"trigger": {"isMarket": True, "triggerPx": stop_px, "tpsl": "sl"}}


def test_limit_order_rests_with_a_stop_attached(stand):
    reply = stand.bot.order("BTC", True, 0.01, 59800, GTC)
    oid = resting(reply)
    check_oid(stand, oid)
    decision = stand.decided(reply)
    assert (decision["verdict"], decision["code"]) == ("resize", "resized")
    assert any("stop attached at 58604" in change for change in decision["changes"])
    asset = stand.asset("BTC")
    sent = {"a": asset, "b": True, "p": "59800", "s": "0.01", "r": False, "t": GTC}
    assert decision["request"] == {"type": "order", "orders": [sent], "grouping": "na"}
    assert decision["pre"] == [{"type": "updateLeverage", "asset": asset, "isCross": True, "leverage": 5}]
    check_attached(stand, decision, "BTC", {"b": True, "p": "59800", "s": "0.01", "t": GTC}, "58604")
    if not stand.is_paper:
        entry, child = stand.venue.orders("BTC")
        assert (entry["oid"], entry["limitPx"], entry["sz"], entry["side"]) == (oid, "59800.0", "0.01", "B")
        assert (child["triggerPx"], child["sz"], child["reduceOnly"]) == ("58604.0", "0.01", True)
        assert child["orderType"] == "Stop Market"
        assert stand.venue.truth()["leverage"]["BTC"] == {"is_cross": True, "value": 5}


def test_ioc_fills(stand):
    reply = stand.bot.order("ETH", False, 0.5, 2495, IOC)
    filled = only(statuses(reply))["filled"]
    check_oid(stand, filled["oid"])
    assert filled["totalSz"] == "0.5"
    decision = stand.decided(reply)
    check_attached(stand, decision, "ETH", {"b": False, "p": "2495", "s": "0.5", "t": IOC}, "2544.9")
    if not stand.is_paper:
        assert stand.venue.position("ETH") == "-0.5"
        fill = stand.venue.truth()["fills"][-1]
        assert (fill["coin"], fill["sz"], fill["oid"]) == ("ETH", "0.5", filled["oid"])


def test_ioc_away_from_the_book_matches_nothing(stand):
    reply = stand.bot.order("ETH", True, 0.5, 2400, IOC)
    assert "could not immediately match" in only(statuses(reply))["error"]
    stand.decided(reply)
    assert stand.venue.position("ETH") == "0"


def test_price_beyond_the_collar_is_pulled_and_size_beyond_the_loss_limit_is_cut(stand):
    reply = stand.bot.market_open("BTC", True, 0.5)
    decision = stand.decided(reply)
    assert (decision["verdict"], decision["code"]) == ("resize", "resized")
    entry = decision["forward"]["orders"][0]
    # 63000 asked for; 0.5% above the mid of 60000 allowed. 10000 of equity carries at most a position of its own size.
    assert entry["p"] == "60300"
    assert 0 < float(entry["s"]) * 60300 <= 10000
    assert decision["forward"]["orders"][1]["s"] == entry["s"]
    if not stand.is_paper:
        assert stand.venue.position("BTC") == entry["s"]


def test_trigger_stop_rests_as_it_came(stand):
    stand.hold("ETH", "1", "2500")
    reply = stand.bot.order("ETH", False, 1, 2300, stop(2400), reduce_only=True)
    oid = resting(reply)
    check_oid(stand, oid)
    decision = stand.decided(reply)
    assert (decision["verdict"], decision["code"]) == ("allow", "reduces")
    order = only(decision["forward"]["orders"])
    assert (order["p"], order["s"], order["r"], order["t"]) == ("2300", "1", True, stop("2400"))
    if not stand.is_paper:
        rests = only([order for order in stand.venue.orders("ETH") if order["oid"] == oid])
        assert (rests["triggerPx"], rests["sz"], rests["reduceOnly"]) == ("2400.0", "1.0", True)


def test_bulk_orders_answers_one_status_an_order_in_their_order(stand):
    first, second = Cloid.from_int(1), Cloid.from_int(2)
    reply = stand.bot.bulk_orders(
        [
            {
                "coin": "BTC",
                "is_buy": True,
                "sz": 0.01,
                "limit_px": 59000,
                "order_type": GTC,
                "reduce_only": False,
                "cloid": first,
            },
            {
                "coin": "ETH",
                "is_buy": False,
                "sz": 0.2,
                "limit_px": 2600,
                "order_type": GTC,
                "reduce_only": False,
                "cloid": second,
            },
        ]
    )
    assert len(statuses(reply)) == 2
    for status in statuses(reply):
        check_oid(stand, status["resting"]["oid"])
    decision = stand.decided(reply)
    assert [order["c"] for order in decision["request"]["orders"]] == [first.to_raw(), second.to_raw()]
    # Each goes with its own stop as its child, so that it is covered when it fills while nobody watches.
    groups = [decision["forward"], *decision["post"]]
    assert [group["grouping"] for group in groups] == ["normalTpsl"] * 2
    assert [group["orders"][0]["c"] for group in groups] == [first.to_raw(), second.to_raw()]
    for cloid in (first, second):
        assert only(stand.guard.decision(cloid=cloid.to_raw())["decisions"])["decision"] == decision
    if not stand.is_paper:
        rests = {order["oid"]: order["cloid"] for coin in ("BTC", "ETH") for order in stand.venue.orders(coin)}
        oids = [status["resting"]["oid"] for status in statuses(reply)]
        assert [rests[oid] for oid in oids] == [first.to_raw(), second.to_raw()]


def test_every_order_of_a_batch_that_fills_gets_its_stop(stand):
    wanted = {"BTC": (0.01, 60100, "58898"), "ETH": (0.2, 2505, "2454.9"), "SOL": (2, 150.3, "147.3")}
    reply = stand.bot.bulk_orders(
        [
            {"coin": coin, "is_buy": True, "sz": sz, "limit_px": px, "order_type": IOC, "reduce_only": False}
            for coin, (sz, px, _) in wanted.items()
        ]
    )
    assert [list(status) for status in statuses(reply)] == [["filled"]] * 3
    decision = stand.decided(reply)
    stops = [only(action["orders"]) for action in decision["post"]]
    assert [order["t"]["trigger"]["triggerPx"] for order in stops] == [px for _, _, px in wanted.values()]
    if not stand.is_paper:
        for coin, (sz, _, stop_px) in wanted.items():
            order = only(stand.venue.orders(coin))
            assert (order["orderType"], float(order["triggerPx"]), order["reduceOnly"]) == (
                "Stop Market",
                float(stop_px),
                True,
            )
            assert float(order["sz"]) == sz


def test_market_open_and_close(stand):
    opened = stand.bot.market_open("SOL", True, 10)
    assert only(statuses(opened))["filled"]["totalSz"] == "10.0"
    decision = stand.decided(opened)
    check_attached(stand, decision, "SOL", {"b": True, "p": "150.75", "s": "10", "t": IOC}, "147.74")
    if stand.is_paper:
        # Paper opens nothing that could be closed: a person's position stands in for it.
        stand.hold("SOL", "10", "150")
    assert stand.venue.position("SOL") == "10"

    closed = stand.bot.market_close("SOL")
    assert only(statuses(closed))["filled"]["totalSz"] == "10.0"
    decision = stand.decided(closed)
    assert (decision["verdict"], decision["code"]) == ("allow", "reduces")
    order = only(decision["forward"]["orders"])
    # An exit's price is its own affair: 5% away, far beyond the collar.
    assert (order["b"], order["p"], order["s"], order["r"]) == (False, "142.5", "10", True)
    assert stand.venue.position("SOL") == ("10" if stand.is_paper else "0")


def test_cancel(stand):
    oid = resting(stand.bot.order("BTC", True, 0.01, 59000, GTC))
    reply = stand.bot.cancel("BTC", oid)
    assert statuses(reply) == ["success"]
    decision = stand.decided(reply)
    assert decision["action"] == "cancel"
    assert decision["forward"] == {"type": "cancel", "cancels": [{"a": stand.asset("BTC"), "o": oid}]}
    assert stand.venue.orders("BTC") == []
    again = stand.bot.cancel("BTC", oid)
    assert "never placed, already canceled, or filled" in only(statuses(again))["error"]
    stand.decided(again)


def test_cancel_by_cloid(stand):
    cloid = Cloid.from_int(7)
    stand.bot.order("BTC", True, 0.01, 59000, GTC, cloid=cloid)
    reply = stand.bot.cancel_by_cloid("BTC", cloid)
    assert statuses(reply) == ["success"]
    decision = stand.decided(reply)
    assert decision["action"] == "cancelByCloid"
    named = {"asset": stand.asset("BTC"), "cloid": cloid.to_raw()}
    assert decision["forward"] == {"type": "cancelByCloid", "cancels": [named]}
    assert stand.venue.orders("BTC") == []


def test_bulk_cancel(stand):
    first = resting(stand.bot.order("BTC", True, 0.01, 59000, GTC))
    second = resting(stand.bot.order("ETH", True, 0.2, 2400, GTC))
    reply = stand.bot.bulk_cancel([{"coin": "BTC", "oid": first}, {"coin": "ETH", "oid": second}])
    assert statuses(reply) == ["success", "success"]
    stand.decided(reply)
    assert stand.venue.truth()["orders"] == []


def test_modify_order_by_oid_and_by_cloid(stand):
    oid = resting(stand.bot.order("BTC", True, 0.01, 59000, GTC))
    reply = stand.bot.modify_order(oid, "BTC", True, 0.01, 59100, GTC)
    moved = resting(reply)
    check_oid(stand, moved)
    decision = stand.decided(reply)
    assert decision["action"] == "batchModify"
    modify = only(decision["forward"]["modifies"])
    assert (modify["oid"], modify["order"]["p"], modify["order"]["s"]) == (oid, "59100", "0.01")

    cloid = Cloid.from_int(9)
    stand.bot.order("ETH", True, 0.2, 2400, GTC, cloid=cloid)
    reply = stand.bot.modify_order(cloid, "ETH", True, 0.3, 2410, GTC, cloid=cloid)
    check_oid(stand, resting(reply))
    decision = stand.decided(reply)
    modify = only(decision["forward"]["modifies"])
    assert (modify["oid"], modify["order"]["c"]) == (cloid.to_raw(), cloid.to_raw())
    if not stand.is_paper:
        entry = only([order for order in stand.venue.orders("ETH") if not order["isTrigger"]])
        assert (entry["limitPx"], entry["sz"], entry["cloid"]) == ("2410.0", "0.3", cloid.to_raw())
        entry = only([order for order in stand.venue.orders("BTC") if not order["isTrigger"]])
        assert (entry["limitPx"], entry["oid"]) == ("59100.0", moved)


def test_bulk_modify(stand):
    oids = {
        "BTC": resting(stand.bot.order("BTC", True, 0.01, 59000, GTC)),
        "ETH": resting(stand.bot.order("ETH", True, 0.2, 2400, GTC)),
    }
    new = {"BTC": (0.02, 58900), "ETH": (0.3, 2390)}
    reply = stand.bot.bulk_modify_orders_new(
        [
            {
                "oid": oids[coin],
                "order": {
                    "coin": coin,
                    "is_buy": True,
                    "sz": sz,
                    "limit_px": px,
                    "order_type": GTC,
                    "reduce_only": False,
                    "cloid": None,
                },
            }
            for coin, (sz, px) in new.items()
        ]
    )
    assert len(statuses(reply)) == 2
    for status in statuses(reply):
        check_oid(stand, status["resting"]["oid"])
    decision = stand.decided(reply)
    assert [modify["oid"] for modify in decision["forward"]["modifies"]] == list(oids.values())
    if not stand.is_paper:
        for coin, limit_px, sz in (("BTC", "58900.0", "0.02"), ("ETH", "2390.0", "0.3")):
            entry = only([order for order in stand.venue.orders(coin) if not order["isTrigger"]])
            assert (entry["limitPx"], entry["sz"]) == (limit_px, sz)


def test_update_leverage(stand):
    reply = stand.bot.update_leverage(3, "ETH")
    assert reply["response"] == {"type": "default"}
    decision = stand.decided(reply)
    asset = stand.asset("ETH")
    assert decision["forward"] == {"type": "updateLeverage", "asset": asset, "isCross": True, "leverage": 3}
    refused = stand.bot.update_leverage(6, "ETH")
    assert refused["response"].startswith("svc-guard veto (leverage_too_high): ")
    decision = stand.decided(refused)
    assert (decision["verdict"], decision["forward"]) == ("veto", None)
    if not stand.is_paper:
        assert stand.venue.truth()["leverage"]["ETH"] == {"is_cross": True, "value": 3}


def test_vetoes_are_the_sdks_own_errors(stand):
    bot = stand.bot
    for call, code in (
        (lambda: bot.order("VVV", True, 0.01, 3, GTC), "order_value_too_small"),
        (lambda: bot.schedule_cancel(None), "action_not_allowed"),
        (lambda: bot.vault_usd_transfer("0x" + "22" * 20, True, 5), "action_not_allowed"),
        (lambda: bot.order("BTC", True, 0.01, 70000, stop(65000)), "trigger_entry_not_allowed"),
    ):
        reply = call()
        assert reply["status"] == "err" and reply["response"].startswith("svc-guard veto ("), reply
        decision = stand.decided(reply)
        assert decision["verdict"] == "veto"
        assert code in ("order_value_too_small", decision["code"])
    assert stand.venue.requests() == []


def test_user_signed_transfer_names_the_client(stand):
    reply = stand.bot.usd_transfer(1.0, "0x" + "33" * 20)
    assert reply["status"] == "err"
    decision = stand.decided(reply)
    assert (decision["code"], decision["action"]) == ("action_not_allowed", "usdSend")
    assert stand.venue.requests() == []


def test_reads_pass_through(stand):
    stand.hold("ETH", "0.4", "2500")
    info = stand.bot.info
    assert info.all_mids()["BTC"] == "60000.0"
    state = info.user_state(stand.guard.status()["account"])
    assert state["assetPositions"][0]["position"]["szi"] == "0.4"
    # A bot that knows only its own key means the account.
    assert info.user_state(stand.client)["marginSummary"] == state["marginSummary"]
    assert isinstance(info.frontend_open_orders(stand.client), list)


def test_a_group_of_entry_stop_and_take_profit_goes_as_it_came(stand):
    order = {"coin": "BTC", "sz": 0.01}
    profit = {"trigger": {"triggerPx": 61500, "isMarket": True, "tpsl": "tp"}}
    reply = stand.bot.bulk_orders(
        [
            {**order, "is_buy": True, "limit_px": 59800, "order_type": GTC, "reduce_only": False},
            {**order, "is_buy": False, "limit_px": 53000, "order_type": stop(58800), "reduce_only": True},
            {**order, "is_buy": False, "limit_px": 55000, "order_type": profit, "reduce_only": True},
        ],
        grouping="normalTpsl",
    )
    assert len(statuses(reply)) == 3
    check_oid(stand, statuses(reply)[0]["resting"]["oid"])
    decision = stand.decided(reply)
    forward, request = decision["forward"], decision["request"]
    assert forward["grouping"] == request["grouping"] == "normalTpsl"
    for sent, asked in zip(forward["orders"], request["orders"], strict=True):
        assert {name: sent[name] for name in "abpsrt"} == {name: asked[name] for name in "abpsrt"}
    if not stand.is_paper:
        # Neither child lives before its parent has filled.
        assert [placed["sz"] for placed in stand.venue.orders("BTC")] == ["0.01"] * 3
