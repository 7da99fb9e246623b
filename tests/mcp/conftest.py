"""A simulated venue, a guard in front of it, and an agent's sessions with the server."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sdk"))

from agent import Sessions  # noqa: E402
from harness import Guard, Venue, until  # noqa: E402
from pretend import key  # noqa: E402, F401


class Stand:
    """Everything a test needs."""

    def __init__(self, folder, mode, rules):
        self.folder, self.mode = folder, mode
        self.venue = Venue(folder / "venue.log", "testnet" if mode == "testnet" else "mainnet")
        self.guard = None
        try:
            self.guard = Guard.set_up(folder, self.venue, mode, rules)
        except BaseException:
            self.end()
            raise
        self.sessions = Sessions(folder, self.guard.url, folder / "bot.key")

    def end(self):
        for program in (self.guard, self.venue):
            if program:
                program.end()

    def hold(self, coin, szi, entry_px):
        """A person opens a position by hand, and the guard gets to see it."""
        self.venue.do("position", coin=coin, szi=szi, entry_px=entry_px)
        until("the position to be seen", lambda: self.position(coin))

    def position(self, coin):
        held = [position for position in self.guard.status()["positions"] if position["coin"] == coin]
        return held[0] if held else None

    def open_order(self, oid):
        found = [order for order in self.guard.status()["open_orders"] if order["oid"] == oid]
        return found[0] if found else None

    def placed(self):
        """The order actions that the venue took in, but for those that are stops alone: the guard places such by itself,
        whenever it finds a position bare."""
        actions = [asked for asked in self.venue.requests() if asked["action"]["type"] == "order"]
        return [asked for asked in actions if any("limit" in order["t"] for order in asked["action"]["orders"])]


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


@pytest.fixture
def stand(stand_of):
    return stand_of()


@pytest.fixture
def paper(stand_of):
    return stand_of("paper")
