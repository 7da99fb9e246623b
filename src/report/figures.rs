//! The figures of one row, or of all rows together: each is a sum, so that rows added up are the total.

use std::collections::BTreeMap;

use super::compared::{Compared, why_of};
use super::equity::{Ends, Fall};
use super::key::OTHERS;
use super::number::in_number;
use super::sum::Sum;
use crate::base::moment::iso;
use crate::record::money::{Balance, Fill, Funding, Transfer};

/// The token that all sums of money are in.
pub(super) const USDC: &str = "USDC";
/// Names of tokens, and of verdicts with their codes, that are told apart, the same in all rows; what comes on top counts
/// together.
const MOST_NAMES: usize = 256;
/// Why nothing is known of a time of which no sum of the book is.
const NEVER: &str = "account and book were not compared in this time; what they came apart by in it, if anything, stands on the day \
                     of the next comparison";

/// A row's figures.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) money: Money,
    pub(super) deeds: Deeds,
    pub(super) measured: Measured,
}

/// The figures of trading, funding and transfers.
#[derive(Debug, Default)]
pub(super) struct Money {
    /// Whether an event of the book stands behind it.
    pub(super) is_recorded: bool,
    pub(super) fills: u64,
    pub(super) late_fills: u64,
    pub(super) liquidations: u64,
    /// Fills that liquidated somebody who may have been the account.
    pub(super) liquidations_unknown: u64,
    pub(super) volume: Sum,
    pub(super) gross: Sum,
    pub(super) fees: Sum,
    pub(super) builder_fees: Sum,
    /// By token; none of them is added to the fees in USDC.
    pub(super) fees_in: BTreeMap<String, Sum>,
    pub(super) funding: Sum,
    pub(super) transfers: Sum,
    /// Transfers whose amount cannot be told.
    pub(super) transfers_unknown: u64,
    /// What came of purses beside that of the core perps, by their names: whether it is USDC is known at the end.
    pub(super) purses: BTreeMap<String, Purse>,
    /// Fills and payments in another token than USDC: what they come to in USDC cannot be told.
    in_others: u64,
}

/// What came of a purse, in its token.
#[derive(Debug, Default)]
pub(super) struct Purse {
    rows: u64,
    volume: Sum,
    gross: Sum,
    funding: Sum,
}

impl Money {
    /// Adds a fill; `is_liquidated` says whether it liquidated the account guarded, where that is known, `token` what a fee that is
    /// not in USDC counts under, and `purse` what its amounts do, where they are not the core perps'.
    pub(super) fn fill(&mut self, fill: &Fill, is_liquidated: Option<bool>, token: &str, purse: Option<&str>) {
        self.is_recorded = true;
        self.fills = self.fills.saturating_add(1);
        self.late_fills = self.late_fills.saturating_add(u64::from(fill.late));
        self.liquidations = self.liquidations.saturating_add(u64::from(is_liquidated == Some(true)));
        self.liquidations_unknown = self.liquidations_unknown.saturating_add(u64::from(is_liquidated.is_none()));
        match purse {
            None => {
                self.volume += Sum::product(fill.px, fill.size);
                self.gross += fill.closed_pnl;
            }
            Some(purse) => {
                let purse = self.purse(purse);
                purse.volume += Sum::product(fill.px, fill.size);
                purse.gross += fill.closed_pnl;
            }
        }
        if fill.fee_token == USDC {
            self.fees += fill.fee;
            self.builder_fees += fill.builder_fee.unwrap_or_default();
        } else {
            *self.fees_in.entry(token.to_owned()).or_default() += fill.fee;
        }
    }

    /// Adds a payment of funding, to `purse` where it is not the core perps'.
    pub(super) fn paid(&mut self, funding: &Funding, purse: Option<&str>) {
        self.is_recorded = true;
        match purse {
            None => self.funding += funding.usdc,
            Some(purse) => self.purse(purse).funding += funding.usdc,
        }
    }

    /// One more row of this purse.
    fn purse(&mut self, name: &str) -> &mut Purse {
        let purse = self.purses.entry(name.to_owned()).or_default();
        purse.rows = purse.rows.saturating_add(1);
        purse
    }

    /// All is told: adds what is USDC to the sums, and counts what is not, or may not be.
    pub(super) fn settle(&mut self, is_usdc: impl Fn(&str) -> bool) {
        for (name, purse) in std::mem::take(&mut self.purses) {
            if is_usdc(&name) {
                self.volume += purse.volume;
                self.gross += purse.gross;
                self.funding += purse.funding;
            } else {
                self.in_others = self.in_others.saturating_add(purse.rows);
            }
        }
    }

    /// Why its amounts are no sums in USDC, where they are none.
    pub(super) fn why_unknown(&self) -> Option<String> {
        (self.in_others > 0).then(|| {
            in_number(
                self.in_others,
                "[fill or payment is/fills and payments are] in another token than USDC, or in one that no fill read here has told, \
                 and what that is worth is not recorded",
            )
        })
    }

    pub(super) fn transferred(&mut self, transfer: &Transfer) {
        self.is_recorded = true;
        match transfer.usdc {
            Some(usdc) => self.transfers += usdc,
            None => self.transfers_unknown = self.transfers_unknown.saturating_add(1),
        }
    }

    /// Gross less fees in USDC, with funding.
    pub(super) fn net(&self) -> Sum {
        let mut net = self.gross;
        net += -self.fees;
        net += self.funding;
        net
    }
}

/// What was decided and done.
#[derive(Debug, Default)]
pub(super) struct Deeds {
    pub(super) allowed: u64,
    pub(super) resized: u64,
    pub(super) vetoed: u64,
    /// How often, by verdict and code as in `veto leverage_too_high`.
    pub(super) codes: BTreeMap<String, u64>,
    pub(super) stops_placed: u64,
    pub(super) stops_fired: u64,
    /// Requests whose size was cut.
    pub(super) cuts: u64,
    /// Of those, how many are in `cut_result`.
    pub(super) cuts_followed: u64,
    /// What the parts that were cut off would have won or lost.
    pub(super) cut_result: Sum,
    pub(super) halts: u64,
    pub(super) kills: u64,
    pub(super) flattens: u64,
}

impl Deeds {
    /// Adds `count` requests that were decided alike, which count under `name` as well.
    pub(super) fn decided(&mut self, verdict: &str, name: &str, count: u64) {
        let of_verdict = match verdict {
            "allow" => Some(&mut self.allowed),
            "resize" => Some(&mut self.resized),
            "veto" => Some(&mut self.vetoed),
            _ => None,
        };
        for counter in of_verdict.into_iter().chain([self.codes.entry(name.to_owned()).or_default()]) {
            *counter = counter.saturating_add(count);
        }
    }
}

/// What was measured of the account.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) ends: Ends,
    fall: Fall,
    /// Why a part of what was measured of the falls is gone.
    gone: Option<String>,
    /// What account and book came apart by, by the sums of the book of this time; none where none of them was compared.
    apart: Option<Sum>,
    /// The number of a sum that could not be compared, or of a start, and why nothing is known until one is.
    uncompared: Option<(u64, String)>,
    /// Why a book of this time was not compared to its end: no later one says what it was apart by.
    given_up: Option<String>,
    /// The newest time of a row of the book, and the number of the last one.
    rows: Option<(u64, u64)>,
    /// Once it has ended: why the newest of them was not compared.
    pub(super) why_not_compared: Option<String>,
}

impl Measured {
    /// What account and book came apart by, once it has ended; none where that is not known.
    pub(super) fn difference(&self) -> Option<Sum> {
        self.apart.filter(|_| self.why_not_compared.is_none())
    }

    /// The worst fall; none where a worse one may be gone.
    pub(super) fn worst_fall(&self) -> Option<Sum> {
        self.fall.worst.filter(|_| self.gone.is_none())
    }

    /// Why the worst fall is not known, where something of it was measured and is gone.
    pub(super) fn why_gone(&self) -> Option<&str> {
        self.gone.as_deref()
    }

    /// What was measured since this moment, and not written down, went with a life that broke off.
    pub(super) fn lose(&mut self, since_ms: u64) {
        let why = format!("the guard broke off, and what it had measured since {} went with it", iso(since_ms));
        self.gone.get_or_insert(why);
    }

    /// Until a new life has compared anything, what came while nobody watched may be missing.
    pub(super) fn begin(&mut self, seq: u64) {
        if self.apart.is_some() || self.uncompared.is_some() {
            let why = "nothing was compared since the guard's last start; what was traded while it was away may not be read yet";
            self.uncompared = Some((seq, why.to_owned()));
        }
    }

    /// A row of the book is of this time, and has this number.
    pub(super) fn row(&mut self, time: u64, seq: u64) {
        let (newest, last) = self.rows.unwrap_or_default();
        self.rows = Some((newest.max(time), last.max(seq)));
    }

    /// Ends it: rows that no sum of the book was compared with since may or may not add up.
    pub(super) fn end(&mut self, compared: &Compared) {
        // What one sum could not tell the next one does, where it is of the same book.
        let uncompared = self.uncompared.take().filter(|(seq, _)| *seq > compared.newest_seq()).map(|(_, why)| why);
        let lacking = || self.rows.and_then(|rows| compared.lacks(rows)).map(why_lacking);
        self.why_not_compared = self.given_up.clone().or(uncompared).or_else(lacking);
    }

    /// Why it is not known what they came apart by, once it has ended.
    pub(super) fn why_unknown(&self) -> Option<&str> {
        self.why_not_compared.as_deref().or_else(|| self.apart.is_none().then_some(NEVER))
    }

    /// So much of what they came apart by came with rows that were told of later.
    pub(super) fn explain(&mut self, usdc: Sum) {
        self.apart.iter_mut().for_each(|apart| *apart += -usdc);
    }

    /// A book of this time began anew, and was not compared before.
    pub(super) fn give_up(&mut self, why: &str) {
        self.given_up = Some(why.to_owned());
    }

    /// Takes in the sum of the book with this number, and what account and book came apart by since the one before.
    pub(super) fn see(&mut self, seq: u64, balance: &Balance, apart: Option<Sum>) {
        self.fall.see(balance);
        match apart {
            Some(apart) => *self.apart.get_or_insert_default() += apart,
            None => self.uncompared = Some((seq, why_of(balance).to_owned())),
        }
    }
}

/// What a fill of the core perps' purse brought, less its fee in USDC.
pub(super) fn won(fill: &Fill) -> Sum {
    let mut won = Sum::from(fill.closed_pnl);
    if fill.fee_token == USDC {
        won += -fill.fee;
    }
    won
}

/// Why nothing is known of rows behind the newest sum, which is of this time.
fn why_lacking(sum_ms: u64) -> String {
    match sum_ms {
        0 => "account and book were never compared".to_owned(),
        sum_ms => format!(
            "fills, funding or transfers were recorded after account and book were compared last, at {}",
            iso(sum_ms)
        ),
    }
}

/// What a name counts under in every row, by the names that the total has.
pub(super) fn name_in<'a, T>(total: &BTreeMap<String, T>, name: &'a str) -> &'a str {
    let has_room = total.len() < MOST_NAMES || total.contains_key(name);
    if has_room { name } else { OTHERS }
}
