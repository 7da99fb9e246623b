"""The states that a person must see at once."""

import re
import signal

from playwright.sync_api import expect

from conftest import GTC, IOC
from harness import ACCOUNT, new_home, svc_guard


def test_a_daily_loss_stop(stand_of, monitor_of):
    stand = stand_of()
    stand.hold("ETH", "4", "2500")
    monitor = monitor_of(stand)
    stand.venue.do("book", coin="ETH", depth="0")
    stand.venue.do("price", coin="ETH", px="2420")
    expect(monitor.note("day")).to_have_text("stop at −500.00")
    expect(monitor.page.locator("#alerts")).to_contain_text("daily loss near")
    stand.venue.do("price", coin="ETH", px="2370")
    expect(monitor.tile("risk")).to_have_text("■ Halted for the day")
    # Its stop has fired into an empty book: from five seconds on that is ill health, and green is it at no time.
    expect(monitor.page.locator("#t-health")).to_have_class(re.compile("^(idle|bad)$"))
    notice = monitor.page.locator("#notices p")
    expect(notice).to_be_visible()
    expect(notice).to_contain_text("Daily loss stop: nothing is opened until the next UTC day")
    expect(notice).to_contain_text("limit 500.00 (5%)")
    expect(notice).to_contain_text("entries in ")
    # Nobody takes the other side of the close.
    expect(notice).to_contain_text("Closing: 1 position, ")
    # What is over its limit is red, and nothing beside it green.
    expect(monitor.page.locator("#t-day")).to_have_class("bad")
    expect(monitor.page.locator("#icon")).to_have_attribute("href", "/monitor/icon-bad.svg")
    expect(monitor.page).to_have_title("■ HALTED · testnet · svc-guard")
    expect(monitor.rows("Closing everything: daily loss stop").first).to_be_visible()
    # The halt tells more than the warning did.
    expect(monitor.page.locator("#alerts")).not_to_contain_text("daily loss near")
    expect(monitor.page.locator("#headroom li").first).to_contain_text("■ reached")


def test_a_drawdown_halt(stand_of, monitor_of):
    stand = stand_of(rules='drawdown = "1"\n')
    stand.hold("ETH", "4", "2500")
    monitor = monitor_of(stand)
    stand.venue.do("price", coin="ETH", px="2460")
    expect(monitor.tile("risk")).to_have_text("■ Stopped")
    expect(monitor.page.locator("#notices")).to_contain_text(f"svc-guard --home {stand.guard.home} journal-resume --mode testnet --note TEXT")
    expect(monitor.page.locator("#no-positions")).to_be_visible()
    expect(monitor.page.locator("#positions")).to_be_hidden()
    # Nothing is left to close: that is no ill health, and no green one.
    expect(monitor.page.locator("#t-health")).to_have_class("idle")


def test_what_is_to_be_typed(stand_of, monitor_of):
    """On mainnet a person says the account again, and a packaged home is acted on as its user; else it is refused."""
    stand = stand_of("paper")
    told = {}

    def before(page):
        def handle(route):
            answer = route.fetch()
            status = answer.json()
            status["risk"].update(state="stopped", details=None)
            route.fulfill(response=answer, json={**status, **told})

        page.route("**/guard/status", handle)

    monitor = monitor_of(stand, before=before)
    notice, note = monitor.page.locator("#notices"), monitor.note("kill")
    resume = "journal-resume --mode mainnet --note TEXT"
    for home, sudo, more in [
        ("/home/me/g", "", " and started it again."),
        ("/var/lib/svc-guard/guards/b", "sudo -u svc-guard ", " and started it again."),
        ("/var/lib/svc-guard", "sudo -u svc-guard ", " (of a container: in one with its volume, without sudo) and started it again."),
    ]:
        told.update(mode="mainnet", kill_file=f"{home}/kill", clients=[])
        expect(note).to_have_text(f"{sudo}svc-guard --home {home} kill --reason TEXT")
        expect(monitor.page.locator("#first")).to_contain_text(f"there is none, {sudo}svc-guard --home {home} pair makes one")
        expect(notice).to_contain_text(f"run {sudo}SVC_MAINNET_CONFIRM={ACCOUNT} svc-guard --home {home} {resume}{more}")
    told.update(mode="testnet", kill_file="/home/me/g/kill")
    expect(notice).to_contain_text("run svc-guard --home /home/me/g journal-resume --mode testnet --note TEXT and started")


def test_a_command_in_an_alert_stands_there_as_one(stand_of, monitor_of):
    stand = stand_of("paper")
    alert = {"code": "api_wallet_expiring", "about": None, "text": "it ends; give its key with `svc-guard key replace`, and restart", "since_ms": None}

    def handle(route):
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "alerts": [alert]})

    monitor = monitor_of(stand, before=lambda page: page.route("**/guard/status", handle))
    told = monitor.page.locator("#alerts li")
    expect(told).to_contain_text("give its key with svc-guard key replace, and restart")
    expect(told.locator("code")).to_have_text("svc-guard key replace")


def test_a_pulled_kill_switch(stand_of, monitor_of):
    stand = stand_of()
    stand.hold("ETH", "0.4", "2500")
    monitor = monitor_of(stand)
    expect(monitor.page.locator("#positions")).to_contain_text("ETH")
    svc_guard(stand.guard.home, "kill", "--reason", "the feed is wrong")
    expect(monitor.tile("kill")).to_have_text("■ PULLED")
    expect(monitor.note("kill")).to_have_text("the feed is wrong")
    expect(monitor.page.locator("#notices p").first).to_be_visible()
    expect(monitor.page.locator("#notices")).to_contain_text("Kill switch pulled: the feed is wrong.")
    expect(monitor.page.locator("#notices")).to_contain_text(str(stand.guard.home / "kill"))
    expect(monitor.page).to_have_title("■ KILLED · testnet · svc-guard")
    expect(monitor.rows("The kill switch was pulled: the feed is wrong")).to_have_count(1)
    expect(monitor.page.locator("#no-positions")).to_be_visible()
    expect(monitor.tile("health")).to_have_text("● Healthy")
    expect(monitor.page.locator("#notices")).to_contain_text("Flat: 0 positions, 0 orders.")
    for tile in ("risk", "health"):
        expect(monitor.page.locator(f"#t-{tile}")).to_have_class("idle")


def test_a_kill_that_does_not_get_flat(stand_of, monitor_of):
    stand = stand_of()
    stand.hold("ETH", "0.4", "2500")
    monitor = monitor_of(stand)
    stand.venue.do("fault", on="exchange", kind="http_502", times=1_000_000)
    svc_guard(stand.guard.home, "kill", "--reason", "enough")
    notices = monitor.page.locator("#notices")
    expect(notices).to_contain_text("Closing: 1 position, 1 order left. 0.4 of ETH stays: ")
    expect(notices).to_contain_text("502")
    expect(notices).to_contain_text("close it at the venue's own page if it lasts")
    stand.venue.do("clear")
    expect(monitor.page.locator("#notices")).to_contain_text("Flat: 0 positions, 0 orders.")


def test_a_stale_account(stand_of, monitor_of):
    stand = stand_of()
    stand.hold("ETH", "0.4", "2500")
    monitor = monitor_of(stand)
    tag = monitor.page.locator("#h-positions .staletag")
    expect(tag).to_be_hidden()
    cover = monitor.page.locator("#positions td[data-name=Cover]")
    risk = monitor.page.locator("#positions tbody td[data-name=Risk]")
    most = monitor.page.locator("#headroom li", has_text="Loss if every stop is hit").locator(".use")
    expect(cover).to_have_text("● full")
    # Neither read nor told of.
    stand.venue.do("fault", on="clearinghouseState", kind="http_502", times=1_000_000)
    stand.venue.do("feed", kind="refuse")
    stand.venue.do("feed", kind="drop")
    expect(monitor.tile("health")).to_have_text("▲ Unwell")
    expect(monitor.note("health")).to_contain_text("the account: last read over 5 s ago")
    expect(monitor.page.locator("#alerts")).to_contain_text("▲ account stale")
    expect(tag).to_be_visible()
    expect(monitor.page.locator("#live")).to_have_text("▲ Live, data stale")
    expect(monitor.page).to_have_title("▲ Unwell · testnet · svc-guard")
    # By now there may be more of it than the stops cover.
    expect(cover).to_have_text("▲ full when last read")
    expect(risk).to_contain_text("≥ ")
    expect(most).to_contain_text("≥ ")
    stand.venue.do("clear")
    expect(monitor.tile("health")).to_have_text("● Healthy")
    expect(tag).to_be_hidden()
    expect(cover).to_have_text("● full")
    expect(risk).not_to_contain_text("≥")
    expect(most).not_to_contain_text("≥")


def test_cover_in_part_and_none(stand_of, monitor_of):
    """On paper the guard places no stop, so that what a hand did shows as it is."""
    stand = stand_of("paper")
    stand.hold("ETH", "0.4", "2500", covered=False)
    monitor = monitor_of(stand)
    expect(monitor.page.locator("#mode")).to_have_text("PAPER")
    monitor.until_table("positions", lambda rows: rows and rows[0][2:5] == ["0.4", "▲ none", "–"])
    expect(monitor.rows("Would cover ETH with the guard’s own stop")).to_have_count(1)
    trigger = {"trigger": {"isMarket": True, "triggerPx": "2440", "tpsl": "sl"}}
    order = {"a": stand.bot.info.name_to_asset("ETH"), "b": False, "p": "2200", "s": "0.1", "r": True, "t": trigger}
    stand.venue.do("order", order=order)
    monitor.until_table("positions", lambda rows: rows and rows[0][2:4] == ["0.4", "◐ 0.1 of 0.4"] and rows[0][4].startswith("2,440 · "))


def test_a_guard_that_is_gone_and_comes_back(stand_of, monitor_of):
    stand = stand_of()
    monitor = monitor_of(stand)
    before = stand.guard.events()[-1]["seq"]
    stand.bot.order("DOGE", True, 10, 0.2, IOC)
    expect(monitor.rows(f"#{before + 1}")).to_have_count(1)
    assert not monitor.is_grey()
    stand.guard.end()
    lost = monitor.page.locator("#lost")
    expect(lost).to_be_visible()
    expect(lost).to_contain_text("The guard is lost: nobody answers at its address. What stands below is old.")
    expect(monitor.page.locator("#live")).to_have_text("■ Lost")
    expect(monitor.tile("health")).to_have_text("■ Not known")
    expect(monitor.page).to_have_title("■ LOST · svc-guard")
    assert monitor.is_grey()
    # That nothing is held was known, and is no more.
    for none in ("#no-positions", "#no-orders", "#no-alerts"):
        expect(monitor.page.locator(none)).to_have_text("Not known")
    expect(monitor.page.locator("#h-positions .staletag")).to_be_visible()
    age = monitor.page.locator("#age")
    first = age.inner_text()
    expect(age).not_to_have_text(first)

    stand.restart(stand.guard.home)
    expect(lost).to_be_hidden()
    expect(monitor.page.locator("#live")).to_have_text("● Live")
    expect(monitor.tile("health")).to_have_text("● Healthy")
    assert not monitor.is_grey()
    expect(monitor.rows("The guard 0.1.0 started")).to_have_count(2)
    # Each event once, and none missing.
    numbers = [int(text[1:]) for text in monitor.page.locator("#stream .seq").all_inner_texts()]
    assert numbers == sorted(set(numbers), reverse=True)
    expect(monitor.page.locator("#stream .gap")).to_have_count(0)


def test_a_guard_that_hangs(stand_of, monitor_of):
    stand = stand_of()
    monitor = monitor_of(stand)
    stand.guard.process.send_signal(signal.SIGSTOP)
    try:
        expect(monitor.page.locator("#lost")).to_be_visible()
        expect(monitor.page.locator("#lost")).to_contain_text("no answer within 3 s")
        assert monitor.is_grey()
    finally:
        stand.guard.process.send_signal(signal.SIGCONT)
    expect(monitor.page.locator("#lost")).to_be_hidden()


def test_another_journal_where_the_last_one_was(stand_of, monitor_of, tmp_path):
    stand = stand_of("paper")
    for number in range(3):
        stand.bot.order("BTC", True, 0.01, 59000 + number, GTC)
    monitor = monitor_of(stand)
    expect(monitor.page.locator("#stream .decision")).to_have_count(3)
    stand.guard.end()
    expect(monitor.page.locator("#lost")).to_be_visible()
    folder = tmp_path / "other"
    folder.mkdir()
    home = new_home(folder, stand.venue)
    (folder / "rules.toml").write_text('markets = ["SOL"]\n')
    rules = ["--rules", f"@{folder / 'rules.toml'}", "--account", ACCOUNT]
    svc_guard(home, "init", "--non-interactive", *rules, "--client-key-out", folder / "bot.key")
    stand.restart(home)
    expect(monitor.page.locator("#stream .gap")).to_contain_text("This is another journal than before")
    expect(monitor.page.locator("#stream .decision")).to_have_count(0)
    expect(monitor.page.locator("#rules")).to_contain_text("SOL")
    expect(monitor.page.locator("#lost")).to_be_hidden()
