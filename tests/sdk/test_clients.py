"""Clients other than the official SDK: whatever form they sign and post, the guard knows whose request it is."""

import copy
import itertools
import random
import time

import eth_account
import pytest
import requests
from hyperliquid.utils.signing import get_timestamp_ms, sign_l1_action, sign_multi_sig_l1_action_payload

from harness import ACCOUNT, PATIENCE_S, until

nonces = itertools.count(time.time_ns() // 1_000_000)
STRANGER = "0xABCDEFabcdef00112233445566778899aabbccdd"
TEXTS = ["", "x" * 31, "x" * 32, "y" * 256, "Ünïcödé ☃ 𝄞", 'quote " and \\ slash /', "\u0000\u001f\u007f"]
NUMBERS = [0, 1, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**53 + 1, 2**64 - 1]


def signed(stand, action, is_mainnet=False, vault=None, expires_after=None):
    """The body that a client posts, signed by the official SDK's own functions."""
    nonce = next(nonces)
    wallet = eth_account.Account.from_key(stand.guard.client_key)
    signature = sign_l1_action(wallet, action, vault, nonce, expires_after, is_mainnet)
    body = {"action": action, "nonce": nonce, "signature": signature}
    return body | {"vaultAddress": vault, "expiresAfter": expires_after}


def post(stand, body):
    return requests.post(stand.guard.url + "/exchange", json=body, timeout=PATIENCE_S).json()


def decision(stand, reply):
    return stand.guard.events(since=reply["guard"]["seq"] - 1)[0]


def amount(dice, decimals):
    whole = str(dice.choice([0, 1, 7, 60, 1999, 123456]))
    fraction = "".join(dice.choice("0123456789") for _ in range(dice.randint(0, decimals))).rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def cloid(dice):
    return f"0x{dice.getrandbits(124):032x}"


def order(dice):
    trigger = {"isMarket": dice.random() < 0.5, "triggerPx": amount(dice, 6), "tpsl": dice.choice(["tp", "sl"])}
    limit = {"tif": dice.choice(["Gtc", "Ioc", "Alo", "FrontendMarket"])}
    kind = {"limit": limit} if dice.random() < 0.6 else {"trigger": trigger}
    made = {"a": dice.choice([0, 1, 3, 10_000, 110_000]), "b": dice.random() < 0.5, "p": amount(dice, 6)}
    made |= {"s": amount(dice, 8), "r": dice.random() < 0.5, "t": kind}
    return made | ({"c": cloid(dice)} if dice.random() < 0.5 else {})


def oid(dice):
    return dice.choice(NUMBERS + [cloid(dice)])


def few(dice, make):
    return [make(dice) for _ in range(dice.choice([1, 2, 16, 17]))]


def modify(dice):
    return {"oid": oid(dice), "order": order(dice)}


def flag(dice, name):
    return {name: True} if dice.random() < 0.3 else {}


def judged(dice):
    """An action that the guard judges, in the venue's own form."""
    builder = {"builder": {"b": STRANGER.lower(), "f": dice.choice([0, 10])}} if dice.random() < 0.2 else {}
    grouping = dice.choice(["na", "normalTpsl", "positionTpsl", {"p": 5}])
    cancels = few(dice, lambda dice: {"a": 0, "o": dice.choice(NUMBERS)})
    by_cloid = few(dice, lambda dice: {"asset": 1, "cloid": cloid(dice)})
    return dice.choice(
        [
            {"type": "order", "orders": few(dice, order), "grouping": grouping} | builder,
            {"type": "cancel", "cancels": cancels} | flag(dice, "f"),
            {"type": "cancelByCloid", "cancels": by_cloid} | flag(dice, "f"),
            {"type": "modify"} | modify(dice) | flag(dice, "a"),
            {"type": "batchModify", "modifies": few(dice, modify)} | flag(dice, "a"),
            {"type": "updateLeverage", "asset": 1, "isCross": dice.random() < 0.5, "leverage": dice.randint(1, 50)},
            {"type": "updateIsolatedMargin", "asset": 1, "isBuy": True, "ntli": dice.randint(-(2**40), 2**40)},
            {"type": "twapCancel", "a": 0, "t": dice.choice(NUMBERS)},
            {"type": "noop"},
        ]
    )


def other(dice):
    """An action that is never forwarded, known to the venue or not."""
    text, number = dice.choice(TEXTS), dice.choice(NUMBERS)
    twap = {"a": 0, "b": True, "s": amount(dice, 5), "r": False, "m": 30, "t": True}
    return dice.choice(
        [
            {"type": "scheduleCancel", "time": number},
            {"type": "scheduleCancel"},
            {"type": "twapOrder", "twap": twap},
            {"type": "vaultTransfer", "vaultAddress": STRANGER, "isDeposit": True, "usd": number},
            {"type": "subAccountTransfer", "subAccountUser": STRANGER, "isDeposit": False, "usd": number},
            {"type": "createVault", "name": text, "description": text, "initialUsd": number, "nonce": number},
            {"type": "spotUser", "classTransfer": {"usdc": number, "toPerp": True}},
            {"type": "setDisplayName", "displayName": text},
            {"type": "setReferrer", "code": text},
            {"type": "evmUserModify", "usingBigBlocks": True},
            {"type": text or "nothing", "list": [None, -number // 2, [text], {}], text: {text: None}},
        ]
    )


def reordered(dice, value):
    """The same value with the keys of every object in alphabetical or any order."""
    if isinstance(value, list):
        return [reordered(dice, item) for item in value]
    if not isinstance(value, dict):
        return value
    keys = sorted(value)
    if dice.random() < 0.5:
        dice.shuffle(keys)
    return {key: reordered(dice, value[key]) for key in keys}


def loosened(dice, value, key=None):
    """The same action as a careless client writes it: zeros behind amounts, upper-case ids, nulls for what is not there."""
    if isinstance(value, list):
        return [loosened(dice, item) for item in value]
    if isinstance(value, dict):
        loose = {key: loosened(dice, item, key) for key, item in value.items()}
        return loose | ({"c": None} if "t" in value and "c" not in value and "p" in value else {})
    if not isinstance(value, str):
        return value
    if key in ("p", "s", "triggerPx"):
        return value + dice.choice(["", "0" if "." in value else ".0", "000" if "." in value else ".0000000000"])
    if key in ("c", "cloid", "oid"):
        return "0x" + value[2:].upper()
    return value


def short(signature):
    """As clients write them that print a number: without leading zeros, the parity bare."""
    parts = {part: hex(int(signature[part], 16)) for part in "rs"}
    return parts | {"v": signature["v"] - 27}


def is_named(stand, body, network):
    reply = post(stand, body)
    event = decision(stand, reply)
    assert event["code"] not in ("malformed", "bad_signature"), (body, reply)
    assert (event["client"], event["signed_as"], event["nonce"]) == (stand.client, network, body["nonce"]), body
    assert event["action"] == body["action"]["type"]
    return event


@pytest.mark.parametrize("mode", ["paper"])
@pytest.mark.parametrize("seed", range(3))
def test_the_guard_and_the_sdk_agree_on_every_signer(stand, seed):
    dice = random.Random(seed)
    for _ in range(60):
        is_mainnet = dice.random() < 0.5
        vault = dice.choice([None, None, ACCOUNT])
        expires_after = dice.choice([None, None, time.time_ns() // 1_000_000 + 60_000])
        is_judged = dice.random() < 0.7
        action = judged(dice) if is_judged else other(dice)
        body = signed(stand, action, is_mainnet, vault, expires_after)
        form = dice.choice(["as signed", "reordered", "loose"])
        if is_judged and form == "reordered":
            body["action"] = reordered(dice, action)
        elif is_judged and form == "loose":
            body["action"] = reordered(dice, loosened(dice, action))
        elif not is_judged and form == "reordered" and "list" not in action:
            body["action"] = {key: action[key] for key in sorted(action)}
        if dice.random() < 0.5:
            body["signature"] = short(body["signature"])
        if vault and dice.random() < 0.5:
            body["vaultAddress"] = vault[2:].upper()
        if dice.random() < 0.5:
            body = {key: value for key, value in body.items() if value is not None}
        event = is_named(stand, body, "mainnet" if is_mainnet else "testnet")
        assert is_judged or event["code"] == "action_not_allowed"


@pytest.mark.parametrize("mode", ["paper"])
def test_nothing_that_was_not_signed_names_the_client(stand):
    dice = random.Random(7)
    for _ in range(12):
        body = signed(stand, judged(dice))
        changed = copy.deepcopy(body)
        change = dice.choice(["nonce", "vaultAddress", "expiresAfter", "action", "v"])
        if change == "nonce":
            changed["nonce"] += 1
        elif change == "vaultAddress":
            changed["vaultAddress"] = ACCOUNT
        elif change == "expiresAfter":
            changed["expiresAfter"] = body["nonce"] + 60_000
        elif change == "action":
            changed["action"] = {"type": "cancel", "cancels": [{"a": 2, "o": 3}]}
        else:
            changed["signature"]["v"] = 55 - body["signature"]["v"]
        event = decision(stand, post(stand, changed))
        assert (event["client"], event["signed_as"], event["nonce"]) == (None, None, None), (change, body)
        assert event["code"] == "bad_signature"


@pytest.mark.parametrize("mode", ["paper"])
@pytest.mark.parametrize("vault", [None, ACCOUNT])
def test_what_moves_money_or_authority_is_refused_by_name(stand, vault):
    """The official SDK posts its vault also with what it signs without one, and its expiry only with some."""
    bot, other = stand.bot, "0x" + "22" * 20
    bot.vault_address = vault
    bot.set_expires_after(get_timestamp_ms() + 60_000)

    def multi_sig():
        nonce, inner = get_timestamp_ms(), {"type": "noop"}
        part = sign_multi_sig_l1_action_payload(bot.wallet, inner, False, None, nonce, None, other, stand.client)
        return bot.multi_sig(other, inner, [part], nonce)

    calls = {
        "usdSend": lambda: bot.usd_transfer(1.0, STRANGER),
        "spotSend": lambda: bot.spot_transfer(1.0, STRANGER, "PURR:0xc4bf3f870c0e9465323c0b6ed28096c2"),
        "withdraw3": lambda: bot.withdraw_from_bridge(2.0, STRANGER),
        "usdClassTransfer": lambda: bot.usd_class_transfer(1.0, True),
        "sendAsset": lambda: bot.send_asset(STRANGER, "", "", "USDC:0xeb62eee3685fc4c43992febcd9e75443", 1.0),
        "approveAgent": lambda: bot.approve_agent()[0],
        "approveBuilderFee": lambda: bot.approve_builder_fee(STRANGER, "0.01%"),
        "convertToMultiSigUser": lambda: bot.convert_to_multi_sig_user([other], 1),
        "tokenDelegate": lambda: bot.token_delegate(other, 1, True),
        "multiSig": multi_sig,
        "setReferrer": lambda: bot.set_referrer("CODE"),
        "createSubAccount": lambda: bot.create_sub_account("name"),
        "subAccountTransfer": lambda: bot.sub_account_transfer(other, True, 5),
        "vaultTransfer": lambda: bot.vault_usd_transfer(other, True, 5),
        "spotDeploy": lambda: bot.spot_deploy_freeze_user(1, other, True),
        "evmUserModify": lambda: bot.use_big_blocks(True),
        "agentSetAbstraction": lambda: bot.agent_set_abstraction("u"),
        "scheduleCancel": lambda: bot.schedule_cancel(get_timestamp_ms() + 60_000),
    }
    for name, call in calls.items():
        reply = call()
        event = decision(stand, reply)
        assert (event["action"], event["code"], event["client"]) == (name, "action_not_allowed", stand.client), reply
        assert reply["status"] == "err" and name in reply["response"]
    assert stand.venue.requests() == []


@pytest.mark.parametrize("mode", ["testnet"])
@pytest.mark.parametrize("px", ["59500", "60100"])
def test_an_entry_with_a_profit_and_a_limit_stop_goes_through(stand, px):
    """What a well-known library makes of an order with `stopLoss` and `takeProfit`: both rest as limit orders."""
    child = {"a": stand.asset("BTC"), "b": False, "s": "0.001", "r": True}
    entry = child | {"b": True, "p": px, "r": False, "t": {"limit": {"tif": "Gtc"}}}
    profit = child | {"p": "61500", "t": {"trigger": {"isMarket": False, "triggerPx": "61500", "tpsl": "tp"}}}
    limit_stop = child | {"p": "58500", "t": {"trigger": {"isMarket": False, "triggerPx": "58500", "tpsl": "sl"}}}
    action = {"type": "order", "orders": [entry, profit, limit_stop], "grouping": "normalTpsl"}
    reply = post(stand, signed(stand, action, is_mainnet=True))
    statuses = reply["response"]["data"]["statuses"]
    assert len(statuses) == 3 and not any("error" in status for status in statuses), reply
    assert len(decision(stand, reply)["forward"]["orders"]) == 3

    def stops():
        return [order for order in stand.venue.orders("BTC") if order["orderType"] == "Stop Market"]

    if "filled" in statuses[0]:
        until("the guard's market stop", stops)
    else:
        assert stops() == []
        stand.venue.do("price", coin="BTC", px="59400")
        until("a market stop for what filled", stops)
