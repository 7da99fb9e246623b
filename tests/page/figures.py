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


def away(px, mark, is_exact=False):
    """A price and how far the mark is from it, as a table has them; one that is not exact is as fine as the mark, or has five digits."""
    if px is None:
        return "–"
    exact = Decimal(px)
    places = max(len(mark.partition(".")[2]), 4 - exact.adjusted())
    rounded = str(round(exact, places)) if not is_exact and len(px.partition(".")[2]) > places else px
    rounded = px if Decimal(rounded) == Decimal(mark) else rounded
    return f"{figure(rounded)} · {abs(Decimal(mark) - Decimal(px)) * 100 / Decimal(mark):.1f}%"
