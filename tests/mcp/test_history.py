"""Lists longer than one answer of the guard's, and what moves while they are read."""

import contextlib
from urllib.parse import parse_qs, urlsplit

import pytest

from agent import Lines
from pretend import STATUS, guard_that_says


class Kept:
    """The events that a guard keeps: the last thousand, which move on while they are read."""

    def __init__(self, last, most_in_a_part=10_000):
        self.first, self.last = 1, last
        self.most_in_a_part, self.parts = most_in_a_part, 0
        self.long = {}
        self.moves = lambda kept: None

    def event(self, seq):
        return {"seq": seq, "at_ms": seq, "kind": "decision", "verdict": "allow", "more": self.long.get(seq)}

    def __call__(self, path):
        query = {name: int(value) for name, (value,) in parse_qs(urlsplit(path).query).items()}
        since = max(query.get("since", 0), self.first - 1)
        end = min(since + min(query.get("limit", 10_000), self.most_in_a_part), self.last)
        told = {"schema": 1, "oldest": self.first, "last": self.last}
        told["events"] = [self.event(seq) for seq in range(since + 1, end + 1)]
        self.parts += 1
        self.moves(self)
        return 200, told


@pytest.fixture
def lines_of(key):
    with contextlib.ExitStack() as stack:

        def open(kept):
            status = {**STATUS, "mode": "testnet"}
            url, _ = stack.enter_context(guard_that_says(status, {"/guard/events": kept}))
            return stack.enter_context(Lines("mcp", "--guard-url", url, "--key-file", key))

        yield open


def seqs(lines, tool="list_events", **arguments):
    told = lines.call(tool, **arguments)
    assert told["truncated"] is False
    return [event["seq"] for event in told[tool.removeprefix("list_")]]


@pytest.mark.parametrize("tool", ["list_events", "list_decisions"])
@pytest.mark.parametrize("most_in_a_part", [10_000, 40], ids=["all that is asked for", "cut by their length"])
def test_a_list_of_several_parts_has_each_event_once(lines_of, tool, most_in_a_part):
    kept = Kept(1000, most_in_a_part)
    lines = lines_of(kept)
    found = []
    while page := seqs(lines, tool, limit=90, before=found[-1] if found else None):
        found += page
    assert found == list(range(1000, 0, -1))
    assert kept.parts > 50


def test_what_goes_between_two_parts_is_missing_and_nothing_else(lines_of):
    def move(kept):
        """The reader is slow: three hundred events go, and as many come."""
        if kept.parts == 1:
            kept.first, kept.last = 301, 1300

    kept = Kept(1000)
    kept.moves = move
    lines = lines_of(kept)
    assert seqs(lines, limit=100) == list(range(1300, 1200, -1))
    kept.parts, kept.first, kept.last = 0, 1, 350
    # Of the first part only what was read is there, and behind the hole what is left.
    kept.moves = lambda kept: setattr(kept, "first", 301)
    assert seqs(lines, limit=100) == [*range(350, 300, -1), *range(100, 50, -1)]


def test_events_that_go_on_and_on_end_the_reading(lines_of):
    def move(kept):
        kept.last += 200

    kept = Kept(1000)
    kept.moves = move
    found = seqs(lines_of(kept), limit=20)
    assert found == sorted(set(found), reverse=True) and len(found) == 20
    assert kept.parts <= 64


def test_a_long_event_hides_nothing_but_itself(lines_of):
    kept = Kept(5)
    kept.long = {4: [["x" * 300] * 60] * 60}
    told = lines_of(kept).call("list_events")
    assert [event["seq"] for event in told["events"]] == [5, 4, 3, 2, 1] and told["truncated"] is False
    assert told["events"][1]["kind"] == "decision" and "too long" in told["events"][1]["left_out"]
