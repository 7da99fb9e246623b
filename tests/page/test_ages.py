"""How old things are: what was read stays with its age, what was not read is said, and a day ends."""

import re

import pytest
from playwright.sync_api import expect

from conftest import GTC, IOC
from harness import until
from test_equity import now, report, runs, some, until_runs, with_past
from equity_file import leave

DAY_MS = 86_400_000


def turned(page, change):
    """Each status as it is changed on its way."""

    def handle(route):
        answer = route.fetch()
        told = answer.json()
        change(told)
        route.fulfill(response=answer, json=told)

    page.route("**/guard/status", handle)


def test_one_answer_that_fails_takes_no_past_away(stand_of, monitor_of):
    stand = stand_of("paper")
    with_past(stand)
    monitor = monitor_of(stand)
    until_runs(monitor, 2)
    monitor.page.route("**/guard/equity*", lambda route: route.fulfill(status=503, json={"code": "busy", "msg": "later"}))
    monitor.page.get_by_text("1 day", exact=True).click()
    said = monitor.page.locator("#no-past")
    expect(said).to_have_text(re.compile(r"^▲ The time before this page was opened: read \d+(\.\d)? s ago, and not again$"))
    assert len(until_runs(monitor, 2)[0]) == 20
    monitor.page.unroute("**/guard/equity*")
    monitor.page.get_by_text("1 h", exact=True).click()
    expect(said).to_be_hidden()


def test_one_answer_that_fails_takes_no_book_away(stand_of, monitor_of):
    stand = stand_of()
    fails = []

    def told(route):
        if fails:
            return route.fulfill(status=503, json={"code": "busy", "msg": "later"})
        return route.fulfill(json=report(net="7", fees="1", funding="0", fills=2))

    monitor = monitor_of(stand, before=lambda page: page.route("**/guard/report*", told))
    age = monitor.page.locator("#book-age")
    expect(age).to_have_text(re.compile(r"^Read \d+(\.\d)? s ago$"))
    before = monitor.table("book")
    fails.append(True)
    # A fill has it read again soon.
    stand.bot.order("ETH", True, 0.01, 2510, IOC)
    expect(age).to_have_text(re.compile(r"^▲ The book could not be read just now: read \d+(\.\d)? s ago$"))
    assert monitor.table("book") == before and before[0][1] == "+7.00"


def test_a_book_of_an_account_that_was_never_read_is_not_read(stand_of, monitor_of):
    """Nobody knows whether there was a fill."""

    def unread(page):
        def handle(route):
            answer = route.fetch()
            status = answer.json()
            status["venue"]["account_age_ms"] = None
            route.fulfill(response=answer, json=status)

        page.route("**/guard/status", handle)

    monitor = monitor_of(stand_of(), before=unread)
    rows = monitor.until_table("book", lambda rows: len(rows) == 2)
    assert rows[0] == ["Today", *["not read"] * 4]
    expect(monitor.page.locator("#no-book")).not_to_contain_text("begins with")


def test_the_book_follows_a_fill(stand_of, monitor_of):
    stand = stand_of()
    monitor = monitor_of(stand)
    # Nothing is booked yet: that is no lack of the journal.
    rows = monitor.until_table("book", lambda rows: len(rows) == 2)
    assert rows[0] == ["Today", *["none yet"] * 4]
    monitor.page.wait_for_timeout(2000)
    stand.bot.order("ETH", True, 0.01, 2510, IOC)
    expect(monitor.rows("Bought 0.01 ETH")).to_have_count(1)
    until("the fill in the book", lambda: monitor.table("book")[0][4] == "1", 15)
    # However many come, the book is not always read.
    asked = len([url for _, url in monitor.asked if "/guard/report" in url])
    for _ in range(6):
        stand.bot.order("ETH", True, 0.01, 2510, IOC)
        monitor.page.wait_for_timeout(1100)
    assert len([url for _, url in monitor.asked if "/guard/report" in url]) - asked <= 2


def test_a_new_day_has_its_own_book_and_the_rows_their_date(stand_of, monitor_of):
    stand = stand_of("paper")
    stand.bot.order("BTC", True, 0.01, 59000, GTC)
    ahead, asked = {"ms": 0}, []

    def told(route):
        asked.append(re.search(r"from=(\S{10})&to=(\S{10})", route.request.url).groups())
        route.fulfill(json=report(net="7" if len(asked) <= 2 else "0", fees="1", funding="0", fills=2))

    def before(page):
        page.route("**/guard/report*", told)
        turned(page, lambda status: status.update(at_ms=status["at_ms"] + ahead["ms"]))

    monitor = monitor_of(stand, before=before, timezone_id="Asia/Kolkata")
    monitor.until_table("book", lambda rows: rows and rows[0][1] == "+7.00")
    times = monitor.page.locator("#stream time")
    assert all(re.fullmatch(r"\d\d:\d\d:\d\d", text) for text in times.all_inner_texts())
    # The time of here stands there for who has no mouse.
    expect(monitor.page.locator("#stream .decision .here")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d here$"))
    ahead["ms"] = DAY_MS
    monitor.until_table("book", lambda rows: rows and rows[0][1] == "0.00")
    assert asked[2][0] == asked[2][1] > asked[0][1]
    assert all(re.fullmatch(r"\d\d-\d\d \d\d:\d\d:\d\d", text) for text in times.all_inner_texts())


SLOW_HEALTH = """() => {
    const [now, ask] = [performance.now.bind(performance), fetch];
    let aheadMs = 0;
    performance.now = () => now() + aheadMs;
    window.fetch = async (path, ...more) => {
        const answer = await ask(path, ...more);
        if (path === "/healthz") aheadMs += 3 * 3_600_000;
        return answer;
    };
}"""


def test_a_status_is_as_old_as_its_question(stand_of, monitor_of):
    """What is asked for after it takes three hours, by the page's own clock."""
    monitor = monitor_of(stand_of("paper"), before=lambda page: page.add_init_script(f"({SLOW_HEALTH})()"), shows="▲ Late")
    expect(monitor.page.locator("#age")).to_have_text("3 h 0 min ago")


def halted(status):
    status["risk"].update(state="halted_for_day", details=None)


def test_nothing_counts_down_while_the_guard_is_lost(stand_of, monitor_of):
    stand = stand_of("paper")
    monitor = monitor_of(stand, before=lambda page: turned(page, halted))
    notice = monitor.page.locator("#notices p")
    expect(notice).to_contain_text("entries in ")
    stand.guard.end()
    expect(monitor.page.locator("#lost")).to_be_visible()
    expect(notice).to_contain_text("(as last read)")
    expect(notice).not_to_contain_text("entries in ")
    assert notice.evaluate("notice => getComputedStyle(notice.parentElement).filter") == "grayscale(1)"


def test_a_clock_that_is_off_counts_no_day(stand_of, monitor_of):
    stand = stand_of("paper")

    def off(status):
        halted(status)
        status["alerts"] = [{"code": "clock_off", "text": "this machine's clock is ahead", "since_ms": None}]

    monitor = monitor_of(stand, before=lambda page: turned(page, off))
    expect(monitor.page.locator("#notices p")).to_contain_text("until the next UTC day")
    expect(monitor.page.locator("#notices p")).not_to_contain_text("entries in ")


def test_the_lost_banner_covers_nothing(busy, monitor_of):
    monitor = monitor_of(busy, width=320, height=640)
    monitor.page.route("**/guard/**", lambda route: route.abort())
    expect(monitor.page.locator("#lost")).to_be_visible()
    monitor.page.evaluate("scrollTo(0, 900)")
    bottom = monitor.page.locator("#link").bounding_box()
    assert bottom["y"] >= 0 and monitor.page.locator("#lost").bounding_box()["y"] >= bottom["y"] + bottom["height"]


DRAWN = """async ([starts, past, samples, now]) => {
    const { Plot } = await import("/monitor/plot.js");
    const make = (tag) => document.createElement(tag);
    const plot = new Plot(make("div"), make("dl"), make("p"));
    for (const [t, stopped] of starts) plot.began(t, stopped ?? NaN);
    plot.remember(past.map(([from, equity]) => ({ at_ms: from, minutes: 1, equity, low: equity, high: equity })));
    for (const t of samples) {
        if (t === null) plot.cut();
        else plot.add({ t, equity: 1, down: 0 });
    }
    plot.nowMs = now;
    return plot.joined().map(({ t, isCut }) => [t, isCut]);
}"""
MINUTE = 60_000
PAST = [[minute * MINUTE, "10"] for minute in (10, 11, 12)]


@pytest.mark.parametrize("case", ["open all along", "opened anew", "a short restart", "lost to the page alone"])
def test_an_outage_within_two_minutes_is_a_gap(busy, monitor_of, case):
    """From 11:04 to 12:45 nobody measured, and each minute has something that was measured before or after."""
    monitor = monitor_of(busy)
    drawn = lambda *parts: monitor.page.evaluate(DRAWN, list(parts))  # noqa: E731
    end = 13 * MINUTE
    if case == "open all along":
        before, after = 11 * MINUTE + 4000, 12 * MINUTE + 45_000
        found = drawn([[after - 500]], PAST, [before, None, after, after + 1000], end)
        # The minute that the page saw a part of is not drawn to its end; and what comes after is not connected.
        assert [(t, is_cut) for t, is_cut in found if before <= t <= after] == [(before, False), (after, True)]
    elif case == "opened anew":
        found = dict(drawn([[12 * MINUTE + 44_500]], PAST, [end + 1000], end + 1000))
        assert found[12 * MINUTE] is False and found[13 * MINUTE] is True, found
    elif case == "a short restart":
        found = dict(drawn([[12 * MINUTE + 44_500, 12 * MINUTE + 40_000]], PAST, [end + 1000], end + 1000))
        assert found[13 * MINUTE] is False, found
    else:
        before, after = 10 * MINUTE + 30_000, 13 * MINUTE + 20_000
        found = drawn([], PAST, [before, None, after], after)
        # The guard measured on: its minutes join the page's own.
        assert [is_cut for t, is_cut in found if t > before] == [False] * 3, found


# Begins a function with a drawing that is in the page, of an equity that is known; the test ends it.
PLOT = """async () => {
    const { Plot } = await import("/monitor/plot.js");
    const frame = document.body.appendChild(document.createElement("div"));
    Object.assign(frame.style, { width: "800px", height: "400px" });
    const plot = new Plot(frame, document.createElement("dl"), document.createElement("p"));
    const minute = 60_000;
    plot.latest = { equity: "1", start: null, stop: null, peak: null, halt: null };
"""


def test_the_minute_in_which_the_page_began_to_see_is_drawn(busy, monitor_of):
    """It is over two minutes later, and asked for then; and a minute alone is as wide as it is."""
    monitor = monitor_of(busy)
    found = monitor.page.evaluate(
        PLOT
        + """plot.show(15 * minute);
            plot.began(10 * minute + 12_000, NaN);
            const asked = [];
            for (let t = 10.5 * minute; t <= 14 * minute; t += 1000) {
                plot.nowMs = t;
                plot.add({ t, equity: 10, down: 1 });
                const wish = plot.wish();
                if (wish) asked.push([t, wish.until]);
            }
            plot.remember([[2, 7, 7], [10, 4, 12]].map(([at, low, high]) => ({ at_ms: at * minute, minutes: 1, equity: "7", low: `${low}`, high: `${high}` })));
            const place = (t) => plot.x(t * minute).toFixed(1);
            const [line, area] = ["path.line.equity", "path.area"].map((name) => frame.querySelector(name).getAttribute("d"));
            frame.remove();
            return { asked, line, area, at: [2, 3, 10.2, 10.5].map(place) };
        }"""
    )
    asked, (began, ended, started, opened) = found["asked"], found["at"]
    assert asked == [[10.5 * MINUTE, 9.5 * MINUTE], [12.5 * MINUTE, 11.5 * MINUTE]]
    lone = found["line"].split("M")[1]
    assert lone.startswith(f"{ended} ") and lone.endswith(f"h{float(began) - float(ended):.1f}h{float(ended) - float(began):.1f}"), lone
    # What was lowest and highest before the page was opened, since the guard began: in one box.
    left, right = re.fullmatch(r"M([\d.]+) [\d.]+H([\d.]+)V[\d.]+H[\d.]+Z", found["area"]).groups()
    assert (round(float(left)), round(float(right))) == (round(float(started)), round(float(opened))), found


def test_a_minute_in_which_the_guard_had_run_before_is_drawn_whole(busy, monitor_of):
    monitor = monitor_of(busy)
    found = monitor.page.evaluate(
        PLOT
        + """plot.show(15 * minute);
            plot.nowMs = 20 * minute;
            // One whose end the page knows to be in this minute, one that ended before it, and the first of all.
            plot.began(10 * minute + 30_000, 10 * minute + 15_000);
            plot.began(13 * minute + 30_000, 12 * minute + 30_000);
            plot.began(16 * minute + 30_000, NaN, true);
            plot.remember([10, 13, 15, 16].map((at) => ({ at_ms: at * minute, minutes: 1, equity: "7", low: "4", high: "12" })));
            const place = (t) => Math.round(plot.x(t * minute));
            const area = frame.querySelector("path.area").getAttribute("d");
            frame.remove();
            return { area, at: [10, 13.5, 15, 16.5].map(place), cuts: plot.shown.map((one) => one.isCut) };
        }"""
    )
    assert [round(float(left)) for left in re.findall(r"M([\d.]+) ", found["area"])] == found["at"], found
    # Nothing is cut off by a start before which there was no guard.
    assert found["cuts"] == [True, True, True, False]


def test_the_minute_of_the_very_first_start_is_drawn_from_it(stand_of, monitor_of):
    stand = stand_of("paper")
    first = stand.guard.status()["at_ms"]
    minute = first // MINUTE * MINUTE
    statuses, starts = [], []

    def late(status):
        # The page is opened in the fiftieth second of a minute in whose thirtieth the guard began.
        status["at_ms"] += minute + 50_000 - first
        statuses.append(status["at_ms"])

    def began(route):
        answer = route.fetch()
        told = answer.json()
        for event in told["events"]:
            if event["kind"] == "started":
                event["at_ms"] = minute + 30_000
                starts.append(event["seq"])
        route.fulfill(response=answer, json=told)

    def before(page):
        turned(page, late)
        page.route("**/guard/events*", began)
        point = {"at_ms": minute, "minutes": 1, "equity": "10000", "low": "9000", "high": "11000"}
        page.route("**/guard/equity*", lambda route: route.fulfill(json={"schema": 1, "points": [point], "next": None}))

    monitor = monitor_of(stand, before=before)
    area = monitor.page.locator("#plot path.area").first
    found = until("the minute", lambda: re.match(r"M([\d.]+) [\d.]+H([\d.]+)V", area.get_attribute("d") or ""))
    axis = monitor.page.locator("#plot line.axis").first.evaluate("line => line.x2.baseVal.value - line.x1.baseVal.value")
    left, right = map(float, found.groups())
    # As long as the page shows one minute, that is as wide as the drawing.
    assert starts[0] == 1 and statuses[-1] < minute + 85_000
    assert abs((right - left) / axis * MINUTE - (statuses[0] - minute - 30_000)) < 1000, found[0]


def test_drawdown_is_not_drawn_where_it_was_not_seen(busy, monitor_of):
    """The guard keeps the equity of a time that the page did not see, and no drawdown."""
    monitor = monitor_of(busy)
    until("a curve", lambda: len(runs(monitor)) > 0)
    moves = monitor.page.evaluate(
        PLOT
        + """
            plot.nowMs = 10 * minute;
            for (const t of [minute, minute + 1000]) plot.add({ t, equity: 10, down: 1 });
            plot.cut();
            for (const t of [9 * minute, 9 * minute + 1000]) plot.add({ t, equity: 10, down: 1 });
            const kept = [2, 3, 4, 5, 6, 7, 8].map((at) => ({ at_ms: at * minute, minutes: 1, equity: "10", low: "10", high: "10" }));
            plot.remember(kept);
            const d = frame.querySelector(".down.line").getAttribute("d");
            frame.remove();
            return d.split("M").length - 1;
        }"""
    )
    assert moves == 2


def test_the_axis_holds_its_amounts(stand_of, monitor_of):
    stand = stand_of("paper")
    minute = now(stand)
    leave(stand, some(minute - 20, minute - 11, "123456789012") + some(minute - 10, minute - 1, "0"))
    for width in (1280, 320):
        monitor = monitor_of(stand, width=width)
        until("the past", lambda: sum(map(len, runs(monitor))) > 20)
        texts = monitor.page.locator("#plot text.tick")
        assert not {"-0", "−0", "-0.00", "−0.00"} & set(texts.all_text_contents())
        lefts = texts.evaluate_all("texts => texts.map((text) => text.getBBox().x)")
        assert min(lefts) >= 0, (width, lefts)
