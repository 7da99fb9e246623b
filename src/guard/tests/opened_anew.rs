//! A position that was closed and opened anew between two reads has no part of the old one's line; one that was only traded
//! to and fro keeps it.

use rust_decimal::{Decimal, dec};

use super::fixture::*;
use crate::guard::Input;
use crate::guard::effects::Effects;
use crate::guard::state::cover::{CoverSize, LinePart};
use crate::guard::state::cover_line::CoverLine;
use crate::guard::state::held_now::{Enlarged, HeldNow, Moved, Told};
use crate::guard::state::judged_stops::JudgedStops;
use crate::guard::state::view::View;
use crate::record::risk_record::PositionLine;
use crate::venue::info::OpenOrder;
use crate::venue::side::PositionSide;

/// A long opened at 2000, covered at 1980.
fn covered(held: Decimal) -> CoverLine {
    let mut line = CoverLine::new(PositionSide::Long, held, Some(dec!(2000)));
    line.tighten(&[(dec!(1980), CoverSize::Part(held))], Decimal::ZERO);
    line
}

/// How much of it has its line still, once it is read as this.
fn kept(mut line: CoverLine, now: HeldNow) -> Decimal {
    line.resize(&now, 0);
    line.covered_parts().iter().map(|part| part.size).sum()
}

fn now(held: Decimal, entry_px: Decimal, mark: Decimal) -> HeldNow {
    HeldNow { held, entry_px: Some(entry_px), mark: Some(mark), mid: None, by: Enlarged::default() }
}

fn told(now: HeldNow, size: Decimal, px: Decimal) -> HeldNow {
    HeldNow { by: Enlarged { told: Some(Told { size, px }), ..Enlarged::default() }, ..now }
}

#[test]
fn trading_to_and_fro_moves_no_line() {
    for (held, entry_px, left) in [
        (dec!(100), dec!(1998.9), dec!(100)),
        (dec!(100), dec!(1991.01), dec!(100)),
        (dec!(100), dec!(1991), dec!(0)),
        (dec!(100), dec!(1990), dec!(0)),
        // One that shrank would have kept its entry price.
        (dec!(60), dec!(2000), dec!(60)),
        (dec!(60), dec!(1991.01), dec!(60)),
        (dec!(60), dec!(1991), dec!(0)),
    ] {
        assert_eq!(kept(covered(dec!(100)), now(held, entry_px, dec!(1990))), left, "{held} {entry_px}");
    }
    // Where the market stands near the entry price the line stays.
    assert_eq!(kept(covered(dec!(1)), now(dec!(1), dec!(2003.9), dec!(2003.9))), dec!(1));
}

/// What it grew by was traded somewhere: a price of before, of now or between, and a little beyond.
#[test]
fn one_that_grew_is_another_where_no_price_explains_it() {
    // One more would have come at 1730.
    for (entry_px, left) in [(dec!(1910.01), dec!(2)), (dec!(1910), dec!(0)), (dec!(1900), dec!(0))] {
        assert_eq!(kept(covered(dec!(2)), now(dec!(3), entry_px, dec!(1900))), left, "{entry_px}");
    }
    // Eighteen more at the market's price, 1 % beyond it, and a step past that.
    for (entry_px, left) in [(dec!(1910), dec!(2)), (dec!(1892.9), dec!(2)), (dec!(1892.89), dec!(0))] {
        assert_eq!(kept(covered(dec!(2)), now(dec!(20), entry_px, dec!(1900))), left, "{entry_px}");
    }
}

/// Who buys where a thin market trades, far from the mark, keeps the line of what was held.
#[test]
fn one_that_grew_where_the_market_trades_is_no_other() {
    // One more came at 1730, 1 % of the mark beyond the mid, and a step past that.
    for (mid, left) in [(None, dec!(0)), (Some(dec!(1749)), dec!(2)), (Some(dec!(1749.01)), dec!(0))] {
        assert_eq!(kept(covered(dec!(2)), HeldNow { mid, ..now(dec!(3), dec!(1910), dec!(1900)) }), left, "{mid:?}");
    }
}

/// Where the entry price has gone past the market's, as in a market that trades far from its mark, it is the same position as long
/// as what is known comes to its size and its price and left a part of it.
#[test]
fn one_of_which_a_part_is_known_to_have_stayed_is_no_other() {
    let (entry_px, read) = (dec!(1980), now(dec!(1.5), dec!(1980), dec!(1992)));
    let by = |closed, opened, px: Decimal| Some(Moved { closed, opened, paid: opened * px, ..Moved::default() });
    for (moved, left) in [
        (None, dec!(0)),
        (by(dec!(1), dec!(0.5), dec!(1940)), dec!(1.5)),
        // The venue's rounding, and a step past it.
        (by(dec!(1), dec!(0.5), dec!(1940.59)), dec!(1.5)),
        (by(dec!(1), dec!(0.5), dec!(1940.6)), dec!(0)),
        // Another size, or nothing left.
        (by(dec!(1), dec!(0.4), dec!(1925)), dec!(0)),
        (by(dec!(2), dec!(1.5), entry_px), dec!(0)),
    ] {
        let read = HeldNow { by: Enlarged { moved, ..Enlarged::default() }, ..read.clone() };
        assert_eq!(kept(covered(dec!(2)), read), left, "{moved:?}");
    }
}

/// The old one's stop and a sale closed more than was held, a bid in between filled, and the price went on below both.
#[test]
fn one_at_the_price_of_what_opened_since_is_another() {
    let read = || now(dec!(0.5), dec!(1990), dec!(1940));
    assert_eq!(kept(covered(dec!(2)), read()), dec!(0.5));
    for (closed, opened_px, left) in [
        (dec!(2.5), dec!(1990), dec!(0)),
        // A tenth of what was held before may be in it, and no more; and at least all of that was closed.
        (dec!(2.5), dec!(1988.9), dec!(0)),
        (dec!(2.5), dec!(1988.8), dec!(0.5)),
        (dec!(2.5), dec!(1990.9), dec!(0)),
        (dec!(2.5), dec!(1991), dec!(0.5)),
        (dec!(2), dec!(1990), dec!(0)),
        (dec!(1.99), dec!(1990), dec!(0.5)),
    ] {
        let moved = Some(Moved { closed, opened: dec!(1), paid: opened_px, ..Moved::default() });
        let read = HeldNow { by: Enlarged { moved, ..Enlarged::default() }, ..read() };
        assert_eq!(kept(covered(dec!(2)), read), left, "{closed} {opened_px}");
    }
}

/// A fill that began it from nothing leaves none of the old one, however near the prices are, where the read shows its size and price.
#[test]
fn one_that_a_fill_began_from_nothing_is_another() {
    for (size, px, left) in [
        (dec!(1.5), dec!(1999), dec!(0)),
        // The venue's rounding, and a step past it; another size.
        (dec!(1.5), dec!(1999.19), dec!(0)),
        (dec!(1.5), dec!(1999.2), dec!(1.5)),
        (dec!(1.4), dec!(1999), dec!(1.5)),
    ] {
        let by = Enlarged { begun: Some(Told { size, px }), ..Enlarged::default() };
        let read = HeldNow { by, ..now(dec!(1.5), dec!(1999), dec!(1992)) };
        assert_eq!(kept(covered(dec!(2)), read), left, "{size} at {px}");
    }
}

/// What the venue told to have filled explains it at any price, and no more than that.
#[test]
fn one_that_grew_by_what_was_told_to_have_filled_is_no_other() {
    let far = || now(dec!(3), dec!(1910), dec!(1900));
    for (size, left) in [(dec!(1), dec!(2)), (dec!(0.99), dec!(0)), (dec!(1.01), dec!(0))] {
        assert_eq!(kept(covered(dec!(2)), told(far(), size, dec!(1730))), left, "{size}");
    }
}

/// What is on its way explains what it grew by at any price, if it is enough for that, and too little to be all of it.
#[test]
fn one_that_grew_by_what_may_have_filled_is_no_other() {
    let far = |most| HeldNow { by: Enlarged { most, ..Enlarged::default() }, ..now(dec!(3), dec!(1910), dec!(1900)) };
    for (most, left) in
        [(dec!(0.99), dec!(0)), (dec!(1), dec!(2)), (dec!(2.99), dec!(2)), (dec!(3), dec!(0)), (dec!(4), dec!(0))]
    {
        assert_eq!(kept(covered(dec!(2)), far(most)), left, "{most}");
    }
}

/// A bot that enters again as soon as its stop has fired.
#[test]
fn one_that_is_just_what_was_told_to_have_filled_is_another() {
    let near = |held: Decimal, entry_px: Decimal| now(held, entry_px, dec!(2001));
    for held in [dec!(1), dec!(2), dec!(3)] {
        let two = || covered(dec!(2));
        let px = dec!(2000.5);
        assert_eq!(kept(two(), told(near(held, px), held, px)), dec!(0), "{held}");
        let least = held.min(dec!(2));
        assert_eq!(kept(two(), near(held, px)), least, "nothing was told of it");
        assert_eq!(kept(two(), told(near(held, px), held - dec!(0.1), px)), least, "another size was");
        // Told at 2000.5: a tenth of the smaller of both may be of before.
        let mixed = |part: Decimal| px - part * least / held * dec!(0.5);
        assert_eq!(kept(two(), told(near(held, mixed(dec!(0.1))), held, px)), dec!(0), "{held}");
        assert_eq!(kept(two(), told(near(held, mixed(dec!(0.11))), held, px)), least, "{held}");
    }
    // Too near to the price of before to tell one from the other.
    for (px, left) in [(dec!(2000.4), dec!(0)), (dec!(2000.39), dec!(2))] {
        assert_eq!(kept(covered(dec!(2)), told(near(dec!(2), px), dec!(2), px)), left, "{px}");
    }
    // But for stops that the price has come to: they sold what was held.
    for (mark, size, left) in
        [(dec!(2000.2), dec!(1.9), dec!(0)), (dec!(2000.2), dec!(2), dec!(0)), (dec!(2000.21), dec!(1.9), dec!(1.9))]
    {
        let mut line = covered(dec!(2));
        line.tighten(&[(dec!(2000.2), CoverSize::Part(dec!(2)))], Decimal::ZERO);
        let px = dec!(2000.25);
        assert_eq!(kept(line.clone(), told(now(size, px, mark), size, px)), left, "{mark}");
        let another = told(now(size, px, mark), size - dec!(0.1), px);
        assert_eq!(kept(line, another), size, "another size was told of");
    }
}

/// Something was told to have been closed in the moment in which entries filled: of what they opened stays what is nearer than what
/// was there, however they came after one another.
#[test]
fn of_what_filled_while_something_was_closed_the_nearer_picture_holds() {
    for (held, (filled_px, filled), closed, lines) in [
        (3, (1990, 3), 0, &[(1990, 1), (1980, 2)][..]),
        (3, (1990, 3), 1, &[(1990, 2), (1980, 1)]),
        (3, (1990, 3), 2, &[(1990, 3)]),
        // Farther away than what was there, it takes nothing of that.
        (3, (1970, 3), 2, &[(1980, 2), (1970, 1)]),
        (2, (1990, 1), 0, &[(1980, 2)]),
        (2, (1990, 1), 1, &[(1990, 1), (1980, 1)]),
        (1, (1990, 1), 2, &[(1990, 1)]),
    ] {
        let part = |(px, size): (u32, u32)| LinePart { px: px.into(), size: size.into() };
        let judged = JudgedStops::each([part((filled_px, filled))]);
        let moved = Some(Moved { surely_closed: closed.into(), ..Moved::default() });
        let by = Enlarged { judged, moved, ..Enlarged::default() };
        let mut line = covered(dec!(2));
        line.resize(&HeldNow { by, ..now(held.into(), dec!(2000), dec!(2000)) }, 0);
        let lines: Vec<LinePart> = lines.iter().copied().map(part).collect();
        assert_eq!(line.parts(Decimal::ZERO), lines, "{held} {filled_px} {filled} {closed}");
    }
}

/// A guard that holds two at 2500 with their stop at 2451, and has a bid with a stop that waits for it.
fn ladder(bid_px: &str, child_px: &str, size: &str) -> Desk {
    let mut desk = Desk::live();
    desk.mids.insert("ETH".into(), dec!(2500));
    desk.read_mids(desk.now);
    let child = open_stop("ETH", "A", child_px, size, 12);
    let entry = OpenOrder { children: vec![child], ..open("ETH", "B", bid_px, size, 11) };
    desk.orders = vec![open_stop("ETH", "A", "2451", "2", 10), entry];
    held_at(&mut desk, dec!(2), "2500");
    desk
}

/// Reads the account with so much held at this entry price, then the orders.
fn held_at(desk: &mut Desk, szi: Decimal, entry_px: &str) -> Vec<Effects> {
    desk.now += 1_000;
    desk.positions.insert("ETH", szi);
    let mut state = desk.state(desk.now);
    state.asset_positions[0].position.entry_px = Some(entry_px.parse().unwrap());
    let (equity, begun_ms) = (desk.equity, desk.now);
    let account = desk.step(Input::Account { state, equity, begun_ms });
    desk.now += 1;
    vec![account, desk.read_orders(desk.now)]
}

fn line_of(desk: &Desk) -> Vec<(Decimal, Decimal)> {
    desk.guard.lines.get(ETH).unwrap().covered_parts().iter().map(|part| (part.px, part.size)).collect()
}

/// The stop fired, a bid below filled, and the price went on: by the mark of now nothing tells that from a position that lost a
/// part of itself. That the bid's own stop came alive does, or its price where that is all that is held now.
#[test]
fn a_stop_that_came_alive_tells_what_filled() {
    for (bid, child, size, px, held, line) in [
        ("2300", "2254", "1", "2270", dec!(1), vec![(dec!(2254), dec!(1))]),
        ("2430", "2381", "4", "2410", dec!(4), vec![(dec!(2381), dec!(4))]),
        // The bid filled first, at the better price, and is what is left.
        ("2460", "2411", "1", "2440", dec!(1), vec![(dec!(2411), dec!(1))]),
    ] {
        let entry_px = if bid == "2460" { "2486.7" } else { bid };
        for is_shown in [true, false] {
            let mut desk = ladder(bid, child, size);
            assert_eq!(line_of(&desk), [(dec!(2451), dec!(2))]);
            desk.mids.insert("ETH".into(), px.parse().unwrap());
            desk.read_mids(desk.now);
            // Another order id is another order: whoever sets a stop like it proves nothing.
            desk.orders = vec![open_stop("ETH", "A", child, size, if is_shown { 12 } else { 13 })];
            held_at(&mut desk, held, entry_px);
            let now = line_of(&desk);
            if is_shown {
                assert_eq!(now, line, "{bid}");
            } else {
                // Then the entry price alone tells: what lost a part of itself has kept its own.
                let nearest = if bid == "2460" { dec!(2451) } else { line[0].0 };
                assert_eq!(now.iter().map(|part| part.0).max(), Some(nearest), "{bid}");
            }
        }
    }
}

/// The entry price must show it: a stop that came alive says nothing of what was sold since.
#[test]
fn what_filled_counts_as_far_as_the_entry_price_shows_it() {
    // One more at 2460 beside two at 2500 makes 2486.67.
    for (entry_px, is_known) in [("2500", false), ("2487.2", false), ("2487.1", true), ("2486.7", true)] {
        let mut desk = ladder("2460", "2411", "1");
        desk.orders = vec![open_stop("ETH", "A", "2451", "1", 10), open_stop("ETH", "A", "2411", "1", 12)];
        desk.mids.insert("ETH".into(), dec!(2455));
        desk.read_mids(desk.now);
        held_at(&mut desk, dec!(2), entry_px);
        let is_loose = line_of(&desk).iter().any(|part| part.0 < dec!(2451));
        assert_eq!(is_loose, is_known, "{entry_px}: {:?}", line_of(&desk));
    }
}

/// The account shows what filled soon: a stop that came alive long before is no part of what has changed now.
#[test]
fn what_filled_is_looked_for_ten_seconds() {
    for (late_ms, is_known) in [(10_000, true), (10_001, false)] {
        let mut desk = ladder("2460", "2411", "1");
        desk.orders = vec![open_stop("ETH", "A", "2451", "1", 10), open_stop("ETH", "A", "2411", "1", 12)];
        desk.now += 1;
        let seen_ms = desk.now;
        desk.read_orders(seen_ms);
        desk.mids.insert("ETH".into(), dec!(2455));
        desk.read_mids(desk.now);
        desk.now = seen_ms + late_ms - 1_001;
        held_at(&mut desk, dec!(2), "2486.7");
        assert_eq!(desk.now, seen_ms + late_ms);
        let is_loose = line_of(&desk).iter().any(|part| part.0 < dec!(2451));
        assert_eq!(is_loose, is_known, "{late_ms}: {:?}", line_of(&desk));
    }
}

/// What somebody bought while the guard was away, once its stop had fired, is another position wherever the price went since.
#[test]
fn a_position_of_before_an_absence_is_another_once_all_its_stops_were_reached() {
    for (entry_px, mark, left) in [
        (dec!(2400), dec!(2370), dec!(0)),
        (dec!(2400), dec!(2451), dec!(0)),
        (dec!(2400), dec!(2451.1), dec!(1)),
        (dec!(2500.5), dec!(2370), dec!(0)),
        (dec!(2500.4), dec!(2370), dec!(1)),
        (dec!(2500), dec!(2370), dec!(1)),
    ] {
        let record = PositionLine {
            asset: ETH,
            is_long: true,
            held: dec!(2),
            parts: vec![(dec!(2451), dec!(2))],
            entry_px: Some(dec!(2500)),
        };
        for is_away in [true, false] {
            let mut line = CoverLine::restored(&record);
            let view = View::default();
            if !is_away {
                line.on_orders(&view, ETH, 1, Some(dec!(2500)));
            }
            line.resize(&now(dec!(1), entry_px, dec!(1000000)), 0);
            line.on_orders(&view, ETH, 2, Some(mark));
            let kept: Decimal = line.covered_parts().iter().map(|part| part.size).sum();
            assert_eq!(kept, if is_away { left } else { dec!(1) }, "{entry_px} {mark} {is_away}");
        }
    }
}
