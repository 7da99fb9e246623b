"""What the page must not say as if it were sure: open orders that are not read, sends without an answer, figures that are old."""

import re
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from conftest import GTC
from harness import Guard, Program, environment, svc_guard, until
from test_haste import telling


class Unwell(Guard):
    """A guard of which nobody waits for its health."""

    def __init__(self, of, log):
        self.home = of.home
        listen = of.url.removeprefix("http://")
        command = [*of.process.args[:3], "run", "--listen", listen, "--network", "testnet"]
        Program.__init__(self, command, log, r"listening on (http://\S+)", environment())


def rest(stand):
    """An order that somebody places by hand, without the guard."""
    asset = stand.bot.info.name_to_asset("SOL")
    stand.venue.do("order", order={"a": asset, "b": False, "p": "210", "s": "1", "r": False, "t": GTC})


def unread_orders(stand):
    """The open orders are neither read nor told of from now on."""
    stand.venue.do("feed", kind="refuse")
    stand.venue.do("feed", kind="drop")
    stand.venue.do("fault", on="frontendOpenOrders", kind="stall", times=1_000_000)


def use(monitor, rule):
    return monitor.page.locator("#headroom li", has_text=rule).locator(".use")


def test_open_orders_that_were_never_read_are_not_none(stand_of, monitor_of):
    stand = stand_of()
    stand.guard.end()
    unread_orders(stand)
    rest(stand)
    stand.guard = Unwell(stand.guard, stand.folder / "guard.log")
    monitor = monitor_of(stand, shows="▲ Live, data stale")
    expect(monitor.tile("equity")).to_have_text("10,000.00")
    expect(monitor.page.locator("#no-orders")).to_have_text("Not read")
    expect(monitor.page.locator("#h-orders .staletag")).to_be_visible()
    for rule, limit in [
        ("Open entries", "50"),
        ("Exposure of all markets", "30,000.00"),
        ("Loss if every stop is hit", "600.00"),
        ("Loss if one market’s stop is hit", "200.00"),
        ("Position in one market", "10,000.00"),
    ]:
        expect(use(monitor, rule)).to_have_text(f"not known, limit {limit}")
    expect(use(monitor, "Entries in the last minute")).to_have_text("0 of 60")
    # The account's own figures are fresh.
    assert stale_mark(monitor) == "none"
    svc_guard(stand.guard.home, "kill", "--reason", "never read")
    expect(monitor.page.locator("#notices")).to_contain_text("Perhaps flat, when last read: 0 positions, orders not read")
    assert [order["coin"] for order in stand.venue.truth()["orders"]] == ["SOL"]


def test_open_orders_that_are_not_read_any_more_are_not_fresh(stand_of, monitor_of):
    stand = stand_of()
    stand.hold("ETH", "0.4", "2500")
    monitor = monitor_of(stand)
    cover = monitor.page.locator("#positions td[data-name=Cover]")
    risk = monitor.page.locator("#positions tbody td[data-name=Risk]")
    expect(cover).to_have_text("● full")
    unread_orders(stand)
    rest(stand)
    expect(monitor.page.locator("#live")).to_have_text("▲ Live, data stale")
    expect(monitor.page.locator("#h-orders .staletag")).to_be_visible()
    expect(cover).to_have_text("▲ full when last read")
    expect(risk).to_contain_text("≥ ")
    expect(use(monitor, "Loss if every stop is hit")).to_contain_text("≥ ")
    assert stale_mark(monitor) == "none"
    svc_guard(stand.guard.home, "kill", "--reason", "orders hang")
    # What is left is as old as the older of its two reads.
    notice = monitor.page.locator("#notices")
    expect(notice).to_have_text(re.compile(r"\(read \d\d+ s ago\)"))
    venue = stand.guard.status()["venue"]
    assert venue["account_age_ms"] < 10_000 < venue["orders_age_ms"]
    assert "SOL" in [order["coin"] for order in stand.venue.truth()["orders"]]
    stand.venue.do("clear")
    expect(notice).to_contain_text("Flat: 0 positions, 0 orders.")
    expect(monitor.page.locator("#live")).to_have_text("● Live")


def test_cover_is_not_read_before_the_orders_are(busy, monitor_of):
    """Also where the guard's own stops were taken since the start: of others nobody knows."""

    def never(status):
        status["venue"]["orders_age_ms"] = None
        status["alerts"].append({"code": "orders_stale", "text": "the open orders: not read yet", "since_ms": None})

    monitor = monitor_of(busy, before=telling(never), shows="▲ Live, data stale")
    expect(monitor.page.locator("#positions tbody td[data-name=Cover]")).to_have_text(["▲ Not read"] * 2)


@pytest.mark.parametrize("kind", ["apply_then_drop", "garbage"])
def test_a_send_without_an_answer_may_have_been_taken(stand_of, monitor_of, kind):
    stand = stand_of()
    monitor = monitor_of(stand)
    stand.venue.do("fault", on="order", kind=kind, times=1)
    seq = stand.bot.order("BTC", True, 0.001, 59900, GTC)["guard"]["seq"]
    expect(monitor.rows(re.compile(rf"What became of .* of event {seq} in BTC: happened"))).to_have_count(1)
    assert [order["coin"] for order in stand.venue.truth()["orders"] if order["side"] == "B"] == ["BTC"]
    told = monitor.rows(re.compile(rf"No answer to action \d of event {seq} in BTC: .*What became of it is asked for"))
    expect(told).to_have_count(1)
    expect(told).to_have_class("row warn")
    # Nor was the guard's own question whether it did an order.
    expect(monitor.rows("The venue did not take")).to_have_count(0)
    assert len(stand.guard.events("intent")) == 1


@pytest.mark.parametrize("px, size", [("1", "200"), ("3", "66")])
def test_a_liquidation_price_keeps_its_digits(stand_of, monitor_of, px, size):
    """However few the mark happens to have: a price rounded onto it, or past it, would be another risk."""
    stand = stand_of(rules='exposure = "1000"\n')
    stand.venue.do("price", coin="VVV", px=px)
    stand.hold("VVV", size, px)
    monitor = monitor_of(stand)
    cell = monitor.page.locator("#positions td[data-name=Liquidation]")

    def agrees():
        (held,) = stand.venue.truth()["positions"]
        if held["liquidation_px"] is None or " · " not in cell.inner_text():
            return False
        shown = Decimal(cell.inner_text().split(" · ")[0].replace(",", ""))
        return abs(shown - Decimal(held["liquidation_px"])) / shown < Decimal("0.0001")

    until("the page to show the venue's price", agrees, 15)


def stale_mark(monitor):
    return monitor.tile("equity").evaluate("value => getComputedStyle(value, '::after').content")


def test_figures_of_an_account_that_is_not_read_say_so(stand_of, monitor_of):
    alerts = []
    monitor = monitor_of(stand_of("paper"), before=telling(lambda status: status["alerts"].extend(alerts)))
    tag = monitor.page.locator("#h-headroom .staletag")
    expect(tag).to_be_hidden()
    assert stale_mark(monitor) == "none"
    colour = "value => getComputedStyle(value).color"
    fresh = monitor.tile("equity").evaluate(colour)
    alerts.append({"code": "account_stale", "text": "the account: last read over 5 s ago", "since_ms": None})
    expect(tag).to_be_visible()
    assert "stale" in stale_mark(monitor) and monitor.tile("equity").evaluate(colour) != fresh


def test_a_loss_at_stops_is_no_bound_while_a_position_has_none(stand_of, monitor_of):
    stand = stand_of()
    monitor = monitor_of(stand)
    stand.venue.do("fault", on="order", kind="error", text="Order has invalid price.", times=1_000_000)
    stand.hold("ETH", "0.4", "2500", covered=False)
    for rule in ("Loss if every stop is hit", "Loss if one market’s stop is hit, ETH"):
        expect(use(monitor, rule)).to_have_text(re.compile("^≥ [1-9]"))
    assert stand.venue.truth()["orders"] == []
    stand.venue.do("clear")
    for rule in ("Loss if every stop is hit", "Loss if one market’s stop is hit, ETH"):
        expect(use(monitor, rule)).to_have_text(re.compile("^[1-9]"))
    expect(use(monitor, "Exposure of all markets")).not_to_contain_text("≥")


def test_a_book_whose_fills_could_not_be_read_is_not_none_yet(stand_of, monitor_of):
    alerts = [{"code": "book_differs", "about": "fills", "text": "fills could not all be read: the book lacks some", "since_ms": None}]
    monitor = monitor_of(stand_of(), before=telling(lambda status: status["alerts"].extend(alerts)))
    rows = monitor.until_table("book", lambda rows: len(rows) == 2)
    assert rows[0] == ["Today", *["not read"] * 4]
    expect(monitor.page.locator("#no-book")).not_to_contain_text("begins with")
    expect(monitor.page.locator("#book-age")).to_have_text("")
    alerts.clear()
    monitor.until_table("book", lambda rows: rows and rows[0] == ["Today", *["none yet"] * 4])
    expect(monitor.page.locator("#book-age")).to_contain_text("Read ")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_path_longer_than_its_tile_is_seen_whole(stand_of, monitor_of, width):
    home = "/srv/" + "a_very_long_name_of_a_folder_" * 4

    def far(status):
        status["kill_file"] = f"{home}/kill"

    monitor = monitor_of(stand_of("paper"), before=telling(far), width=width)
    expect(monitor.note("kill")).to_contain_text(home)
    over = monitor.page.locator("#t-kill code span").evaluate_all("words => words.map((word) => word.scrollWidth - word.clientWidth)")
    assert max(over) <= 0 and monitor.is_wide() <= 0, over


def test_a_command_in_a_trouble_is_told_without_its_marks(stand_of, monitor_of):
    told = "the clock is off: `timedatectl set-ntp true`"

    def ill(page):
        page.route("**/healthz", lambda route: route.fulfill(status=503, json={"ok": False, "problems": [told, told]}))

    monitor = monitor_of(stand_of("paper"), before=ill)
    expect(monitor.note("health")).to_have_text("the clock is off: timedatectl set-ntp true, and 1 more")
    assert "`" not in monitor.page.locator("#t-health").get_attribute("title")
