//! The live feed's part in the watch: what it tells is acted on where waiting would leave a position bare, and is a reason to
//! read everywhere else. Nothing is closed, and no halt fires, by a push alone.

mod baseline;
mod distrust;
mod doubt;
mod fills;
mod orders;
mod pace;
mod prices;
mod shown;
mod states;

use crate::guard::effects::{Command, Read};
use crate::guard::feed_news::{FeedCommand, FeedNews};
use crate::guard::flow::book::{self, Told};
use crate::guard::flow::risk::ledger;
use crate::guard::flow::step_context::Step;
use crate::venue::fill::Fill;
use crate::venue::stream::data::{Data, WebData};
use std::collections::BTreeMap;

pub(crate) use baseline::on_fills_read;

/// Takes in what the feed tells.
pub(crate) fn on_news(step: &mut Step<'_>, news: FeedNews) {
    match news {
        FeedNews::Proved(topics) => step.guard.feed.proved = topics,
        FeedNews::Opened { socket } => baseline::begin(step, socket),
        FeedNews::Told(data) => on_told(step, *data),
        FeedNews::Traded => step.effects.immediate.push(Command::Read(Read::AccountNow)),
        FeedNews::Prices { marks, mids, begun_ms } => prices::on_prices(step, &marks, &mids, begun_ms),
        FeedNews::Figures(figures) => step.guard.feed.figures = figures,
    }
}

fn on_told(step: &mut Step<'_>, data: Data) {
    let mut read = |wanted: &[Read]| step.effects.immediate.extend(wanted.iter().cloned().map(Command::Read));
    match data {
        Data::Fills(rows) => {
            record(step, &rows.rows, Told::of(rows.is_snapshot));
            fills::on_fills(step, &rows.rows);
        }
        Data::Event(event) => {
            if event.liquidation.is_some() {
                read(&[Read::AccountNow, Read::OrdersNow]);
            } else if !event.cancels.is_empty() {
                read(&[Read::OrdersNow]);
            }
            record(step, &event.fills, Told::Live);
            book::on_fundings_told(step, event.funding.as_slice(), Told::Live);
            fills::on_fills(step, &event.fills);
        }
        Data::OrderUpdates(updates) => orders::on_updates(step, &updates),
        Data::Account(_, state) => states::on_account(step, &state),
        Data::OpenOrders(_, orders) => orders::on_open_orders(step, &orders),
        Data::Ledger(rows) => {
            step.guard.risk.told.hear(&rows.rows, step.now_ms);
            if !rows.is_snapshot && !rows.rows.is_empty() {
                read(&[Read::AccountNow, ledger::read(step.guard)]);
            }
        }
        Data::Fundings(rows) => {
            if !rows.is_snapshot {
                read(&[Read::Account]);
            }
            book::on_fundings_told(step, &rows.rows, Told::of(rows.is_snapshot));
        }
        Data::Spot(_, spot) => {
            if step.guard.feed.spot.replace(spot.clone()).is_some_and(|before| before != spot) {
                step.effects.immediate.push(Command::Read(Read::Account));
            }
        }
        Data::WebData(WebData { abstraction, .. }) => {
            let before = std::mem::replace(&mut step.guard.feed.mode, abstraction.clone());
            if before.is_some() && before != abstraction {
                step.effects.immediate.push(Command::Read(Read::Mode { is_for_halt: false }));
            }
        }
        Data::Mids(mids) => {
            let begun_ms = step.guard.feed.as_of_ms;
            prices::on_mids(step, &mids, begun_ms);
        }
        // Prices of single markets come together; the mid is among them.
        Data::Bbo(_) | Data::AssetCtx(_) => {}
    }
}

/// Has fills recorded; where one is at a price that cannot be, what the venue's own history shows instead.
fn record(step: &mut Step<'_>, fills: &[Fill], told: Told) {
    let asset = |fill: &Fill| step.guard.view.universe.by_coin(&fill.coin).map(|market| market.asset);
    let is_odd = |fill: &Fill| asset(fill).is_some_and(|asset| doubt::is_off(step.guard, asset, fill.px));
    if fills.iter().any(is_odd) {
        book::read_fills(step);
    } else {
        book::on_fills_told(step, fills, told);
    }
}

/// Takes in that the account was read; `changes` is by how much each position has changed since the read before.
pub(crate) fn on_account_read(step: &mut Step<'_>, changed: &BTreeMap<u32, rust_decimal::Decimal>) {
    if step.guard.config.feed {
        fills::on_account_read(step, changed);
    }
}

/// Tells the feed which markets there are.
pub(crate) fn on_universe(step: &mut Step<'_>) {
    if step.guard.config.feed {
        let coins = step.guard.view.universe.iter().map(|market| market.coin.clone()).collect();
        step.effects.immediate.push(Command::Feed(FeedCommand::Universe(coins)));
    }
}

/// Does what is due after a step.
pub(crate) fn after_step(step: &mut Step<'_>, is_tick: bool) {
    if !step.guard.config.feed {
        return;
    }
    baseline::end(step);
    if is_tick {
        fills::look_for_missed(step);
        pace::tell_wanted(step);
    }
    pace::tell_pace(step);
}
