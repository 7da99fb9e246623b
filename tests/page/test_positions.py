"""What a person sees of the positions: all that is known of each, and nothing that is not."""

import re
from datetime import datetime, timezone
from decimal import Decimal

from playwright.sync_api import expect

from figures import away, figure, usd
from harness import until


def test_positions_with_their_cover(busy, monitor_of):
    monitor = monitor_of(busy)
    rows = monitor.until_table("positions", lambda rows: len(rows) == 2)
    for position in busy.guard.status()["positions"]:
        (row,) = [row for row in rows if row[0] == position["coin"]]
        side = {"long": "▲ long", "short": "▼ short"}[position["side"]]
        assert row[1:8] == [
            side,
            figure(position["size"]),
            "● full",
            away(position["stop_px"], position["mark_px"], is_exact=True),
            figure(position["entry_px"]),
            figure(position["mark_px"]),
            usd(position["value"]),
        ]
        won = Decimal(position["unrealized_pnl"]) * (-1 if position["side"] == "short" else 1)
        paid = Decimal(position["value"]) - won
        share = Decimal(position["unrealized_pnl"]) * 100 / paid
        sign = "+" if share > 0 else "−" if share < 0 else ""
        assert row[8] == f"{usd(position['unrealized_pnl'], signed=True)} · {sign}{abs(share):.1f}%"
        liquidation = away(position["liquidation_px"], position["mark_px"])
        assert row[9:12] == [usd(position["risk"]), liquidation, f"{position['leverage']}× cross"]
        assert row[12] == usd(position["funding"], signed=True)
        opened = datetime.fromtimestamp(position["opened_ms"] / 1000, timezone.utc)
        assert row[13].endswith(opened.strftime("%H:%M"))
    whole = [cell.inner_text() for cell in monitor.page.locator("#positions tfoot :is(th, td)").all()]
    held = busy.guard.status()["positions"]
    assert whole[0] == "All"
    assert [whole[7], whole[9]] == [usd(str(sum(Decimal(one[field]) for one in held))) for field in ("value", "risk")]
    assert whole[12] == usd(str(sum(Decimal(one["funding"]) for one in held)), signed=True)
    heads = monitor.page.locator("#positions thead th").all_inner_texts()
    assert heads[2:5] == ["Size", "Cover", "Stop"] and heads[9] == "Risk"


def test_the_result_in_percent_is_of_the_entry(busy, monitor_of):
    """A short that fell from 2500 to 1300 has won 48%; a stop stands as it was set, also where the mark has fewer places."""

    def moved(page):
        def handle(route):
            answer = route.fetch()
            told = answer.json()
            short, long = {"side": "short", "unrealized_pnl": "480", "value": "520"}, {"side": "long", "unrealized_pnl": "-10", "value": "190"}
            told["positions"][0].update(**short, mark_px="1300", stop_px="1310.55")
            told["positions"][1].update(**long, mark_px="10", stop_px="9.8")
            route.fulfill(response=answer, json=told)

        page.route("**/guard/status", handle)

    monitor = monitor_of(busy, before=moved)
    rows = monitor.until_table("positions", lambda rows: len(rows) == 2)
    assert [row[8] for row in rows] == ["+480.00 · +48.0%", "−10.00 · −5.0%"]
    assert [row[4] for row in rows] == ["1,310.55 · 0.8%", "9.8 · 2.0%"]


def test_what_no_stop_bounds_is_no_risk_that_is_known(busy, monitor_of):
    """A position that is bare, or bare in part, may lose more than what is reckoned for it; so may all of them together."""
    covered = {"ETH": "0"}

    def bare(page):
        def handle(route):
            answer = route.fetch()
            told = answer.json()
            for position in told["positions"]:
                position["risk"] = "25"
                position["covered_size"] = covered.get(position["coin"], position["size"])
            route.fulfill(response=answer, json=told)

        page.route("**/guard/status", handle)

    monitor = monitor_of(busy, before=bare)
    risks = lambda: {row[0]: row[9] for row in monitor.table("positions")}  # noqa: E731
    cell = monitor.page.locator("#positions tbody tr", has_text="ETH").locator("td[data-name=Risk]")
    whole = monitor.page.locator("#positions tfoot td[data-name=Risk]")
    for part in ("0", "0.5"):
        covered["ETH"] = part
        expect(cell).to_have_text("≥ 25.00")
        expect(cell).to_have_attribute("data-tone", "warn")
        expect(cell).to_have_attribute("title", "25; stops are not known to cover all of it: more may be lost")
        expect(whole).to_have_text("≥ 50.00")
        assert risks()["BTC"] == "25.00"
    covered.clear()
    expect(cell).to_have_text("25.00")
    expect(cell).not_to_have_attribute("data-tone", "warn")
    expect(whole).to_have_text("50.00")


def test_what_is_not_known_of_a_position_is_no_zero(stand_of, monitor_of):
    """A position of before the guard's book, at a venue that counts no funding, or a guard of before these were told."""
    stand = stand_of()
    stand.hold("ETH", "2", "2500")
    stand.hold("BTC", "-0.01", "60000")
    told = {}

    def replaced(page):
        def handle(route):
            answer = route.fetch()
            status = answer.json()
            for position in status["positions"]:
                position.update({"funding": "-1.25", "opened_ms": status["at_ms"] - 7_500_000})
                position.update(told.get(position["coin"], {}))
                for name in [name for name, value in position.items() if value == "left out"]:
                    del position[name]
            route.fulfill(response=answer, json=status)

        page.route("**/guard/status", handle)

    monitor = monitor_of(stand, before=replaced)
    last = lambda: {row[0]: row[12:] for row in monitor.table("positions")}  # noqa: E731
    all_of = monitor.page.locator("#positions tfoot td[data-name=Funding]")
    expect(all_of).to_have_text("−2.50")
    funding, since = last()["BTC"]
    assert funding == "−1.25" and re.fullmatch(r"(\d\d-\d\d )?\d\d:\d\d", since), since
    opened = monitor.page.locator("#positions tbody td[data-name='Open since']").first
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z(, local [\d:]+)?, 2 h 5 min ago", opened.get_attribute("title"))
    for unknown in (None, "left out"):
        told["ETH"] = {"funding": unknown, "opened_ms": unknown}
        until("the page to show it", lambda: last().get("ETH") == ["not known", "not known"])
        expect(all_of).to_have_text("not known")
        assert last()["BTC"][0] == "−1.25"
        told.clear()
        until("the page to show it", lambda: last().get("ETH", [""])[0] == "−1.25")


def test_positions_come_first_and_long_troubles_push_nothing_down(busy, monitor_of):
    """What is held stands above the drawing, on a phone too; the whole of a trouble stands among the alerts."""
    whole = "the venue does not take it, " * 30

    def ill(page):
        page.route("**/healthz", lambda route: route.fulfill(status=503, json={"ok": False, "problems": [whole, "more"]}))

    for width in (1280, 390):
        monitor = monitor_of(busy, before=ill, width=width)
        expect(monitor.tile("health")).to_have_text("▲ Unwell")
        monitor.until_table("positions", lambda rows: len(rows) == 2)
        top = lambda name: monitor.page.locator(name).bounding_box()["y"]  # noqa: E731
        assert top("#positions") < top("#plot"), width
        assert top("#positions") < 900, width
        assert len(monitor.note("health").inner_text()) < 120
        title = monitor.page.locator("#t-health").get_attribute("title")
        assert title.startswith(whole[:500])
