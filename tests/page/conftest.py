"""A browser, and the monitor page of a real guard in it."""

import pathlib
import sys
import time

import eth_account
import pytest
from hyperliquid.exchange import Exchange
from playwright.sync_api import expect, sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sdk"))

from harness import ACCOUNT, PATIENCE_S, Guard, Venue, until  # noqa: E402

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
GTC = {"limit": {"tif": "Gtc"}}
IOC = {"limit": {"tif": "Ioc"}}

expect.set_options(timeout=PATIENCE_S * 1000)


class Stand:
    """A venue, a guard in front of it, and a bot."""

    def __init__(self, folder, mode="testnet", rules=""):
        self.folder, self.mode = folder, mode
        self.venue = Venue(folder / "venue.log", "mainnet" if mode == "paper" else "testnet")
        self.guard = None
        try:
            self.guard = Guard.set_up(folder, self.venue, mode, rules)
            self.bot_of(self.guard)
        except BaseException:
            self.end()
            raise

    def bot_of(self, guard):
        wallet = eth_account.Account.from_key(guard.client_key)
        self.bot = Exchange(wallet, base_url=guard.url, account_address=ACCOUNT)

    def end(self):
        for program in (self.guard, self.venue):
            if program:
                program.end()

    def restart(self, home):
        """A guard on this home where the last one was, which is gone."""
        listen = self.guard.url.removeprefix("http://")
        arguments = [] if self.mode == "paper" else ["--network", self.mode]
        self.guard = Guard(home, self.folder / "guard.log", *arguments, listen=listen)

    def hold(self, coin, szi, entry_px, covered=True):
        """A person opens a position by hand; the guard covers it, and reads the account: a fill does not tell the leverage."""
        self.venue.do("position", coin=coin, szi=szi, entry_px=entry_px)

        def seen():
            held = [position for position in self.guard.status()["positions"] if position["coin"] == coin]
            is_read = held and held[0]["leverage"] != 1
            return is_read and (not covered or held[0]["covered_size"] == held[0]["size"])

        until("the position to be seen and covered", seen)


class Monitor:
    """The page as somebody has it open."""

    def __init__(self, browser, url, width=1280, height=900, **wishes):
        self.url = url
        self.context = browser.new_context(viewport={"width": width, "height": height}, **wishes)
        self.page = self.context.new_page()
        self.asked, self.complaints = [], []
        self.page.on("request", lambda request: self.asked.append((request.method, request.url)))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self.heard)

    def heard(self, message):
        # A guard that is gone, stale or halted answers with errors, which the browser notes by itself.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.complaints.append(message.text)

    def open(self, shows="● Live"):
        self.page.goto(self.url + "/")
        expect(self.page.locator("#live")).to_have_text(shows)
        return self

    def is_grey(self):
        return self.page.locator("main").evaluate("main => getComputedStyle(main).filter") == "grayscale(1)"

    def close(self):
        # What a test answers in the guard's place may be in the middle of it: that is no failure of the next one.
        self.page.unroute_all(behavior="ignoreErrors")
        self.context.close()
        outside = [asked for asked in self.asked if asked[0] != "GET" or not asked[1].startswith(self.url + "/")]
        assert outside == [], "the page asked for something else"
        assert self.complaints == []

    def tile(self, name):
        return self.page.locator(f"#t-{name} .value")

    def note(self, name):
        return self.page.locator(f"#t-{name} .note")

    def rows(self, text):
        """Rows of the stream that have this text."""
        return self.page.locator("#stream > li", has_text=text)

    def table(self, name):
        """The cells of each row as they are read; a group's heading is alone in its row."""
        rows = self.page.locator(f"#{name} tbody tr").all()
        return [[cell.inner_text().strip() for cell in row.locator("th, td").all()] for row in rows]

    def until_table(self, name, condition):
        def found():
            try:
                rows = self.table(name)
            except Exception:  # A row went while it was read.
                return None
            return rows if condition(rows) else None

        return until(f"the table of {name}", found)

    def is_wide(self):
        """By how much the page is wider than its window, or on a phone any part of it than its place."""
        return self.page.evaluate(
            """() => {
                const parts = innerWidth < 640 ? [...document.querySelectorAll(".scroll")] : [];
                const over = parts.map((part) => part.scrollWidth - part.clientWidth);
                return Math.max(document.documentElement.scrollWidth - innerWidth, ...over);
            }"""
        )


@pytest.fixture(autouse=True)
def within_one_day():
    """At midnight UTC a day's figures begin anew and its halts end: no test runs over it."""
    day_s, longest_s = 86_400, 100
    left_s = day_s - time.time() % day_s
    if left_s < longest_s:
        time.sleep(left_s + 1)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def stand_of(tmp_path):
    """Makes a stand in a mode, with rules that differ from the defaults as the text says."""
    made = []

    def make(mode="testnet", rules=""):
        made.append(Stand(tmp_path, mode, rules))
        return made[-1]

    yield make
    for stand in made:
        stand.end()


@pytest.fixture(scope="session")
def busy(tmp_path_factory):
    """A stand with something of everything, for tests that only look: it stays as it is."""
    stand = Stand(tmp_path_factory.mktemp("busy"), rules='markets = ["BTC", "ETH", "SOL"]\norder_value = "25000"\n')
    try:
        stand.hold("ETH", "2", "2500")
        stand.hold("BTC", "-0.01", "60000")
        stand.bot.order("BTC", True, 0.02, 59800, GTC)
        stand.bot.order("DOGE", True, 1000, 0.2, GTC)
        stand.bot.order("ETH", False, 2, 2600, GTC, reduce_only=True)
        order = {"a": stand.bot.info.name_to_asset("SOL"), "b": False, "p": "210", "s": "1", "r": False, "t": GTC}
        stand.venue.do("order", order=order)

        def settled():
            orders = stand.guard.status()["open_orders"]
            return {"bot": 2, "guard": 2, "other": 1} == {
                owner: sum(order["owner"] == owner for order in orders) for owner in ("bot", "guard", "other")
            }

        until("the orders to be read", settled)
        yield stand
    finally:
        stand.end()


@pytest.fixture
def monitor_of(browser):
    """Opens the page of a guard as wished; `before` may prepare it."""
    made = []

    def make(stand, before=None, shows="● Live", **wishes):
        monitor = Monitor(browser, stand.guard.url, **wishes)
        made.append(monitor)
        if before:
            before(monitor.page)
        return monitor.open(shows)

    yield make
    for monitor in made:
        monitor.close()
