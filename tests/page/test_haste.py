"""What a person in a hurry must not read wrongly: two stops at once, a command to be typed, what is not known, what is cut off."""

import pytest
from playwright.sync_api import expect

from equity_file import leave
from harness import until


def telling(change):
    """Prepares a page so that the guard's own status is told with a change."""

    def before(page):
        def handle(route):
            answer = route.fetch()
            status = answer.json()
            change(status)
            route.fulfill(response=answer, json=status)

        page.route("**/guard/status", handle)

    return before


def test_a_kill_beside_a_daily_stop_names_no_hour_at_which_entries_come_back(stand_of, monitor_of):
    stand = stand_of()
    stand.hold("ETH", "0.4", "2500")

    def both(status):
        status["killed"] = "the feed is wrong"
        status["risk"].update(state="halted_for_day", details={"loss": "520", "limit": "500", "limit_pct": "5"})

    monitor = monitor_of(stand, before=telling(both))
    kill, halt = (monitor.page.locator("#notices p").nth(place) for place in (0, 1))
    # What is left is told once, by the first.
    expect(kill).to_contain_text("and restarts the guard. Closing: 1 position, 1 order left. (read ")
    expect(halt).to_contain_text("Loss 520.00 when it stopped, limit 500.00 (5%). (over in ")
    expect(monitor.page.locator("#notices")).not_to_contain_text("entries in")
    expect(halt).not_to_contain_text("Closing")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "home, sudo, pieces",
    [
        ("/var/lib/svc-guard", "sudo -u svc-guard ", 13),
        ("/var/lib/svc-guard/guards/btc-main", "sudo -u svc-guard ", 15),
        ("/home/alexander/.svc-guard-testnet", "", 10),
    ],
)
def test_a_command_is_broken_between_its_words_alone(stand_of, monitor_of, home, sudo, pieces, width):
    """What ends in a dash at the end of a line is typed wrongly; behind a slash in a word it may end."""

    def packaged(status):
        status["kill_file"] = f"{home}/kill"
        status["risk"].update(state="stopped", details=None)

    monitor = monitor_of(stand_of("paper"), before=telling(packaged), width=width)
    way = f"{sudo}svc-guard --home {home} "
    commands = monitor.page.locator(":is(#t-kill, #notices) code")
    expect(commands).to_have_text([f"{way}journal-resume --mode paper --note TEXT", f"{way}kill --reason TEXT"])
    lines = commands.locator("span").evaluate_all("words => words.map((word) => word.offsetHeight / parseFloat(getComputedStyle(word).fontSize))")
    assert len(lines) == 2 * pieces - 2 and all(height < 2 for height in lines), lines
    assert {text[-1] for text in commands.locator("span").all_text_contents()} >= {"/"}
    # Nothing of it is out of sight, and what is copied is what is typed.
    over = commands.locator("span").evaluate_all("words => words.filter((word) => word.scrollWidth > word.clientWidth).map((word) => word.textContent)")
    assert over == [] and monitor.is_wide() <= 0, over
    copied = commands.last.evaluate("code => { getSelection().selectAllChildren(code); return getSelection().toString(); }")
    assert copied == f"{way}kill --reason TEXT" or copied == f"{way}journal-resume --mode paper --note TEXT"


def test_a_reason_is_no_command(stand_of, monitor_of):
    monitor = monitor_of(stand_of("paper"), before=telling(lambda status: status.update(killed="run \x01rm -r /\x01 and `that`")))
    expect(monitor.note("kill")).to_have_text("run \ufffdrm -r /\ufffd and `that`")
    expect(monitor.page.locator(":is(#t-kill, #notices) code")).to_have_count(0)


def test_a_long_reason_leaves_the_first_row_low(stand_of, monitor_of):
    monitor = monitor_of(stand_of("paper"), before=telling(lambda status: status.update(killed="the feed is wrong " * 20)))
    expect(monitor.note("kill")).to_contain_text("…")
    assert monitor.page.locator(".tiles").bounding_box()["height"] < 160
    expect(monitor.page.locator("#notices")).to_contain_text("the feed is wrong " * 11)


@pytest.mark.parametrize("width", [320, 1000])
def test_no_amount_is_cut(stand_of, monitor_of, width):
    def rich(status):
        status["equity"] = "1234567890.12"
        status["risk"].update(day_pnl="-12345678.9", drawdown="123456789.01")

    monitor = monitor_of(stand_of("paper"), before=telling(rich), width=width)
    expect(monitor.tile("equity")).to_have_text("1,234,567,890.12")
    over = monitor.page.locator(".tiles .value").evaluate_all("values => values.map((value) => value.scrollWidth - value.clientWidth)")
    assert max(over) <= 0, over


def test_what_is_not_known_has_no_figures(stand_of, monitor_of):
    def unread(status):
        for row in status["headroom"]:
            row.update(used=None, limit=None if row["unit"] == "usdc" else row["limit"])

    monitor = monitor_of(stand_of("paper"), before=telling(unread))
    expect(monitor.page.locator("#headroom .use")).to_have_text(
        [*["not known"] * 6, "not known, limit 5×", "not known, limit 50", "not known, limit 60"]
    )


def test_the_limits_stand_in_a_drawing_that_was_opened_while_nothing_was_read(stand_of, monitor_of):
    stand = stand_of("paper")
    minute = stand.guard.status()["at_ms"] // 60_000
    leave(stand, [(one, "9900", "9900", "9900") for one in range(minute - 30, minute)])
    stale = {"code": "account_stale", "about": None, "text": "the account: last read over 5 s ago", "since_ms": None}
    monitor = monitor_of(stand, before=telling(lambda status: status["alerts"].append(stale)), shows="▲ Live, data stale")
    drawn = until("the curve", lambda: monitor.page.locator("#plot path.line").count() == 6 and monitor.page.locator("#plot path.line"))
    ends = drawn.evaluate_all(
        "lines => Object.fromEntries(lines.filter((line) => !line.matches('.down')).map((line) => [line.classList[1], line.getPointAtLength(line.getTotalLength())]).map(([name, { x, y }]) => [name, [x, y]]))"
    )
    right = ends["peak"][0]
    assert all(ends[name][0] == right for name in ("peak", "start", "stop", "halt")), ends
    assert ends["peak"][1] < ends["stop"][1] < ends["halt"][1], ends
    labels = monitor.page.locator("#plot text.label").all_text_contents()
    assert set(labels) == {"Peak", "Day start", "Loss stop", "Halt", "Equity", "Limit"}


def test_many_words_leave_the_state_on_a_phone_s_screen(stand_of, monitor_of):
    stand = stand_of()
    stand.hold("ETH", "0.4", "2500")

    def talkative(status):
        status["killed"] = "the feed is wrong " * 11
        status["risk"].update(state="stopped", details=None)
        status["closing"] = {"flat": False, "twaps": 0, "hindrances": ["the close of ETH was refused for a long reason " * 6] * 3}

    monitor = monitor_of(stand, before=telling(talkative), width=390, height=844)
    notices = monitor.page.locator("#notices")
    expect(notices).to_contain_text("for a long reason the close")
    assert monitor.page.locator(".tiles").bounding_box()["y"] < 844 * 0.6
    assert notices.evaluate("notices => notices.scrollHeight > notices.clientHeight")
    # All of it can be come to.
    assert monitor.page.locator("#notices p").first.evaluate("first => { first.parentElement.scrollTop = 9999; return first.parentElement.scrollTop; }") > 0


def test_the_most_severe_alert_comes_first_and_is_marked(stand_of, monitor_of):
    def two(status):
        status["alerts"] = [{"code": code, "text": f"of {code}", "since_ms": None} for code in ("allowance_low", "uncovered")]

    monitor = monitor_of(stand_of("paper"), before=telling(two))
    expect(monitor.page.locator("#alerts li")).to_have_text(["■ uncovered of uncovered", "▲ allowance low of allowance_low"])
    colour = "code => getComputedStyle(code).color"
    severe, other = (monitor.page.locator("#alerts b").nth(place).evaluate(colour) for place in (0, 1))
    assert severe == monitor.page.locator("#live").evaluate("() => { const e = document.createElement('b'); e.className = 'mainnet'; document.body.append(e); const c = getComputedStyle(e).color; e.remove(); return c; }")
    assert severe != other


def test_signs_beneath_the_drawing_are_those_of_its_lines(stand_of, monitor_of):
    told = []
    monitor = monitor_of(stand_of("paper"), before=telling(lambda status: status.update(alerts=told)))
    monitor.page.locator("#plot path.line.halt").wait_for(state="attached")
    told.append({"code": "account_stale", "text": "not read", "since_ms": None})
    expect(monitor.page.locator("#live")).to_have_text("▲ Live, data stale")
    line = monitor.page.locator("#plot path.line.halt").evaluate("line => getComputedStyle(line).strokeDasharray")
    sign = monitor.page.locator("#lines .key.halt dt").evaluate("name => getComputedStyle(name, '::before').backgroundImage")
    # A dash, a dot, and what is free after each.
    assert len(line.split(",")) == 4 and sign.startswith("repeating-linear-gradient(") and sign.count("rgba(0, 0, 0, 0)") == 4, (line, sign)
    greys = [monitor.page.locator(place).evaluate("place => getComputedStyle(place).filter") for place in ("#plot svg", "#lines")]
    assert greys == ["grayscale(1)"] * 2


def test_each_time_stands_at_its_line(stand_of, monitor_of):
    stand = stand_of("paper")
    minute = stand.guard.status()["at_ms"] // 60_000
    leave(stand, [(at, "10000", "10000", "10000") for at in range(minute - 30, minute)])
    monitor = monitor_of(stand)
    ticks = monitor.page.locator("#plot text.tick[text-anchor=middle]")
    until("times beneath the drawing", lambda: ticks.count() > 1)
    found = monitor.page.evaluate(
        """() => {
            const places = (what) => [...document.querySelectorAll(what)].map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right]);
            const lines = [...document.querySelectorAll("#plot line.grid")].filter((line) => line.getAttribute("x1") === line.getAttribute("x2"));
            return [places("#plot text.tick[text-anchor=middle]"), lines.map((line) => line.getBoundingClientRect().left), places("#plot")[0]];
        }"""
    )
    texts, lines, (left, right) = found
    assert len(texts) == len(lines)
    for (start, end), line in zip(texts, lines):
        assert abs((start + end) / 2 - line) < 1 and left <= start and end <= right, found


def test_the_scale_that_fits_has_amounts_too(stand_of, monitor_of):
    monitor = monitor_of(stand_of("paper"))
    monitor.page.get_by_text("Fit", exact=True).click()
    amounts = monitor.page.locator("#plot text.tick[text-anchor=end]")
    until("amounts", lambda: amounts.count() >= 4)
    heights = amounts.evaluate_all("texts => texts.map((text) => text.getBoundingClientRect().top)")
    beneath = monitor.page.locator("#plot text.tick", has_text="Drawdown").bounding_box()["y"]
    assert sum(height < beneath for height in heights) >= 3 and sum(height > beneath for height in heights) >= 1, heights


def test_a_risk_event_that_says_nothing_new_has_no_row(stand_of, monitor_of):
    monitor = monitor_of(stand_of("paper"))
    told = monitor.page.evaluate(
        """async () => {
            const { Stream } = await import("/monitor/stream.js");
            const make = (tag) => document.createElement(tag);
            const stream = new Stream(make("ol"), make("p"), make("p"));
            const event = (seq, state, discrepancies) => ({ seq, at_ms: 1e12 + seq, kind: "risk", state, equity: "1", discrepancies, journal_error: null });
            stream.add([event(1, "active", []), event(2, "active", []), event(3, "active", ["one"]), event(4, "stopped", ["one"])], 1e12);
            stream.add([event(5, "stopped", ["one"]), event(6, "active", [])], 1e12);
            return [...stream.list.querySelectorAll(".seq")].map((seq) => seq.textContent);
        }"""
    )
    assert told == ["#6", "#4", "#3", "#1"]
