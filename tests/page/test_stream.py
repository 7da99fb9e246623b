"""The stream of events: as they come, with what is missing, and whatever their texts hold."""

import json
import re

from playwright.sync_api import expect

from conftest import GTC, IOC
from harness import PATIENCE_S, svc_guard, until

HOSTILE = '<img src=x onerror="window.caught=1"><script>window.caught=1</script><b>bold</b>'


def test_decisions_arrive_as_they_are_taken(stand_of, monitor_of):
    stand = stand_of(rules='markets = ["BTC", "ETH"]\n')
    monitor = monitor_of(stand)
    expect(monitor.page.locator("#stream .decision")).to_have_count(0)

    resized = stand.bot.order("ETH", True, 0.4, 2520, IOC)["guard"]
    row = monitor.page.locator("#stream .decision").first
    expect(row.locator(".badge")).to_have_text("± resize")
    expect(row.locator("code")).to_have_text("resized")
    expect(row).to_be_visible()
    assert resized["changes"][0].startswith("ETH price pulled from 2520 to 2512.5")
    expect(row.locator(".changes li")).to_have_text(resized["changes"])
    expect(row.locator(".seq")).to_have_text(f"#{resized['seq']}")
    expect(row).to_contain_text(f"order · ETH · by {stand.bot.wallet.address.lower()[:8]}…")

    vetoed = stand.bot.order("DOGE", True, 1000, 0.2, GTC)["guard"]
    expect(row.locator(".badge")).to_have_text("✕ veto")
    expect(row.locator("code")).to_have_text("market_not_allowed")
    expect(row).to_contain_text(vetoed["text"])
    expect(row).to_contain_text("limit BTC, ETH, actual DOGE")

    allowed = stand.bot.order("ETH", False, 0.4, 2490, IOC, reduce_only=True)["guard"]
    assert allowed["verdict"] == "allow"
    expect(row.locator(".badge")).to_have_text("✓ allow")
    expect(row.locator("code")).to_have_text(allowed["code"])
    expect(monitor.page.locator("#stream .decision .seq")).to_have_text(
        [f"#{decision['seq']}" for decision in (allowed, vetoed, resized)]
    )
    # Also told to who listens.
    expect(monitor.page.locator("#said")).to_contain_text("veto, market not allowed")

    # What holds a text is found, whatever else comes.
    monitor.page.locator("#filter").fill("doge")
    for verdict, is_shown in (("allow", False), ("veto", True), ("resize", False)):
        expect(monitor.page.locator(f"#stream [data-verdict={verdict}]")).to_be_visible(visible=is_shown)
    monitor.page.locator("#filter").fill("")

    # A radio lies under its label.
    monitor.page.get_by_text("Resize and veto").click()
    for verdict, is_shown in (("allow", False), ("veto", True), ("resize", True)):
        expect(monitor.page.locator(f"#stream [data-verdict={verdict}]")).to_be_visible(visible=is_shown)

    # A decision is found by its market too, where its text names none.
    monitor.page.get_by_text("All", exact=True).click()
    entry = stand.bot.order("ETH", True, 0.02, 2458, GTC)["response"]["data"]["statuses"][0]["resting"]["oid"]
    assert "ETH" not in stand.bot.cancel("ETH", entry)["guard"]["text"]
    expect(row).to_contain_text("cancel · ETH · by")
    for market, is_shown in (("btc", False), ("eth", True)):
        monitor.page.locator("#filter").fill(market)
        expect(row).to_be_visible(visible=is_shown)


def test_each_row_says_how_old_it_is(stand_of, monitor_of):
    stand = stand_of("paper")
    monitor = monitor_of(stand)
    age = "when => getComputedStyle(when, '::after').content"
    told = until("an age", lambda: (text := monitor.rows("started").locator(".when").evaluate(age)) != "none" and text)
    assert re.fullmatch(r'"\d+(\.\d)? (s|min) ago"', told), told
    until("it to grow", lambda: monitor.rows("started").locator(".when").evaluate(age) != told)
    # So it does while the guard is lost.
    stand.guard.end()
    expect(monitor.page.locator("#lost")).to_be_visible()
    told = monitor.rows("started").locator(".when").evaluate(age)
    until("it to grow", lambda: monitor.rows("started").locator(".when").evaluate(age) != told)
    # It is no part of what is looked for.
    monitor.page.locator("#filter").fill("ago")
    expect(monitor.page.locator("#no-stream")).to_contain_text("None of the")


def test_a_send_that_the_venue_refused(stand_of, monitor_of):
    stand = stand_of()
    monitor = monitor_of(stand)
    stand.venue.do("fault", on="order", kind="error", times=1, text="Insufficient margin <now>.")
    decided = stand.bot.order("BTC", True, 0.01, 59800, GTC)["guard"]
    told = monitor.rows("The venue did not take")
    expect(told).to_have_count(1)
    expect(told).to_contain_text(f"of event {decided['seq']} in BTC: Insufficient margin <now>.")


def test_a_refusal_of_the_whole_and_what_became_of_an_order_name_it(stand_of, monitor_of):
    stand = stand_of()
    monitor = monitor_of(stand)
    stand.venue.do("fault", on="order", kind="http_502", times=1)
    seq = stand.bot.order("BTC", True, 0.01, 59800, GTC)["guard"]["seq"]
    told = monitor.rows(f"of event {seq} in BTC")
    expect(told.first).to_be_visible()
    for text in told.all_inner_texts():
        assert '{"' not in text, text


def test_money_is_told_in_words(stand_of, monitor_of):
    """What the book of money records: trades, funding and transfers, and nothing of its audits."""
    stand = stand_of()
    monitor = monitor_of(stand)
    stand.bot.order("ETH", True, 0.4, 2510, IOC)
    expect(monitor.rows("Bought 0.4 ETH at 2,5")).to_have_count(1)
    expect(monitor.rows("Bought 0.4 ETH at 2,5")).to_contain_text("USDC")
    stand.venue.do("funding", rate="0.001")
    expect(monitor.rows("Funding of ETH: −1.00 USDC")).to_have_count(1)
    stand.venue.do("deposit", usd="250.5")
    expect(monitor.rows("Transfer (deposit): +250.50 USDC")).to_have_count(1)
    # The book is compared when the account is read the next time but one, half a minute apart beside the feed.
    until("an audit", lambda: stand.guard.events("balance"), 4 * PATIENCE_S)
    svc_guard(stand.guard.home, "kill", "--reason", "enough")
    sold = monitor.rows("Sold 0.4 ETH at 2,")
    expect(sold).to_contain_text("an order of the guard’s own")
    # Each row of the stream is told in words.
    for text in monitor.page.locator("#stream > li").all_inner_texts():
        assert '":' not in text, text


def test_a_gap_is_shown_as_a_gap(stand_of, monitor_of):
    stand = stand_of("paper")
    cut = {}

    def lose(page):
        def handle(route):
            answer = route.fetch()
            told = answer.json()
            if cut:
                told["events"] = [event for event in told["events"] if not cut["from"] <= event["seq"] <= cut["to"]]
            route.fulfill(response=answer, json=told)

        page.route("**/guard/events*", handle)

    monitor = monitor_of(stand, before=lose)
    last = stand.guard.events()[-1]["seq"]
    expect(monitor.rows(f"#{last}")).to_have_count(1)
    # Of the next five decisions the first four never reach the page, and nothing between them.
    cut.update({"from": last + 1, "to": last + 1_000})
    decided = [stand.bot.order("BTC", True, 0.01, 59000 + step, GTC)["guard"]["seq"] for step in range(5)]
    cut["to"] = decided[-1] - 1
    expect(monitor.page.locator("#stream .gap")).to_have_text(
        f"≀Gap: Events #{last + 1} to #{cut['to']} were missed by this page. The journal on disk has all of them."
    )
    seqs = monitor.page.locator("#stream > li").all_inner_texts()
    gap = next(place for place, text in enumerate(seqs) if "Gap" in text)
    assert f"#{decided[-1]}" in seqs[gap - 1] and f"#{last}" in seqs[gap + 1]
    # Whatever is asked for, what is missing may have been of it.
    monitor.page.locator("#filter").fill("ETH")
    expect(monitor.page.locator("#stream .gap")).to_be_visible()


def test_what_is_too_old_is_no_gap(stand_of, monitor_of):
    stand = stand_of("paper")
    stand.bot.order("BTC", True, 0.01, 59000, GTC)

    def forget(page):
        def handle(route):
            answer = route.fetch()
            told = answer.json()
            told["events"] = [event for event in told["events"] if event["seq"] >= 3]
            told["oldest"] = 3
            route.fulfill(response=answer, json=told)

        page.route("**/guard/events*", handle)

    monitor = monitor_of(stand, before=forget)
    expect(monitor.rows("Events before #3 are in the journal on disk.")).to_have_count(1)
    expect(monitor.page.locator("#stream .gap")).to_have_count(0)


def test_rows_are_bounded(stand_of, monitor_of):
    stand = stand_of("paper")
    stand.bot.order("BTC", True, 0.01, 59000, GTC)
    sample = stand.guard.events("decision")[0]
    asked = []

    def flood(page):
        """Twelve hundred events, as many at a time as are asked for."""

        def handle(route):
            query = dict(part.split("=") for part in route.request.url.partition("?")[2].split("&"))
            since, limit = int(query["since"]), int(query["limit"])
            asked.append(limit)
            some = [{**sample, "seq": seq} for seq in range(since + 1, min(since + limit, 1200) + 1)]
            route.fulfill(json={"schema": 1, "oldest": 1, "last": 1200, "events": some})

        page.route("**/guard/events*", handle)

    monitor = monitor_of(stand, before=flood)
    expect(monitor.page.locator("#stream > li").first).to_contain_text("#1200")
    assert monitor.page.locator("#stream > li").count() == 300
    expect(monitor.page.locator("#stream > li").last).to_contain_text("#901")
    assert max(asked) <= 200
    assert monitor.is_wide() == 0
    # That there were more is said, and that nothing of what is there holds a text.
    expect(monitor.page.locator("#older")).to_have_text("The newest 300 rows stand here. What is older is in the journal on disk.")
    monitor.page.locator("#filter").fill("no such text")
    expect(monitor.page.locator("#no-stream")).to_have_text("None of the 300 events here is of that kind and holds that text")
    monitor.page.locator("#filter").fill("#1200")
    expect(monitor.page.locator("#no-stream")).to_be_hidden()


def test_answers_too_long_are_asked_for_in_parts(stand_of, monitor_of):
    stand = stand_of("paper")
    for step in range(4):
        stand.bot.order("BTC", True, 0.01, 59000 + step, GTC)

    def refuse(page):
        def handle(route):
            if int(route.request.url.rpartition("limit=")[2]) > 3:
                body = {"code": "no_answer", "msg": "too long", "data": None}
                return route.fulfill(status=502, json=body)
            return route.continue_()

        page.route("**/guard/events*", handle)

    monitor = monitor_of(stand, before=refuse)
    expect(monitor.page.locator("#stream .decision")).to_have_count(4)
    expect(monitor.page.locator("#lost")).to_be_hidden()


def caught(monitor):
    """Whether a text became markup or ran."""
    inside = monitor.page.locator("main img, main b b, #stream b, td b, th b, main script, main a, main iframe")
    return monitor.page.evaluate("window.caught ?? null") is not None or inside.count() > 0


def test_texts_of_a_bot_and_a_person_stay_texts(stand_of, monitor_of):
    stand = stand_of("paper")
    monitor = monitor_of(stand)
    body = {"action": {"type": HOSTILE, HOSTILE: 1}, "nonce": 1, "signature": {"r": "0x1", "s": "0x1", "v": 27}}
    stand.bot.session.post(stand.guard.url + "/exchange", json=body)
    svc_guard(stand.guard.home, "kill", "--reason", HOSTILE)
    expect(monitor.note("kill")).to_have_text(HOSTILE)
    expect(monitor.page.locator("#notices")).to_contain_text(HOSTILE)
    expect(monitor.rows(f"The kill switch was pulled: {HOSTILE}")).to_have_count(1)
    expect(monitor.page.locator("#stream .decision")).to_have_count(1)
    assert not caught(monitor)


def test_texts_of_a_venue_stay_texts(busy, monitor_of):
    """A venue gone bad, as the guard would hand its texts on: each in each place that shows one."""
    long = "W" * 5000

    def poison(page):
        def status(route):
            answer = route.fetch()
            told = answer.json()
            for position in told["positions"]:
                position["coin"] = position["margin_mode"] = HOSTILE
            for order in told["open_orders"]:
                order["coin"], order["cloid"], order["order_type"] = HOSTILE, HOSTILE, HOSTILE
            told["alerts"] = [{"code": HOSTILE, "text": HOSTILE, "since_ms": None}, {"code": "long", "text": long, "since_ms": 1}]
            told["headroom"].append({"rule": HOSTILE, "unit": HOSTILE, "coin": HOSTILE, "used": HOSTILE, "limit": HOSTILE})
            told["venue"]["url"] = told["version"] = HOSTILE
            told["killed"], told["kill_file"] = HOSTILE, HOSTILE + "\u202eabc"
            route.fulfill(response=answer, json=told)

        def events(route):
            answer = route.fetch()
            text = json.dumps(answer.json()).replace("is not among the markets allowed", json.dumps(HOSTILE)[1:-1])
            told = json.loads(text)
            for event in told["events"]:
                if event["kind"] == "decision":
                    event["client"] = event["via"] = HOSTILE
                    event["changes"] = [HOSTILE, long] * 20
                    event["verdict"] = HOSTILE if event["verdict"] == "veto" else event["verdict"]
                    event["action"] = long
                if event["kind"] == "risk":
                    event.update(kind=HOSTILE, discrepancies=[HOSTILE])
            route.fulfill(response=answer, json=told)

        page.route("**/guard/status", status)
        page.route("**/guard/events*", events)

    monitor = monitor_of(busy, before=poison, width=320, height=640)
    for place in ("#positions", "#orders", "#alerts", "#facts", "#stream"):
        expect(monitor.page.locator(place)).to_contain_text("<img src=x")
    expect(monitor.page.locator("#notices")).to_contain_text("\ufffdabc")
    expect(monitor.page.locator("#headroom li")).to_have_count(10)
    assert not caught(monitor)
    assert monitor.is_wide() == 0
    first = monitor.page.locator("#stream .decision").first
    expect(first.locator(".changes li")).to_have_count(9)
    expect(first.locator(".changes li").last).to_have_text("and 32 more")
    assert max(len(text) for text in first.locator(".changes li").all_inner_texts()) < 700


def test_equity_is_kept_in_bounds(busy, monitor_of):
    monitor = monitor_of(busy)
    kept = monitor.page.evaluate(
        """async () => {
            const { Plot } = await import("/monitor/plot.js");
            const plot = new Plot(document.createElement("div"), document.createElement("dl"));
            let most = 0;
            for (let t = 1; t <= 5000; t += 1) {
                if (t === 100) plot.cut();
                plot.add({ t, equity: t });
                most = Math.max(most, plot.samples.length);
            }
            const ts = plot.samples.map((sample) => sample.t);
            const sorted = ts.every((t, place) => place === 0 || t > ts[place - 1]);
            return [most, ts.at(-1), sorted, plot.samples.filter((sample) => sample.isCut).length];
        }"""
    )
    assert kept == [1500, 5000, True, 1]


def test_amounts_are_written_digit_by_digit(busy, monitor_of):
    monitor = monitor_of(busy)
    cases = {
        "0": "0.00",
        "-0": "0.00",
        "0.005": "0.01",
        "-0.005": "−0.01",
        "0.0049999999999999999": "0.00",
        "1234567.895": "1,234,567.90",
        "999.995": "1,000.00",
        "-1000": "−1,000.00",
        "90071992547409931234.1": "90,071,992,547,409,931,234.10",
        "1e5": "–",
        "": "–",
        "<b>": "–",
    }
    written = monitor.page.evaluate(
        "async (texts) => { const { usd } = await import('/monitor/text.js'); return texts.map((text) => usd(text)); }",
        list(cases),
    )
    assert dict(zip(cases, written)) == cases
    difference = "async () => (await import('/monitor/text.js')).minus('0.1', '10000.30000000000000000001')"
    assert monitor.page.evaluate(difference) == "-10000.20000000000000000001"
    # What rounds to nothing has no sign.
    shares = "async (parts) => { const { percent } = await import('/monitor/text.js'); return parts.map((part) => percent(part, '1000', true)); }"
    assert monitor.page.evaluate(shares, ["-0.49", "-0.51", "0.49", "0.51"]) == ["0.0%", "−0.1%", "0.0%", "+0.1%"]


def test_many_refusals_are_told_as_one(stand_of, monitor_of):
    stand = stand_of("paper", rules='markets = ["ETH"]\n')
    monitor = monitor_of(stand)
    monitor.page.evaluate(
        "() => { window.told = []; new MutationObserver(() => window.told.push(document.getElementById('said').textContent))"
        ".observe(document.getElementById('said'), { childList: true, characterData: true, subtree: true }); }"
    )
    for _ in range(20):
        stand.bot.order("BTC", True, 0.01, 59000, GTC)
    expect(monitor.page.locator("#stream .decision")).to_have_count(20)
    told = until("something to be told", lambda: monitor.page.evaluate("window.told"))
    assert len(told) < 10 and "market not allowed" in told[-1]
