"""What events and the status promise their readers: every field with its type."""

import re

ADDRESS = re.compile(r"0x[0-9a-f]{40}\Z")
AMOUNT = re.compile(r"-?[0-9]+(\.[0-9]*[1-9])?\Z")
MODES = ("paper", "testnet", "mainnet")


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_flag(value):
    return isinstance(value, bool)


def is_text(value):
    return isinstance(value, str) and value != ""


def is_address(value):
    return isinstance(value, str) and ADDRESS.match(value) is not None


def is_amount(value):
    """A decimal string in its shortest form, never a JSON number."""
    return isinstance(value, str) and AMOUNT.match(value) is not None


def is_action(value):
    return isinstance(value, dict) and is_text(value.get("type"))


def is_rules(value):
    return isinstance(value, str) and value.startswith("sr1_")


def one_of(*values):
    return lambda value: value in values


def or_null(check):
    return lambda value: value is None or check(value)


def list_of(check):
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def record(**fields):
    """An object with exactly these fields, each as its check wants it."""

    def check(value):
        hold(value, fields)
        return True

    return check


def hold(value, fields):
    assert isinstance(value, dict), value
    assert set(value) == set(fields), f"missing {set(fields) - set(value)}, unexpected {set(value) - set(fields)}"
    for name, check in fields.items():
        assert check(value[name]), f"{name}: {value[name]!r}"


ENVELOPE = {"seq": is_int, "at_ms": is_int, "kind": is_text}

KINDS = {
    "started": {
        "schema": one_of(1),
        "version": is_text,
        "mode": one_of(*MODES),
        "account": is_address,
        "rules": is_rules,
        "clients": list_of(is_address),
    },
    "decision": {
        "via": one_of("http", "websocket"),
        "client": or_null(is_address),
        "signed_as": or_null(one_of("testnet", "mainnet")),
        "nonce": or_null(is_int),
        "action": is_text,
        "verdict": one_of("allow", "resize", "veto"),
        "code": is_text,
        "text": is_text,
        "request": lambda value: isinstance(value, dict),
        "pre": list_of(is_action),
        "forward": or_null(is_action),
        "post": list_of(is_action),
    },
    "sent": {
        "decision": is_int,
        "index": is_int,
        "nonce": is_int,
        "ok": one_of(True, False),
        "reply": lambda value: isinstance(value, dict),
    },
    "intent": {"of": is_int, "action": is_action},
    "done": {"intent": is_int},
    "recovered": {
        "intent": is_int,
        "index": is_int,
        "action": is_action,
        "outcome": one_of("happened", "did_not_happen", "moot", "unknown"),
        "evidence": lambda value: isinstance(value, list),
    },
    "risk": {
        "state": one_of("active", "halted_for_day", "stopped"),
        "details": or_null(lambda value: isinstance(value, dict)),
        "equity": or_null(is_amount),
        "open_positions": is_int,
        "discrepancies": list_of(is_text),
        "journal_error": or_null(is_text),
    },
    "flatten": {
        "reason": is_text,
        "actions": list_of(is_action),
        "problems": list_of(lambda value: is_text(value["coin"]) and is_text(value["text"])),
        "sent": one_of(True, False),
    },
    "protect": {
        "coins": list_of(is_text),
        "actions": list_of(is_action),
        "problems": list_of(lambda value: is_text(value["coin"]) and is_text(value["text"])),
        "sent": one_of(True, False),
    },
    "kill": {"reason": is_text},
    "error": {"text": is_text},
    "stopped": {"reason": is_text},
    "fill": {
        "coin": is_text,
        "side": one_of("buy", "sell"),
        "px": is_amount,
        "size": is_amount,
        "fee": is_amount,
        "fee_token": is_text,
        "closed_pnl": is_amount,
        "position_before": is_amount,
        "position_after": or_null(is_amount),
        "oid": is_int,
        "cloid": or_null(is_text),
        "tid": is_int,
        "time": is_int,
        "crossed": is_flag,
        "intent": or_null(is_int),
        "client": or_null(is_text),
    },
    "funding": {"coin": is_text, "usdc": is_amount, "size": is_amount, "rate": is_amount, "time": is_int},
    "transfer": {"type": is_text, "usdc": or_null(is_amount), "hash": is_text, "time": is_int},
    "flat": {
        "flatten": is_int,
        "positions": one_of(0),
        "orders": one_of(0),
        "checked_ms": is_int,
        "equity": or_null(is_amount),
    },
    "balance": {
        "venue_ms": is_int,
        "opened_ms": is_int,
        **{name: or_null(is_amount) for name in ("opening_equity", "opening_unrealised", "equity", "unrealised")},
        **{name: is_amount for name in ("gross", "fees", "funding", "transfers")},
        **{name: or_null(is_amount) for name in ("difference", "highest", "lowest", "worst_fall")},
    },
}

POSITION = record(
    coin=is_text,
    side=one_of("long", "short"),
    size=is_amount,
    entry_px=or_null(is_amount),
    mark_px=or_null(is_amount),
    value=is_amount,
    unrealized_pnl=is_amount,
    leverage=is_int,
    margin_mode=one_of("cross", "isolated"),
    liquidation_px=or_null(is_amount),
    stop_px=or_null(is_amount),
    covered_size=is_amount,
    risk=is_amount,
    funding=or_null(is_amount),
    opened_ms=or_null(is_int),
)

OPEN_ORDER = record(
    coin=is_text,
    oid=is_int,
    cloid=or_null(is_text),
    side=one_of("buy", "sell"),
    size=is_amount,
    px=is_amount,
    trigger_px=or_null(is_amount),
    is_market_trigger=one_of(True, False),
    order_type=is_text,
    tif=or_null(is_text),
    reduce_only=one_of(True, False),
    owner=one_of("bot", "guard", "other"),
)

RISK = record(
    state=one_of("active", "halted_for_day", "stopped"),
    since_ms=is_int,
    details=or_null(lambda value: isinstance(value, dict)),
    day=or_null(is_text),
    day_start_equity=or_null(is_amount),
    day_pnl=or_null(is_amount),
    daily_loss_limit=or_null(is_amount),
    peak_equity=or_null(is_amount),
    drawdown=or_null(is_amount),
    drawdown_limit=or_null(is_amount),
    open_risk=or_null(is_amount),
    open_risk_limit=or_null(is_amount),
    exposure=or_null(is_amount),
    exposure_limit=or_null(is_amount),
)

LEFT = record(count=is_int, value=is_amount, loss=is_amount, without_stop=is_amount)

HEADROOM = record(
    rule=is_text,
    unit=one_of("usdc", "times", "orders"),
    coin=or_null(is_text),
    used=or_null(is_amount),
    limit=or_null(is_amount),
)

STATUS = {
    "schema": one_of(1),
    "version": is_text,
    "mode": one_of(*MODES),
    "account": is_address,
    "account_network": one_of("testnet", "mainnet"),
    "api_wallet": or_null(is_address),
    "api_wallet_valid_until": or_null(is_int),
    "killed": or_null(is_text),
    "kill_file": is_text,
    "life": is_text,
    "rules": is_rules,
    "clients": list_of(is_address),
    "at_ms": is_int,
    "risk": RISK,
    "headroom": list_of(HEADROOM),
    "equity": or_null(is_amount),
    "positions": list_of(POSITION),
    "open_orders": list_of(OPEN_ORDER),
    "unattended": is_int,
    "if_away": or_null(record(loss=is_amount, without_stop=is_amount, positions=LEFT, entries=LEFT, unattended=LEFT)),
    "alerts": list_of(record(code=is_text, text=is_text, since_ms=or_null(is_int))),
    "venue": record(
        url=is_text,
        account_age_ms=or_null(is_int),
        orders_age_ms=or_null(is_int),
        prices_age_ms=or_null(is_int),
        weight_per_minute=is_int,
        weight_used=is_int,
        feed=or_null(
            record(
                stage=is_text,
                proved=is_flag,
                audited=is_flag,
                down_since_ms=or_null(is_int),
                lag_ms=or_null(is_int),
                sockets=is_int,
                frames=is_int,
                unusable=is_int,
                missed=is_int,
                differences=is_int,
                ended=or_null(is_text),
            )
        ),
    ),
    "subscriptions": record(
        clients=is_int,
        held=is_int,
        at_venue=is_int,
        sockets=is_int,
        frames=is_int,
        passed=is_int,
        replaced=is_int,
        slow=is_int,
    ),
    "last_event": lambda value: isinstance(value, dict),
}


def check_event(event):
    """Every promised field is there with its type. Fields may be added to those; none may be missing."""
    assert event["kind"] in KINDS, event
    for name, check in {**ENVELOPE, **KINDS[event["kind"]]}.items():
        assert name in event, f"{event['kind']} event without {name}: {event}"
        assert check(event[name]), f"{event['kind']}.{name}: {event[name]!r}"
    if event["kind"] == "decision":
        assert ("changes" in event) == (event["verdict"] == "resize"), event
        assert list_of(is_text)(event.get("changes", [])), event
        assert list_of(is_text)(event.get("coins", [])), event
        assert (event["forward"] is None) == (event["verdict"] == "veto"), event


def check_events(events):
    """Each event is whole, and none is missing between the first and the last."""
    assert events, "no events"
    for event in events:
        check_event(event)
    first = events[0]["seq"]
    assert [event["seq"] for event in events] == list(range(first, first + len(events)))


def check_status(status):
    # Left out where there is none.
    hold({"unattended": 0, "if_away": None, **status}, STATUS)
    check_event(status["last_event"])
