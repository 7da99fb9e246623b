"""What a person sees of a guard at work."""

from decimal import Decimal

import pytest
from playwright.sync_api import expect

from figures import figure, usd
from harness import until

RULES = {
    "daily_loss": "Daily loss",
    "drawdown": "Drawdown",
    "open_risk": "Loss if every stop is hit",
    "loss_per_trade": "Loss if one market’s stop is hit",
    "exposure": "Exposure of all markets",
    "position": "Position in one market",
    "leverage": "Leverage setting",
    "open_orders": "Open entries",
    "orders_per_minute": "Entries in the last minute",
}


def test_state_at_a_glance(busy, monitor_of):
    monitor = monitor_of(busy)
    status = busy.guard.status()
    expect(monitor.page.locator("#mode")).to_have_text("TESTNET")
    expect(monitor.page.locator("#account")).to_have_text("0x111111…111111")
    expect(monitor.tile("kill")).to_have_text("● Not pulled")
    expect(monitor.tile("risk")).to_have_text("● Active")
    expect(monitor.tile("health")).to_have_text("● Healthy")
    expect(monitor.tile("equity")).to_have_text(usd(status["equity"]))
    expect(monitor.note("equity")).to_have_text(f"peak {usd(status['risk']['peak_equity'])}")
    expect(monitor.tile("day")).to_have_text(usd(status["risk"]["day_pnl"], signed=True))
    expect(monitor.note("day")).to_have_text(f"stop at −{usd(status['risk']['daily_loss_limit'])}")
    expect(monitor.tile("down")).to_have_text(usd(status["risk"]["drawdown"]))
    expect(monitor.note("down")).to_have_text(f"halt at {usd(status['risk']['drawdown_limit'])}")
    expect(monitor.page.locator("#no-alerts")).to_be_visible()
    expect(monitor.page.locator("#lost")).to_be_hidden()
    expect(monitor.page.locator("#notices > *")).to_have_count(0)
    expect(monitor.page).to_have_title("● Active · testnet · svc-guard")
    expect(monitor.page.locator("#facts")).to_contain_text(busy.venue.url)


# Elements that cut what is in them, but for what is for the ear alone.
CUT = """() => [...document.querySelectorAll("body *")]
  .filter((one) => one.textContent.trim() !== "" && getComputedStyle(one).overflowY === "hidden" && !one.closest(".unseen, thead"))
  .filter((one) => one.scrollHeight > one.clientHeight + 1)
  .map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 40)}`)"""
FONTS = "() => [...document.querySelectorAll('.num')].map((one) => getComputedStyle(one).fontFamily)"


@pytest.mark.parametrize("width", [390, 1280])
def test_no_text_is_cut_and_figures_stand_in_the_page_s_font(busy, monitor_of, width):
    monitor = monitor_of(busy, width=width, height=900)
    monitor.until_table("positions", lambda rows: len(rows) == 2)
    assert monitor.page.evaluate(CUT) == []
    assert not [font for font in monitor.page.evaluate(FONTS) if "mono" in font]


def test_open_orders_by_their_owner(busy, monitor_of):
    monitor = monitor_of(busy)
    rows = monitor.until_table("orders", lambda rows: len(rows) == 8)
    groups, group = {}, None
    for row in rows:
        if len(row) == 1:
            group = groups.setdefault(row[0], [])
        else:
            group.append(tuple(row[:6]))
    assert list(groups) == ["Bot (2)", "Guard (2)", "Others (1)"]
    assert set(groups["Bot (2)"]) == {
        ("BTC", "▲ buy", "0.02", "59,800", "–", "limit"),
        ("ETH", "▼ sell", "2", "2,600", "–", "limit, reduce-only"),
    }
    assert groups["Others (1)"] == [("SOL", "▼ sell", "1", "210", "–", "limit")]
    guards = {(row[0], row[1], row[4], row[5]) for row in groups["Guard (2)"]}
    stop = "stop market, reduce-only"
    assert guards == {("ETH", "▼ sell", "2,450", stop), ("BTC", "▲ buy", "61,200", stop)}


def test_what_is_left_if_the_guard_goes_away(busy, stand_of, monitor_of):
    monitor = monitor_of(busy)
    left = busy.guard.status()["if_away"]
    assert [left[part]["count"] for part in ("positions", "entries", "unattended")] == [2, 1, 1]

    def told(part):
        bare = f", ▲ {usd(part['without_stop'])} without" if part["without_stop"] != "0" else ""
        return f"{usd(part['loss'])} lost at stops{bare}"

    parts = {name: part for name, part in left.items() if isinstance(part, dict)}
    wanted = {name: f"{part['count']} worth {usd(part['value'])}, {told(part)}" for name, part in parts.items()}
    names, texts = (monitor.page.locator(f"#away {tag}").all_inner_texts() for tag in ("dt", "dd"))
    assert dict(zip(names, texts)) == {"at most": told(left), **wanted}
    assert "▲" in texts[0]
    expect(monitor_of(stand_of()).page.locator("#away")).to_have_text("at most–")


def test_every_rule_has_its_headroom(busy, monitor_of):
    monitor = monitor_of(busy)

    def agrees():
        """The entries of the last minute run out while this test looks."""
        rules = busy.guard.status()["headroom"]
        shown = monitor.page.locator("#headroom .rule").all_inner_texts()
        uses = monitor.page.locator("#headroom .use").all_inner_texts()
        wanted = []
        for row in rules:
            write = {"usdc": usd, "times": lambda text: f"{figure(text)}×", "orders": figure}[row["unit"]]
            share = Decimal(row["used"]) / Decimal(row["limit"])
            word = " · ■ reached" if share >= 1 else " · ▲ near" if share >= Decimal("0.6") else ""
            # A setting at its limit is nothing that fills up.
            word = "" if row["unit"] == "times" and share <= 1 else word
            wanted.append(f"{write(row['used'])} of {write(row['limit'])}{word}")
        assert [row["rule"] for row in rules] == list(RULES)
        names = [RULES[row["rule"]] + (f", {row['coin']}" if row["coin"] else "") for row in rules]
        return rules if (shown, uses) == (names, wanted) else None

    rules = until("the page to show the headroom", agrees)
    assert rules[3]["coin"] == "ETH" and rules[5]["coin"] == "ETH"
    for row in rules[:6]:
        meter = monitor.page.get_by_role("meter", name=RULES[row["rule"]]).first
        whole, part = meter.bounding_box(), meter.locator("div").bounding_box()
        share = float(Decimal(row["used"]) / Decimal(row["limit"]))
        assert abs(part["width"] / (whole["width"] - 2) - share) < 0.01, row
        assert int(meter.get_attribute("aria-valuenow")) == int(share * 100)
    each = dict(zip(monitor.page.locator("#rules dt").all_inner_texts(), monitor.page.locator("#rules dd").all_inner_texts()))
    assert each == {
        "Markets": "BTC, ETH, SOL",
        "Price from the mid": "0.5% at most",
        "Stop attached at": "2%",
        "Widest stop": "5%",
        "One order’s value": "25,000.00 USDC",
        "The same entry again": "after 1 s",
    }


def box(monitor, selector):
    """Where a drawn line ends at the right: its place from the top."""
    return monitor.page.locator(selector).last.evaluate(
        "path => { const end = path.getPointAtLength(path.getTotalLength()); return [end.x, end.y]; }"
    )


def test_equity_and_its_limits_are_drawn(stand_of, monitor_of):
    stand = stand_of()
    stand.hold("ETH", "2", "2500")
    monitor = monitor_of(stand)
    expect(monitor.page.locator("#plot path.line")).to_have_count(6)
    ends = {name: box(monitor, f"#plot path.line.{name}") for name in ("equity", "peak", "start", "stop", "halt", "down")}
    right = max(x for x, _ in ends.values())
    assert all(abs(x - right) < 2 for x, _ in ends.values()), ends
    assert ends["equity"][1] < ends["stop"][1] < ends["halt"][1] < ends["down"][1]
    assert abs(ends["start"][1] - ends["equity"][1]) < abs(ends["stop"][1] - ends["equity"][1]) / 2
    labels = monitor.page.locator("#plot text.label").all_text_contents()
    assert set(labels) == {"Peak", "Day start", "Loss stop", "Halt", "Equity", "Limit"}
    lines = monitor.page.locator("#lines dd").all_inner_texts()
    risk = stand.guard.status()["risk"]
    stop = Decimal(risk["day_start_equity"]) - Decimal(risk["daily_loss_limit"])
    halt = Decimal(risk["peak_equity"]) - Decimal(risk["drawdown_limit"])
    assert lines[:4] == [usd(risk["peak_equity"]), usd(risk["day_start_equity"]), usd(str(stop)), usd(str(halt))]

    # A loss of 100 of the 500 a day may lose.
    stand.venue.do("price", coin="ETH", px="2451")
    expect(monitor.tile("day")).to_have_text("−98.00")
    after = until("the line to go down", lambda: (end := box(monitor, "#plot path.line.equity"))[1] > ends["equity"][1] + 5 and end)
    fallen = (after[1] - ends["start"][1]) / (ends["stop"][1] - ends["start"][1])
    assert 0.15 < fallen < 0.25, f"a fifth of the way to the limit, not {fallen}"
    assert box(monitor, "#plot path.line.down")[1] > ends["down"][1]
    expect(monitor.page.get_by_role("img", name="Equity 9,902.00")).to_be_visible()


def test_all_of_it_in_dark_and_light(busy, monitor_of):
    looks = {}
    for scheme in ("dark", "light"):
        monitor = monitor_of(busy, color_scheme=scheme)
        looks[scheme] = monitor.page.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
            ".map((color) => color.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))"
        )
    (dark_ground, dark_text), (light_ground, light_text) = looks["dark"], looks["light"]
    assert dark_ground < 120 and dark_text > 600
    assert light_ground > 640 and light_text < 160


def test_the_drawing_is_read_out(stand_of, monitor_of):
    stand = stand_of()
    stand.hold("ETH", "2", "2500")
    monitor = monitor_of(stand)
    readout = monitor.page.locator("#readout")
    expect(monitor.page.locator("#plot text.tick").first).to_be_visible()
    # Amounts beside the drawing: each half has its own.
    amounts = [text for text in monitor.page.locator("#plot text.tick").all_text_contents() if ":" not in text]
    assert len(amounts) >= 5, amounts
    plot = monitor.page.locator("#plot")
    plot.hover()
    expect(readout).to_contain_text("UTC · equity ")
    expect(monitor.page.locator("#plot .cursor")).to_have_count(1)
    plot.focus()
    until("some samples", lambda: monitor.page.wait_for_timeout(50) or len(monitor.asked) > 24)
    monitor.page.keyboard.press("End")
    last = readout.inner_text()
    monitor.page.keyboard.press("Home")
    expect(readout).not_to_have_text(last)
    expect(readout).to_contain_text("equity ")
    monitor.page.keyboard.press("Escape")
    expect(readout).to_have_text("")
    expect(monitor.page.locator("#plot .cursor")).to_have_count(0)


def test_what_nobody_saw_is_not_drawn(stand_of, monitor_of):
    """Two far minutes with nothing between them are two dots, and no fall from one to the other."""
    stand = stand_of("paper")

    def past(page):
        def handle(route):
            now_ms = stand.guard.status()["at_ms"] // 60_000 * 60_000
            points = [
                {"at_ms": now_ms - 900_000, "minutes": 1, "equity": "10030", "low": "10030", "high": "10030"},
                {"at_ms": now_ms - 600_000, "minutes": 1, "equity": "9500", "low": "9500", "high": "9500"},
            ]
            route.fulfill(json={"schema": 1, "step": 1, "points": points, "next": None})

        page.route("**/guard/equity*", handle)

    monitor = monitor_of(stand, before=past)
    line = monitor.page.locator("#plot path.line.equity")
    drawn = until("the line", lambda: line.count() and (drawn := line.get_attribute("d")).count("M") > 1 and drawn)
    runs = drawn.split("M")[1:]
    assert len(runs) == 3, drawn
    assert all("L" not in run for run in runs[:2]), drawn
    # The limits are known, and go across.
    for limit in ("peak", "halt"):
        start = monitor.page.locator(f"#plot path.line.{limit}").get_attribute("d").split(" ")[0]
        assert float(start[1:]) < 70, start


def test_before_the_first_request(stand_of, monitor_of):
    stand = stand_of("paper")
    monitor = monitor_of(stand)
    first = monitor.page.locator("#first")
    expect(first).to_contain_text(f"The bot’s base URL is {stand.guard.url}")
    expect(first).to_contain_text(stand.guard.status()["clients"][0])
    stand.bot.order("BTC", True, 0.01, 59000, {"limit": {"tif": "Gtc"}})
    expect(first).to_be_hidden()


def test_what_was_never_read_is_not_none(stand_of, monitor_of):
    stand = stand_of("paper")

    def unread(page):
        def handle(route):
            answer = route.fetch()
            told = answer.json()
            told["venue"].update(account_age_ms=None)
            told["risk"].update(daily_loss_limit=None, drawdown_limit=None, day_pnl=None)
            route.fulfill(response=answer, json={**told, "positions": [], "open_orders": []})

        page.route("**/guard/status", handle)

    monitor = monitor_of(stand, before=unread)
    for none in ("positions", "orders"):
        expect(monitor.page.locator(f"#no-{none}")).to_have_text("Not read")
    expect(monitor.note("day")).to_have_text("not known yet")


def test_the_account_and_the_way_to_kill(busy, monitor_of):
    monitor = monitor_of(busy)
    expect(monitor.note("kill")).to_have_text(f"svc-guard --home {busy.guard.home} kill --reason TEXT")
    account = busy.guard.status()["account"]
    expect(monitor.page.locator("#facts")).to_contain_text(account)
    expect(monitor.page.locator("#clock")).to_contain_text(" UTC")
    expect(monitor.page.locator("#icon")).to_have_attribute("href", "/monitor/icon.svg")
    explorer = monitor.page.get_by_role("link", name="This account at the venue’s explorer")
    expect(explorer).to_have_attribute("href", f"https://app.hyperliquid-testnet.xyz/explorer/address/{account}")
    expect(explorer).to_have_attribute("rel", "noreferrer")


def test_only_an_account_of_a_known_network_is_linked(stand_of, monitor_of):
    stand, told = stand_of(), {"account_network": "mainnet"}

    def replaced(page):
        def handle(route):
            answer = route.fetch()
            route.fulfill(response=answer, json={**answer.json(), **told})

        page.route("**/guard/status", handle)

    monitor = monitor_of(stand, before=replaced)
    explorer = monitor.page.locator("#explorer")
    account = stand.guard.status()["account"]
    expect(explorer).to_have_attribute("href", f"https://app.hyperliquid.xyz/explorer/address/{account}")
    for odd in ({"account_network": "other"}, {"account_network": "constructor"}, {"account": "javascript:alert(1)"}, {"account": "0x1/../x"}):
        told.update({"account_network": "mainnet"}, account=account)
        expect(explorer).to_be_visible()
        told.update(odd)
        expect(explorer).to_be_hidden()
        assert explorer.get_attribute("href") is None


@pytest.mark.parametrize("won, own, tone", [("150", "60.00", ""), ("40", "170.00", "near")])
def test_a_winner_has_reached_no_limit(stand_of, monitor_of, won, own, tone):
    """From the mark to its stop a winner would lose more than it ever could: the rest of that is profit."""
    stand = stand_of()
    stand.hold("ETH", "2", "2500")

    def wins(page):
        def handle(route):
            answer = route.fetch()
            told = answer.json()
            told["positions"][0].update(unrealized_pnl=won, risk="210")
            for row in told["headroom"]:
                if row["rule"] == "loss_per_trade":
                    row.update(coin="ETH", used="210", limit="200")
            route.fulfill(response=answer, json=told)

        page.route("**/guard/status", handle)

    monitor = monitor_of(stand, before=wins)
    row = monitor.page.locator("#headroom li", has_text="Loss if one market’s stop is hit")
    expect(row).to_contain_text(f"210.00 of 200.00 · {own} from entry · the rest is profit")
    expect(row.get_by_text("reached")).to_have_count(0)
    expect(row).to_have_class(tone)


def test_what_may_be_opened_yet_is_no_profit(stand_of, monitor_of):
    """Beside a small winner an entry that rests comes near the limit: nothing of that is profit."""
    stand = stand_of()
    stand.hold("ETH", "2", "2500")

    def near(page):
        def handle(route):
            answer = route.fetch()
            told = answer.json()
            told["positions"][0].update(unrealized_pnl="5", risk="20")
            for row in told["headroom"]:
                if row["rule"] == "loss_per_trade":
                    row.update(coin="ETH", used="190", limit="200")
            route.fulfill(response=answer, json=told)

        page.route("**/guard/status", handle)

    monitor = monitor_of(stand, before=near)
    row = monitor.page.locator("#headroom li", has_text="Loss if one market’s stop is hit")
    expect(row).to_contain_text("190.00 of 200.00 · ▲ near")
    expect(row).to_have_class("near")
