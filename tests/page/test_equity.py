"""The curve of the account's equity, which outlives page and guard, and the book beside it."""

import re

import pytest
from playwright.sync_api import expect

from equity_file import leave
from figures import usd
from harness import until

LINE = "#plot path.line.equity"


def now(stand):
    """The guard's minute."""
    return stand.guard.status()["at_ms"] // 60_000


def some(first, last, equity="10000"):
    """A point for each minute from one to another."""
    return [(minute, equity, equity, equity) for minute in range(first, last + 1)]


def runs(monitor):
    """The connected parts of the curve, each as its places from the left."""
    drawn = monitor.page.locator(LINE).get_attribute("d") if monitor.page.locator(LINE).count() else ""
    return [[float(x) for x in re.findall(r"(-?[\d.]+) -?[\d.]+", part)] for part in drawn.split("M")[1:]]


def until_runs(monitor, count):
    return until(f"{count} parts of the curve", lambda: (found := runs(monitor)) and len(found) == count and found)


def with_past(stand):
    """Twenty minutes, ten of which nobody saw anything, and ten more up to the last minute."""
    minute = now(stand)
    leave(stand, some(minute - 40, minute - 21) + some(minute - 10, minute - 1, "10020"))
    return minute


def test_the_curve_outlives_the_page_and_the_guard(stand_of, monitor_of):
    stand = stand_of("paper")
    with_past(stand)
    monitor = monitor_of(stand)
    before = until_runs(monitor, 2)
    # What was not measured has no line: a quarter of the width is free.
    (first, second) = before
    width = second[-1] - first[0]
    assert len(first) == 20 and 0.2 < (second[0] - first[-1]) / width < 0.35, before
    assert all(0 < right - left < width / 30 for left, right in zip(first, first[1:]))
    # In the first forty minutes of a day, the past began on the day before.
    since = re.compile(r"^Since (\d\d-\d\d )?\d\d:\d\d:\d\d UTC, 1 gap\. ")
    expect(monitor.page.get_by_role("img", name=since)).to_be_visible()

    monitor.page.reload()
    after = until_runs(monitor, 2)
    assert [len(run) >= 10 for run in after] == [True, True] and len(after[0]) == 20

    # The next life goes on where this one ended.
    home = stand.guard.home
    assert stand.guard.stop() == 0
    expect(monitor.page.locator("#live")).to_have_text("■ Lost")
    stand.restart(home)
    expect(monitor.page.locator("#live")).to_have_text("● Live")
    until("the curve to go on", lambda: len(found := runs(monitor)) >= 2 and len(found[0]) == 20)
    monitor.page.reload()
    expect(monitor.page.locator("#live")).to_have_text("● Live")
    assert len(until_runs(monitor, 2)[0]) == 20


def test_what_was_seen_between_is_read_out(stand_of, monitor_of):
    stand = stand_of("paper")
    minute = now(stand)
    leave(stand, [*some(minute - 20, minute - 2), (minute - 1, "10000", "9800.5", "10100.25")])
    monitor = monitor_of(stand)
    until("the minutes before", lambda: sum(map(len, runs(monitor))) > 20)
    monitor.page.locator("#plot").focus()
    monitor.page.keyboard.press("Home")
    for _ in range(19):
        monitor.page.keyboard.press("ArrowRight")
    expect(monitor.page.locator("#readout")).to_contain_text("equity 10,000.00 · from 9,800.50 to 10,100.25")


def test_a_young_guard_is_drawn_from_its_first_minute_in_ninety_days_too(stand_of, monitor_of):
    """One point holds it all there, and is drawn at its end: what came before must not be cut off."""
    stand = stand_of("paper")
    minute = now(stand)
    leave(stand, some(minute - 16, minute - 1))
    monitor = monitor_of(stand)
    until_runs(monitor, 1)
    for name in ("30 d", "90 d"):
        monitor.page.get_by_text(name, exact=True).click()

        def first_mark():
            marks = monitor.page.locator("#plot svg text.tick[text-anchor=middle]").all_text_contents()
            return marks and marks[0]

        # Marks every few minutes, not every few seconds of the last one.
        until("marks of minutes", lambda: first_mark() and len(first_mark()) == len("12:34"))


def test_ninety_days_and_thirty_are_asked_for_as_they_are_shown(stand_of, monitor_of):
    stand = stand_of("paper")
    minute = now(stand)
    day = 24 * 60
    leave(stand, some(minute - 80 * day, minute - 79 * day) + some(minute - 20 * day, minute - 19 * day) + some(minute - 100, minute - 1))
    monitor = monitor_of(stand)
    until_runs(monitor, 1)
    parts = {}
    for name in ("1 day", "30 d", "90 d"):
        monitor.page.get_by_text(name, exact=True).click()
        asked = until("the question", lambda: [url for _, url in monitor.asked if "/guard/equity" in url][len(parts) + 1 :])
        step = {"1 day": 1, "30 d": 30, "90 d": 90}[name]
        assert asked[0].endswith(f"&step={step}"), asked
        parts[name] = until_runs(monitor, {"1 day": 1, "30 d": 2, "90 d": 3}[name])
        assert monitor.is_wide() == 0
    # A day of ninety is a ninetieth of the width.
    widths = [run[-1] - run[0] for run in parts["90 d"]]
    whole = parts["90 d"][-1][-1] - parts["90 d"][0][0]
    assert 0.005 < widths[0] / whole < 0.02 and 0.005 < widths[1] / whole < 0.02, parts["90 d"]


def test_a_figure_that_is_only_shown_on_is_not_drawn(stand_of, monitor_of):
    stand = stand_of("paper")
    monitor = monitor_of(stand)
    until("a curve", lambda: runs(monitor) and len(runs(monitor)[0]) > 2)
    stand.venue.end()
    expect(monitor.page.locator("#alerts")).to_contain_text("account stale")
    ended = runs(monitor)
    monitor.page.wait_for_timeout(3000)
    after = runs(monitor)
    assert [len(run) for run in after] == [len(run) for run in ended]
    # And the time goes on beside it.
    assert after[-1][-1] < ended[-1][-1] or after[-1][-1] < monitor.page.locator("#plot svg").bounding_box()["width"] - 82


WRONG = {
    "nothing there": {"status": 404, "json": {"code": "not_found", "msg": "nothing", "data": None}},
    "unreadable": {"status": 500, "json": {"code": "equity_error", "msg": "the disk", "data": None}},
    "a page": {"body": "<!doctype html>"},
    "no points": {"json": {"schema": 1, "step": 1, "next": None}},
    "other points": {"json": {"schema": 1, "step": 1, "points": "many", "next": None}},
    "without an end": {"json": {"schema": 1, "step": 1, "points": [], "next": 5}},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_past_that_cannot_be_read_is_said(stand_of, monitor_of, wrong):
    stand = stand_of("paper")
    with_past(stand)
    answer = WRONG[wrong]
    monitor = monitor_of(stand, before=lambda page: page.route("**/guard/equity*", lambda route: route.fulfill(**answer)))
    expect(monitor.page.locator("#no-past")).to_have_text("▲ The time before this page was opened: not read")
    expect(monitor.page.locator("#no-past")).to_be_visible()
    assert len(until_runs(monitor, 1)[0]) < 20
    if wrong == "nothing there":
        monitor.page.unroute("**/guard/equity*")
        until_runs(monitor, 2)
        expect(monitor.page.locator("#no-past")).to_be_hidden()


def test_points_that_make_no_sense_are_left_out(stand_of, monitor_of):
    stand = stand_of("paper")

    def odd(route):
        minute = 60_000 * (now(stand) - 30)
        good = {"minutes": 1, "equity": "10000", "low": "10000", "high": "10000"}
        points = [
            {**good, "at_ms": minute},
            None,
            7,
            {**good, "at_ms": minute + 60_000, "equity": "<img src=x>"},
            {**good, "at_ms": minute - 600_000},
            {**good, "at_ms": minute + 120_000, "minutes": -3},
            {**good, "at_ms": minute + 180_000, "minutes": 10**12},
            {**good, "at_ms": minute + 240_000, "high": None},
        ]
        route.fulfill(json={"schema": 1, "step": 1, "points": points, "next": None})

    monitor = monitor_of(stand, before=lambda page: page.route("**/guard/equity*", odd))
    parts = until_runs(monitor, 2)
    assert len(parts[0]) == 1, parts
    expect(monitor.page.locator("#live")).to_have_text("● Live")


def report(**figures):
    return {"schema": 1, "recorded_from": "2026-11-02T10:20:30.000Z", "missing_events": 0, "unreadable_lines": 0, "rows": [], "total": figures}


def test_the_book_of_today_and_of_thirty_days(stand_of, monitor_of):
    stand = stand_of("paper")
    asked = []

    def told(route):
        asked.append(route.request.url)
        today = report(net="-12.345", fees="3.5", funding="-0.25", fills=7)
        month = report(net="1234.567", fees="100", funding="10.126", fills=4321)
        route.fulfill(json=today if len(asked) % 2 else month)

    monitor = monitor_of(stand, before=lambda page: page.route("**/guard/report*", told))
    rows = monitor.until_table("book", lambda rows: len(rows) == 2)
    assert rows == [
        ["Today", usd("-12.345", True), usd("3.5"), usd("-0.25", True), "7"],
        ["Last 30 days", "+1,234.57", "100.00", "+10.13", "4321"],
    ]
    expect(monitor.page.locator("#no-book")).to_have_text("Recorded from 2026-11-02 10:20 UTC on")
    day = stand.guard.status()["risk"]["day"]
    spans = [re.search(r"from=(\S{10})&to=(\S{10})&by=day", url).groups() for url in asked]
    assert spans[0] == (day, day) and spans[1][1] == day and spans[1][0] < day, spans


NO_BOOK = {
    "nothing there": {"status": 404, "json": {"code": "not_found", "msg": "nothing", "data": None}},
    "busy": {"status": 503, "json": {"code": "busy", "msg": "later", "data": None}},
    "a page": {"body": "<!doctype html>"},
    "no total": {"json": {"schema": 1}},
    "nothing recorded": {"json": report(net=None, fees=None, funding=None, fills=None)},
    "another version": {"json": {**report(net="1", fees="1", funding="1", fills=1), "schema": 2}},
}


@pytest.mark.parametrize("wrong", NO_BOOK)
def test_what_is_not_recorded_is_no_zero(stand_of, monitor_of, wrong):
    stand = stand_of("paper")
    answer = NO_BOOK[wrong]
    monitor = monitor_of(
        stand, before=lambda page: page.route("**/guard/report*", lambda route: route.fulfill(**answer)), width=375, height=800
    )
    rows = monitor.until_table("book", lambda rows: len(rows) == 2)
    word = "not recorded" if wrong == "nothing recorded" else "not read"
    assert rows == [[name, *[word] * 4] for name in ("Today", "Last 30 days")]
    assert monitor.is_wide() == 0


def test_what_is_missing_in_the_book_is_said(stand_of, monitor_of):
    stand = stand_of("paper")
    lacks = {**report(net="1", fees="1", funding="1", fills=1), "missing_events": 3, "changed_lines": 1}
    monitor = monitor_of(stand, before=lambda page: page.route("**/guard/report*", lambda route: route.fulfill(json=lacks)))
    expect(monitor.page.locator("#no-book")).to_contain_text("A part of the journal is missing, and not in these figures.")
    expect(monitor.page.locator("#no-book")).to_contain_text("do not rely on these figures")
