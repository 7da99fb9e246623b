"""Amounts as the page writes them, made a second way: with the decimals of Python."""

from decimal import ROUND_HALF_UP, Decimal


def usd(text, signed=False):
    if text is None:
        return "–"
    amount = Decimal(text).quantize(Decimal("0.01"), ROUND_HALF_UP)
    shown = f"{amount:+,.2f}" if signed and amount != 0 else f"{abs(amount) if amount == 0 else amount:,.2f}"
    return shown.replace("-", "−")


def figure(text):
    return "–" if text is None else f"{Decimal(text):,f}"
