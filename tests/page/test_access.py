"""The page on a phone, by keyboard, for a screen reader, and for eyes that see little contrast."""

import pytest
from playwright.sync_api import expect

from harness import until

# Every visible text against what is painted beneath it, by the formula of WCAG 2. Returns those that are too faint.
FAINT = """
() => {
  const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return { c: [r, g, b], a }; };
  const over = (top, under) => top.c.map((part, place) => part * top.a + under[place] * (1 - top.a));
  const light = (c) => c.map((part) => { const s = part / 255; return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; })
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const chain = (element) => { const all = []; for (let e = element; e; e = e.parentElement) all.unshift(e); return all; };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility() || element.closest(".unseen, .skip, script, noscript")) continue;
    if (element.closest("thead") && getComputedStyle(element.closest("thead")).position === "absolute") continue;
    let [ground, opacity] = [[255, 255, 255], 1];
    for (const one of chain(element)) {
      const style = getComputedStyle(one);
      ground = over(parse(style.backgroundColor), ground);
      if (one === document.body) window.base = ground;
      opacity *= Number(style.opacity);
    }
    const style = getComputedStyle(element);
    const ink = parse(element instanceof SVGElement ? style.fill : style.color);
    const shade = (c) => over({ c, a: opacity }, window.base);
    const [one, other] = [light(shade(over(ink, ground))), light(shade(ground))].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < 4.5) found.push(`${contrast.toFixed(2)} ${element.tagName}.${element.className.baseVal ?? element.className}: ${node.textContent.slice(0, 40)}`);
  }
  return found;
}
"""


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_contrast(busy, monitor_of, scheme):
    def trouble(page):
        def handle(route):
            answer = route.fetch()
            told = answer.json()
            told["killed"] = "a reason"
            told["risk"].update(state="stopped", details=None)
            told["alerts"] = [{"code": "daily_loss_near", "text": "a text", "since_ms": 1}, {"code": "account_stale", "text": "a text", "since_ms": 1}]
            told["headroom"][0].update(used="1", limit="1")
            told["headroom"][1].update(used="7", limit="10")
            told["positions"][0].update(covered_size="0")
            told["positions"][1].update(covered_size="0.001")
            route.fulfill(response=answer, json=told)

        page.route("**/guard/status", handle)

    well = monitor_of(busy, color_scheme=scheme)
    assert well.page.evaluate(FAINT) == []
    bad = monitor_of(busy, before=trouble, shows="▲ Live, data stale", color_scheme=scheme)
    assert bad.page.evaluate(FAINT) == []
    bad.page.route("**/guard/events*", lambda route: route.abort())
    expect(bad.page.locator("#lost")).to_be_visible()
    assert bad.page.evaluate(FAINT) == []


@pytest.mark.parametrize("width", [320, 375, 768, 1000, 1920])
def test_no_width_scrolls_sideways(busy, monitor_of, width):
    monitor = monitor_of(busy, width=width, height=700)
    monitor.until_table("positions", lambda rows: len(rows) == 2)
    assert monitor.is_wide() == 0
    if width <= 375:
        # Each figure stands under its column's name, within the window.
        cells = monitor.page.locator("#positions tbody tr").first.locator("td")
        assert cells.count() == 13
        for cell in cells.all():
            name = cell.evaluate("cell => getComputedStyle(cell, '::before').content")
            assert name.strip('"') == cell.get_attribute("data-name")
            box = cell.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width
    for tile in monitor.page.locator(".tiles .value").all():
        box = tile.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width


def where(monitor):
    return monitor.page.evaluate(
        """() => {
            const at = document.activeElement;
            const outline = getComputedStyle(at.matches("label input") ? at.parentElement : at);
            const isSeen = outline.outlineStyle !== "none" && parseFloat(outline.outlineWidth) >= 2;
            return [at.name || at.getAttribute("href") || at.getAttribute("aria-labelledby") || at.tagName, isSeen];
        }"""
    )


def test_by_keyboard(busy, monitor_of):
    monitor = monitor_of(busy)
    monitor.until_table("positions", lambda rows: len(rows) == 2)
    stops = []
    for _ in range(9):
        monitor.page.keyboard.press("Tab")
        stops.append(where(monitor))
    names = [name for name, _ in stops]
    wanted = ["h-positions", "span", "scale", "DIV", "h-orders", "filter", "show", "h-stream"]
    assert names == ["#decisions", *wanted]
    assert all(is_seen for _, is_seen in stops), stops

    # The arrows choose, and what is chosen happens.
    monitor.page.locator("input[name=scale]:checked").focus()
    expect(monitor.page.locator("#plot text.label.halt").first).to_be_visible()
    monitor.page.keyboard.press("ArrowRight")
    expect(monitor.page.locator("#plot text.label.halt")).to_have_count(0)
    monitor.page.locator("input[name=show]:checked").focus()
    expect(monitor.rows("Risk state").first).to_be_visible()
    monitor.page.keyboard.press("ArrowRight")
    expect(monitor.rows("Risk state").first).to_be_hidden()
    expect(monitor.page.locator("#stream .decision").first).to_be_visible()

    monitor.page.locator(".skip").focus()
    assert monitor.page.locator(".skip").bounding_box()["y"] >= 0
    monitor.page.keyboard.press("Enter")
    assert monitor.page.evaluate("document.activeElement.id") == "decisions"


def test_for_a_screen_reader(busy, monitor_of):
    monitor = monitor_of(busy)
    page = monitor.page
    monitor.until_table("positions", lambda rows: len(rows) == 2)
    for landmark in ("banner", "main", "contentinfo"):
        expect(page.get_by_role(landmark)).to_have_count(1)
    headings = page.locator("h1, h2, h3").all_inner_texts()
    assert [text.split("\n")[0].strip() for text in headings][0] == "svc-guard monitor"
    levels = page.locator("h1, h2, h3").evaluate_all("all => all.map((one) => Number(one.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:]))
    for name in ("State", "Alerts", "Equity and drawdown", "Headroom", "Positions", "Open orders", "Decisions"):
        assert page.get_by_role("region", name=name).count() >= 1, name
    expect(page.get_by_role("table", name="Open positions and their cover by stops")).to_have_count(1)
    expect(page.get_by_role("table", name="Open orders by owner")).to_have_count(1)
    expect(page.get_by_role("columnheader", name="Cover")).to_have_count(1)
    expect(page.get_by_role("rowheader", name="ETH")).not_to_have_count(0)
    expect(page.get_by_role("rowheader", name="Guard (2)")).to_have_count(1)
    for name, radios in (("Time shown", 5), ("Scale", 2), ("Events shown", 3)):
        expect(page.get_by_role("group", name=name).get_by_role("radio")).to_have_count(radios)
    meters = page.get_by_role("meter").all()
    assert len(meters) == 9
    assert all(" of " in meter.get_attribute("aria-valuetext") for meter in meters)
    expect(page.get_by_role("img", name="Day start")).to_have_count(1)
    assert page.locator("html").get_attribute("lang") == "en"
    # What interrupts and what waits: only the loss of the guard interrupts.
    assert page.locator("[role=alert]").evaluate_all("all => all.map((one) => one.id)") == ["lost"]
    assert page.locator("[role=status]").evaluate_all("all => all.map((one) => one.id)") == ["notices", "said"]


def test_on_a_phone_tables_stay_tables(busy, monitor_of):
    monitor = monitor_of(busy, width=320, height=640)
    expect(monitor.page.get_by_role("table", name="Open positions and their cover by stops")).to_have_count(1)
    expect(monitor.page.get_by_role("cell", name="full")).to_have_count(2)
    expect(monitor.page.get_by_role("rowheader", name="ETH")).not_to_have_count(0)


def test_motion_is_left_out_where_it_is_unwanted(busy, monitor_of):
    names = {}
    for wish in ("reduce", "no-preference"):
        monitor = monitor_of(busy, reduced_motion=wish)
        row = monitor.page.locator("#stream > li").first
        names[wish] = row.evaluate("row => getComputedStyle(row).animationName")
    assert names == {"reduce": "none", "no-preference": "come"}


def test_what_is_selected_stays_selected(busy, monitor_of):
    """The page is brought up to date in place, so that a person can copy from it."""
    monitor = monitor_of(busy)
    monitor.until_table("positions", lambda rows: len(rows) == 2)
    cell = monitor.page.locator("#positions tbody th").first
    cell.evaluate("cell => getSelection().selectAllChildren(cell)")
    seen = len(monitor.asked)
    until("some more rounds", lambda: monitor.page.wait_for_timeout(50) or len(monitor.asked) > seen + 9)
    assert monitor.page.evaluate("getSelection().toString()") == cell.inner_text()
