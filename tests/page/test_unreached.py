"""The page opened while the guard cannot be read: it says so at once, and goes on by itself when it can."""

import pytest
from playwright.sync_api import expect

from conftest import GTC


def is_told(monitor, why):
    """That nothing is known, in every place that would tell of the guard."""
    lost = monitor.page.locator("#lost")
    expect(lost).to_be_visible()
    expect(lost).to_contain_text(why)
    expect(monitor.page).to_have_title("■ LOST · svc-guard")
    expect(monitor.page.locator("#age")).to_have_text("")
    for tile in ("kill", "risk", "equity"):
        expect(monitor.tile(tile)).to_have_text("–")
    # What answers something that is of no use, answers.
    expect(monitor.note("health")).to_have_text("the guard cannot be read")


def is_whole(monitor, stand):
    """That the page is what it is where nothing ever failed."""
    expect(monitor.page.locator("#live")).to_have_text("● Live")
    expect(monitor.page.locator("#lost")).to_be_hidden()
    expect(monitor.tile("health")).to_have_text("● Healthy")
    expect(monitor.page).to_have_title(f"● Active · {stand.mode} · svc-guard")
    assert not monitor.is_grey()
    expect(monitor.page.locator("#stream .decision")).to_have_count(1)
    expect(monitor.page.locator("#stream .gap")).to_have_count(0)


def test_an_account_that_was_never_read_is_not_green(stand_of, monitor_of):
    """No state is known then, whatever the guard begins with; and what neither won nor lost is no win."""
    stand = stand_of("paper")
    stand.hold("ETH", "0.4", "2500", covered=False)
    told = {"account_age_ms": None}

    def before(page):
        def handle(route):
            answer = route.fetch()
            status = answer.json()
            status["venue"].update(told)
            route.fulfill(response=answer, json=status)

        page.route("**/guard/status", handle)

    monitor = monitor_of(stand, before=before)
    expect(monitor.tile("risk")).to_have_text("● Active")
    expect(monitor.page.locator("#t-risk")).to_have_class("idle")
    result = monitor.page.locator("#positions td[data-name=Result]").first
    expect(result).to_have_text("0.00 · 0.0%")
    assert result.get_attribute("data-tone") is None
    told["account_age_ms"] = 100
    expect(monitor.page.locator("#t-risk")).to_have_class("ok")


@pytest.mark.parametrize("code", ["account_stale", "orders_stale"])
def test_cover_that_cannot_be_read_is_not_said_to_be_none(stand_of, monitor_of, code):
    stand = stand_of("paper")
    stand.hold("ETH", "0.4", "2500", covered=False)
    unread = [{"code": code, "text": "not read in time", "since_ms": None}]

    def before(page):
        def handle(route):
            answer = route.fetch()
            status = answer.json()
            status["alerts"] += unread
            route.fulfill(response=answer, json=status)

        page.route("**/guard/status", handle)

    monitor = monitor_of(stand, before=before, shows="▲ Live, data stale")
    cover = monitor.page.locator("#positions td[data-name=Cover]").first
    expect(cover).to_have_text("▲ Not read")
    unread.clear()
    expect(cover).to_have_text("▲ none")


BUSY = {"code": "busy", "msg": "too much at once", "data": None}
NO_GUARD = "what answers there is no guard of this version"
FAULTS = {
    "unwell": ("status", {"status": 503, "json": BUSY}, "it answers 503: too much at once"),
    "a proxy": ("status", {"status": 503, "body": "<h1>Unavailable</h1>"}, "it answers 503: no reason given"),
    "a page": ("status", {"body": "<!doctype html>"}, NO_GUARD),
    "cut": ("status", {"body": '{"schema":1,"mode":"pa'}, NO_GUARD),
    "null": ("status", {"json": None, "body": "null"}, NO_GUARD),
    "a list": ("status", {"json": []}, NO_GUARD),
    "another program": ("status", {"json": {"status": "ok"}}, NO_GUARD),
    "another version": ("status", {"json": {"schema": 2, "mode": "paper", "account": "0x0"}}, NO_GUARD),
    "no events": ("events*", {"json": {"status": "ok"}}, NO_GUARD),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_guard_that_answers_wrongly_from_the_first(stand_of, monitor_of, fault):
    path, answer, why = FAULTS[fault]
    answer = {key: value for key, value in answer.items() if value is not None}
    stand = stand_of("paper")
    stand.bot.order("BTC", True, 0.01, 59000, GTC)
    monitor = monitor_of(
        stand, before=lambda page: page.route(f"**/guard/{path}", lambda route: route.fulfill(**answer)), shows="■ Lost"
    )
    is_told(monitor, f"The guard is lost: {why}. Nothing was read yet.")
    expect(monitor.tile("health")).to_have_text("■ Not known")
    assert monitor.is_grey()
    monitor.page.unroute(f"**/guard/{path}")
    is_whole(monitor, stand)


def end_at(stand, part):
    """Ends the guard just before a part of the page is asked for."""

    def before(page):
        def handle(route):
            stand.guard.end()
            route.continue_()

        page.route(part, handle, times=1)

    return before


def test_a_guard_that_goes_while_the_page_is_loaded(stand_of, monitor_of):
    stand = stand_of("paper")
    stand.bot.order("BTC", True, 0.01, 59000, GTC)
    monitor = monitor_of(stand, before=end_at(stand, "**/guard/events*"), shows="■ Lost")
    is_told(monitor, "nobody answers at its address. Nothing was read yet.")
    stand.restart(stand.guard.home)
    is_whole(monitor, stand)


@pytest.mark.parametrize("part", ["script.js", "feed.js", "style.css"])
def test_a_part_that_does_not_come(stand_of, monitor_of, part):
    stand = stand_of("paper")
    stand.bot.order("BTC", True, 0.01, 59000, GTC)

    def refuse(page):
        page.route(f"**/monitor/{part}", lambda route: route.fulfill(status=503, json=BUSY))

    # Without its styles the page is plain and works.
    is_dead = part != "style.css"
    monitor = monitor_of(stand, before=refuse, shows="Connecting" if is_dead else "● Live")
    if is_dead:
        lost = monitor.page.locator("#lost")
        expect(lost).to_be_visible()
        expect(lost).to_contain_text("a part of it did not come: load it again")
        monitor.page.unroute(f"**/monitor/{part}")
        monitor.page.reload()
    is_whole(monitor, stand)
