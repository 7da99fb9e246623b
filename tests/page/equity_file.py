"""The file of the equity by the minute, as an earlier life of a guard has left it."""

import struct
from decimal import Decimal

from harness import ACCOUNT

KEPT = 90 * 24 * 60


def amount(text):
    """An amount's sixteen bytes: flags with the places, and ninety-six bits."""
    sign, digits, exponent = Decimal(text).as_tuple()
    units = int("".join(map(str, digits)))
    low, middle, high = (units >> shift & 0xFFFFFFFF for shift in (0, 32, 64))
    return struct.pack("<IIII", -exponent << 16 | sign << 31, low, middle, high)


def record(minute, last, low, high):
    fields = struct.pack("<Q", minute) + b"".join(map(amount, (last, low, high)))
    check = 0xCBF29CE484222325
    for byte in fields:
        check = (check ^ byte) * 0x100000001B3 % 2**64
    return fields + struct.pack("<Q", check)


def leave(stand, points):
    """Puts points, each of a minute and its last, lowest and highest equity, beside those that a guard has."""
    path = stand.guard.home / "journals" / f"equity-{stand.mode}-{ACCOUNT}"
    path.touch()
    with path.open("r+b") as file:
        for minute, *amounts in points:
            whole = record(minute, *amounts)
            file.seek(minute % KEPT * len(whole))
            file.write(whole)
