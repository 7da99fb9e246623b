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
    expect(halt).to_contain_text("Loss 520.00, limit 500.00 (5%). (over in ")
    expect(monitor.page.locator("#notices")).not_to_contain_text("entries in")
    expect(halt).not_to_contain_text("Closing")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_command_is_broken_between_its_words_alone(stand_of, monitor_of, width):
    """What ends in a dash at the end of a line is typed wrongly."""

    def packaged(status):
        status["kill_file"] = "/var/lib/svc-guard/kill"
        status["risk"].update(state="stopped", details=None)

    monitor = monitor_of(stand_of("paper"), before=telling(packaged), width=width)
    way = "sudo -u svc-guard svc-guard --home /var/lib/svc-guard "
    commands = monitor.page.locator(":is(#t-kill, #notices) code")
    expect(commands).to_have_text([f"{way}journal-resume --mode paper --note TEXT", f"{way}kill --reason TEXT"])
    lines = commands.locator("span").evaluate_all("words => words.map((word) => word.offsetHeight / parseFloat(getComputedStyle(word).fontSize))")
    assert len(lines) == 11 + 9 and all(height < 2 for height in lines), lines


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
