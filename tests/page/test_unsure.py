"""What the page must not say as if it were sure: open orders that are not read, sends without an answer, figures that are old."""

import re
import time
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from conftest import GTC
from harness import Guard, Program, environment, svc_guard, until
from test_equity import report
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


def unlisted(stand):
    """Something is held in a market of which the guard cannot read that it is there."""
    stand.venue.do("fault", on="metaAndAssetCtxs", kind="http_502", times=1_000_000)
    stand.venue.do("list", coin="NEWC", px="20")
    stand.venue.do("position", coin="NEWC", szi="30", entry_px="20")


def test_what_is_held_in_no_known_market_is_not_none(stand_of, monitor_of):
    stand = stand_of()
    monitor = monitor_of(stand)
    none, held = monitor.page.locator("#no-positions"), monitor.page.locator("#positions tbody tr")
    expect(none).to_have_text("No positions")
    unlisted(stand)
    expect(held).to_have_text("■ NEWC: held in a market that the guard does not know")
    expect(none).to_be_hidden()
    expect(monitor.page.locator("#n-positions")).to_have_text("1")
    expect(use(monitor, "Loss if every stop is hit")).to_contain_text("≥ ")
    svc_guard(stand.guard.home, "kill", "--reason", "what is that")
    notice = monitor.page.locator("#notices")
    why = "the position in NEWC is in no market that is known here: close it at the venue's own page."
    expect(notice).to_contain_text(f"Closing: 1 position, 0 orders left. {why}")
    assert [position["coin"] for position in stand.venue.truth()["positions"]] == ["NEWC"]
    stand.venue.do("clear")
    expect(notice).to_contain_text("Flat: 0 positions, 0 orders.")
    expect(none).to_have_text("No positions")
    expect(none).to_be_visible()


def test_what_is_held_in_no_known_market_stands_beside_what_is_known(busy, monitor_of):
    alerts = [{"code": "position_unknown", "about": coin, "text": f"of {coin}", "since_ms": None} for coin in ("BTC", "NEWC")]

    def change(status):
        about = {alert["about"] for alert in alerts}
        status["positions"] = [position for position in status["positions"] if position["coin"] not in about]
        status["alerts"] += alerts

    monitor = monitor_of(busy, before=telling(change), width=390)
    markets = monitor.page.locator("#positions tbody th")
    told = [f"■ {coin}: held in a market that the guard does not know" for coin in ("BTC", "NEWC")]
    expect(markets).to_have_text(["ETH", *told])
    expect(monitor.page.locator("#n-positions")).to_have_text("3")
    assert monitor.is_wide() <= 0
    # A sum without them would be taken for all there is.
    expect(monitor.page.locator("#positions tfoot")).to_have_count(0)
    # Once its market is known, a position has a row as any.
    del alerts[0]
    expect(markets).to_have_text(["BTC", "ETH", told[1]])
    expect(monitor.page.locator("#positions td[data-name=Cover]")).to_have_text(["● full"] * 2)
    monitor.page.route("**/guard/**", lambda route: route.abort())
    expect(monitor.page.locator("#lost")).to_be_visible()
    expect(markets).to_have_text(["BTC", "ETH", told[1]])


def test_what_is_left_to_close_is_told_with_all_that_hinders_it(stand_of, monitor_of):
    """Also where nothing is known to be held or to rest."""
    stand = stand_of()
    stand.hold("ETH", "0.4", "2500")
    told = {"closing": {"flat": False, "checked_ms": None, "twaps": 2, "hindrances": ["this hinders it", "and that"]}}
    monitor = monitor_of(stand, before=telling(lambda status: status.update(killed="enough", **told)))
    notice = monitor.page.locator("#notices")
    expect(notice).to_contain_text("Closing: 1 position, 1 order, 2 TWAP orders left. this hinders it. and that. (read ")
    told.update(positions=[], open_orders=[])
    expect(notice).to_contain_text("Closing: 0 positions, 0 orders, 2 TWAP orders left. this hinders it. and that. (read ")
    told["closing"]["twaps"] = None
    expect(notice).to_contain_text("Closing: 0 positions, 0 orders left. this hinders it. and that. (read ")
    told["closing"]["hindrances"] = []
    expect(notice).to_contain_text("Perhaps flat, when last read: 0 positions, 0 orders, TWAP orders not read. (read ")


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
    lasts_s = 2

    def slowly(route):
        time.sleep(lasts_s)
        route.continue_()

    def before(page):
        telling(lambda status: status["alerts"].extend(alerts))(page)
        page.route("**/guard/report*", slowly)

    monitor = monitor_of(stand_of(), before=before)
    rows = monitor.until_table("book", lambda rows: len(rows) == 2)
    assert rows[0] == ["Today", *["not read"] * 4]
    expect(monitor.page.locator("#no-book")).not_to_contain_text("begins with")
    expect(monitor.page.locator("#book-age")).to_have_text("")
    # A reading that took long has the next one wait, longer than this test does: not the one that tells whether there is any.
    lasts_s = 0
    alerts.clear()
    monitor.until_table("book", lambda rows: rows and rows[0] == ["Today", *["none yet"] * 4])
    expect(monitor.page.locator("#book-age")).to_contain_text("Read ")


def test_a_book_whose_rows_cannot_be_read_says_since_when(stand_of, monitor_of):
    """Its figures look as whole as ever. Both are told of by the guard after a quarter of an hour, until they were read."""
    stand = stand_of()
    day_ms = 86_400_000
    since_ms = stand.guard.status()["at_ms"] // day_ms * day_ms - day_ms + 37_230_000
    alerts = [
        {"code": "book_differs", "about": what, "text": f"{what} could not all be read", "since_ms": since_ms + 1000 * place}
        for place, what in enumerate(("fills", "payments of funding"))
    ]
    # An amount by which it does not add up is told for a day, and is about nothing that is still to be read.
    alerts.append({"code": "book_differs", "about": None, "text": "it is off by 1", "since_ms": since_ms})

    def before(page):
        telling(lambda status: status["alerts"].extend(alerts))(page)
        page.route("**/guard/report*", lambda route: route.fulfill(json=report(net="7", fees="1", funding="0", fills=2)))

    monitor = monitor_of(stand, before=before)
    monitor.until_table("book", lambda rows: rows and rows[0][1] == "+7.00")
    said = monitor.page.locator("#no-book")
    expect(said).to_have_text(
        re.compile(
            r"^▲ Not all fills were read since \d\d-\d\d 10:20:30 UTC\. ▲ Not all payments of funding were read since \d\d-\d\d 10:20:31 UTC\."
            r" Recorded from 2026-11-02 10:20 UTC on$"
        )
    )
    alerts.clear()
    expect(said).to_have_text("Recorded from 2026-11-02 10:20 UTC on")


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
