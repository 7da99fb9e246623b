//! Takes the journal's lines and sums them up.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::collateral::{Collateral, purse_of};
use super::compared::{Compared, GivenUp, Seen};
use super::cuts::Cuts;
use super::equity::{At, Ends};
use super::figures::{Figures, Measured, name_in, won};
use super::fills::{FillLine, liquidates};
use super::finished::Finished;
use super::key::{Key, beside_own_words};
use super::line::{Head, Outcome, RiskState, Trouble, Verdict, may_name_own};
use super::members::{fill_as_written, verdict_as_written};
use super::noted::Noted;
use super::question::{By, Question};
use super::stops::Stops;
use super::sum::Sum;
use crate::base::day::{Day, day_of, start_ms};
use crate::record::event::{Event, Kind};
use crate::record::money::{Balance, Fill, Funding, Transfer};

/// Rows told apart: days of 27 years. What comes on top is one row.
const MOST_ROWS: usize = 10_000;
/// How far from the time asked about an equity may be measured that stands for one of its ends.
const DAY_MS: u64 = 86_400_000;
/// The client of what the guard did by itself.
const GUARD: &str = "guard";

/// A report that is being made.
#[derive(Debug)]
pub struct Report {
    question: Question,
    rows: BTreeMap<Key, Figures>,
    total: Figures,
    /// The equity at both ends of each day that has a row, or is next to one.
    ends: BTreeMap<Day, Ends>,
    noted: Noted,
    /// The day of the last moment, with its name.
    day: Option<(Day, String)>,
    risk_state: Option<String>,
    was_started: bool,
    stops: Stops,
    cuts: Cuts,
    compared: Compared,
    collateral: Collateral,
}

/// The row that something counts in; in all of them it counts in the total.
struct Place<'a> {
    at_ms: u64,
    market: Option<&'a str>,
    /// The client, where it is known whose it is: nobody's is a row of its own.
    client: Option<Option<&'a str>>,
}

impl Report {
    /// A report that no line has been taken into.
    #[must_use]
    pub fn new(question: Question) -> Report {
        let (from_ms, to_ms) = question.span();
        let mut total = Figures::default();
        total.measured.ends = Ends::of(from_ms, to_ms);
        Report {
            question,
            rows: BTreeMap::new(),
            total,
            ends: BTreeMap::new(),
            noted: Noted::default(),
            day: None,
            risk_state: None,
            was_started: false,
            stops: Stops::default(),
            cuts: Cuts::default(),
            compared: Compared::default(),
            collateral: Collateral::default(),
        }
    }

    /// The guard whose journal it is runs at this moment: until then nothing happened but what the lines say.
    pub fn runs_at(&mut self, ms: u64) {
        self.noted.told_of(ms);
        self.compared.runs_ms = Some(ms);
    }

    /// The journal was written up to this event, as is known beside its lines.
    pub fn was_written_up_to(&mut self, seq: u64) {
        self.noted.written_up_to(seq);
    }

    /// Takes the next line of the journal; the fill that it tells of, where that is asked about. `is_chained` says whether
    /// the line's chain value is the one that follows from the line before.
    pub fn take(&mut self, line: &str, is_chained: bool) -> Option<FillLine> {
        let Some(head) = Head::of(line).filter(|head| head.seq > 0) else {
            self.noted.unreadable();
            return None;
        };
        if !self.noted.number(&head, is_chained, &self.question) {
            return None;
        }
        if !line.ends_with('}') {
            // Its end is not there, or was no text.
            self.noted.unreadable();
            return None;
        }
        let (seq, at_ms) = (head.seq, head.at_ms);
        let place = (seq, at_ms);
        match head.kind.as_ref() {
            "fill" => {
                let fill: Option<Fill> = fill_as_written(line).or_else(|| self.body(line));
                return fill.and_then(|fill| self.fill(place, fill));
            }
            "funding" => self.body(line).into_iter().for_each(|paid: Funding| self.funding(place, &paid)),
            "transfer" => self.body(line).into_iter().for_each(|moved: Transfer| self.transfer(place, &moved)),
            "balance" => self.body(line).into_iter().for_each(|balance: Balance| self.balance(place, &balance)),
            "decision" => self.decision(seq, at_ms, line),
            "protect" | "intent" | "flatten" | "sent" | "recovered" => self.deed(&head, line),
            "risk" => self.body(line).into_iter().for_each(|risk: RiskState<'_>| self.risk(at_ms, &risk.state)),
            "kill" => self.guards(at_ms, |figures| &mut figures.deeds.kills, 1),
            "started" => self.started(seq, at_ms),
            "stopped" => self.compared.stop(),
            "error" if line.contains("\"lacks\":") => self.body(line).into_iter().for_each(|told: Trouble<'_>| {
                told.lacks.into_iter().for_each(|lack| self.noted.lacks.add(lack, &told.text, at_ms, &self.question));
            }),
            _ => {}
        }
        None
    }

    /// Ends it.
    #[must_use]
    pub fn finish(mut self) -> Finished {
        self.total.measured.end(&self.compared);
        for row in self.rows.values_mut().chain([&mut self.total]) {
            row.money.settle(|purse| self.collateral.is_usdc(purse));
        }
        if self.question.by == By::Day {
            for (day, ends) in self.ends {
                if let Some(row) = self.rows.get_mut(&Key::Named(day.to_string())) {
                    row.measured.ends = ends;
                }
            }
            self.rows.values_mut().for_each(|row| row.measured.end(&self.compared));
        }
        Finished::new(self.question, self.rows, self.total, self.noted)
    }

    fn body<'a, T: Deserialize<'a>>(&mut self, line: &'a str) -> Option<T> {
        let body = serde_json::from_str(line).ok();
        if body.is_none() {
            self.noted.unreadable();
        }
        body
    }

    fn add(&mut self, place: &Place<'_>, mut to: impl FnMut(&mut Figures)) {
        if !self.question.is_about(place.at_ms) {
            return;
        }
        // A row shows that its day is missing, and nothing of what was told of it later.
        let is_missing = self.noted.is_missing(place.at_ms);
        if is_missing && self.question.by != By::Day {
            return;
        }
        let mut to = |figures: &mut Figures| {
            if !is_missing {
                to(figures);
            }
        };
        to(&mut self.total);
        let key = match self.question.by {
            By::Day => Some(Key::Named(self.day_name(place.at_ms))),
            By::Market => place.market.map(|market| Key::of(Some(market))),
            By::Client => place.client.map(Key::of),
        };
        let Some(key) = key else { return };
        if let Some(row) = self.rows.get_mut(&key) {
            return to(row);
        }
        let key = if self.rows.len() < MOST_ROWS { key } else { Key::Others };
        to(self.rows.entry(key).or_default());
    }

    /// The name of a moment's day: most moments are of the day of the one before.
    fn day_name(&mut self, at_ms: u64) -> String {
        let day = day_of(at_ms);
        if self.day.as_ref().is_none_or(|(last, _)| *last != day) {
            self.day = Some((day, day.to_string()));
        }
        self.day.as_ref().map(|(_, name)| name.clone()).unwrap_or_default()
    }

    /// Counts something that the guard did by itself.
    fn guards(&mut self, at_ms: u64, counter: impl Fn(&mut Figures) -> &mut u64, count: u64) {
        if count > 0 {
            let place = Place { at_ms, market: None, client: Some(Some(GUARD)) };
            self.add(&place, |figures| *counter(figures) = counter(figures).saturating_add(count));
        }
    }

    fn fill(&mut self, (seq, at_ms): (u64, u64), fill: Fill) -> Option<FillLine> {
        self.noted.row(fill.time, &self.question);
        self.noted.lacks.take(&fill);
        let is_own_stop = self.stops.is_stop(&fill, self.noted.first_seq());
        let client = fill.client.as_ref().map(|client| client.to_ascii_lowercase());
        let place = Place { at_ms: fill.time, market: Some(&fill.coin), client: Some(client.as_deref()) };
        let is_liquidated = liquidates(&fill, &self.question.account);
        self.collateral.see(&fill);
        let purse = purse_of(&fill.coin).map(|purse| name_in(&self.total.money.purses, purse).to_owned());
        let token = beside_own_words(&fill.fee_token);
        let token = name_in(&self.total.money.fees_in, &token);
        self.add(&place, |figures| {
            figures.money.fill(&fill, is_liquidated, token, purse.as_deref());
            figures.measured.row(fill.time, seq);
            figures.deeds.stops_fired = figures.deeds.stops_fired.saturating_add(u64::from(is_own_stop));
        });
        self.came((fill.time, at_ms), purse.is_none().then(|| won(&fill)));
        for followed in self.cuts.filled(&fill, is_own_stop) {
            let client = followed.client.as_deref();
            let place = Place { at_ms: fill.time, market: Some(&followed.coin), client: Some(client) };
            self.add(&place, |figures| {
                figures.deeds.cuts_followed = figures.deeds.cuts_followed.saturating_add(1);
                figures.deeds.cut_result += followed.result;
            });
        }
        let is_asked_for = self.question.is_about(fill.time);
        is_asked_for.then_some(FillLine { seq, fill })
    }

    fn funding(&mut self, (seq, at_ms): (u64, u64), paid: &Funding) {
        self.noted.row(paid.time, &self.question);
        let purse = purse_of(&paid.coin).map(|purse| name_in(&self.total.money.purses, purse).to_owned());
        // Funding is a position's, and no client's.
        let place = Place { at_ms: paid.time, market: Some(&paid.coin), client: Some(None) };
        self.add(&place, |figures| {
            figures.money.paid(paid, purse.as_deref());
            figures.measured.row(paid.time, seq);
        });
        self.came((paid.time, at_ms), purse.is_none().then(|| paid.usdc.into()));
    }

    fn transfer(&mut self, (seq, at_ms): (u64, u64), moved: &Transfer) {
        self.noted.row(moved.time, &self.question);
        let place = Place { at_ms: moved.time, market: None, client: None };
        let is_nothing = moved.usdc.is_some_and(|usdc| usdc.is_zero());
        self.add(&place, |figures| {
            figures.money.transferred(moved);
            if !is_nothing {
                figures.measured.row(moved.time, seq);
            }
        });
        if !is_nothing {
            self.came((moved.time, at_ms), moved.usdc.map(Sum::from));
        }
    }

    /// A row is of `time`, and was written down at `at_ms`: what it brought, where it came late, is no part of what account and book
    /// came apart by then.
    fn came(&mut self, (time, at_ms): (u64, u64), usdc: Option<Sum>) {
        let before = self.compared.row(time, at_ms);
        before.into_iter().for_each(|before| self.give_up(&before));
        if let Some((at_ms, usdc)) = self.compared.explains(time).zip(usdc) {
            let place = Place { at_ms, market: None, client: None };
            self.add(&place, |figures| figures.measured.explain(usdc));
        }
    }

    fn balance(&mut self, place: (u64, u64), balance: &Balance) {
        let Seen { closes_ms, apart, given_up } = self.compared.see(place, balance);
        self.noted.book_from(if balance.opened_ms > 0 { balance.opened_ms } else { balance.venue_ms });
        let seq = place.0;
        let place = Place { at_ms: closes_ms, market: None, client: None };
        self.add(&place, |figures| {
            figures.money.is_recorded = true;
            figures.measured.see(seq, balance, apart);
        });
        given_up.into_iter().for_each(|given_up| self.give_up(&given_up));
        let Some(usdc) = balance.equity else { return };
        let at = At { ms: balance.venue_ms, usdc };
        let (from_ms, to_ms) = self.question.span();
        if (from_ms.saturating_sub(DAY_MS)..=to_ms.saturating_add(DAY_MS)).contains(&at.ms) {
            self.total.measured.ends.see(at);
        }
        if self.question.by == By::Day {
            let today = day_of(at.ms);
            for day in [today.preceding(), today, today.following()] {
                let has_room = self.ends.len() < MOST_ROWS || self.ends.contains_key(&day);
                let (from_ms, to_ms) = (start_ms(day), start_ms(day.following()));
                if has_room {
                    self.ends.entry(day).or_insert_with(|| Ends::of(from_ms, to_ms)).see(at);
                }
            }
        }
    }

    /// A book ended that was not compared before: what it was apart by at last nobody knows.
    fn give_up(&mut self, GivenUp { span, why }: &GivenUp) {
        self.between(*span, |measured| measured.give_up(why));
    }

    /// A life begins: what is compared from here on is compared by that one.
    fn started(&mut self, seq: u64, at_ms: u64) {
        self.was_started = true;
        self.noted.started();
        if let Some((since_ms, end_ms)) = self.compared.broke_off(at_ms) {
            self.between((since_ms, end_ms), |measured| measured.lose(since_ms));
        }
        self.compared.begin(seq);
        self.between((self.compared.newest_ms().min(at_ms), at_ms), |measured| measured.begin(seq));
    }

    /// What was measured in the time between two moments, as far as it is asked about.
    fn between(&mut self, (since_ms, end_ms): (u64, u64), to: impl Fn(&mut Measured)) {
        let (from_ms, to_ms) = self.question.span();
        if since_ms >= to_ms || from_ms > end_ms {
            return;
        }
        to(&mut self.total.measured);
        if self.question.by == By::Day {
            let days = Key::Named(day_of(since_ms).to_string())..=Key::Named(day_of(end_ms).to_string());
            self.rows.range_mut(days).for_each(|(_, row)| to(&mut row.measured));
        }
    }

    fn decision(&mut self, seq: u64, at_ms: u64, line: &str) {
        let told = verdict_as_written(line).or_else(|| self.body::<Verdict<'_>>(line));
        let Some(told) = told else { return };
        let client = told.client.as_ref().map(|client| client.to_ascii_lowercase());
        let place = Place { at_ms, market: None, client: Some(client.as_deref()) };
        let count = told.count.unwrap_or(1);
        let name = format!("{} {}", told.verdict, told.code);
        let name = name_in(&self.total.deeds.codes, &name);
        self.add(&place, |figures| figures.deeds.decided(&told.verdict, name, count));
        // Where no order is named none was cut.
        let is_resize = told.verdict == "resize" && line.contains("\"order");
        if !is_resize && !may_name_own(line) {
            return;
        }
        let Some(Event { kind: Kind::Decision(decision), .. }) = Event::parse(line) else { return };
        let actions = decision.pre.iter().chain(&decision.forward).chain(&decision.post).map(AsRef::as_ref);
        let placed = self.stops.named(seq, actions, !decision.nonces.is_empty());
        self.guards(at_ms, |figures| &mut figures.deeds.stops_placed, placed);
        if is_resize && self.cuts.decided(seq, &decision) {
            self.add(&place, |figures| figures.deeds.cuts = figures.deeds.cuts.saturating_add(1));
        }
    }

    /// What the guard sent, or what became of it.
    fn deed(&mut self, head: &Head<'_>, line: &str) {
        let (seq, at_ms) = (head.seq, head.at_ms);
        let placed = match head.kind.as_ref() {
            "sent" | "recovered" => self.outcome(&head.kind, line),
            _ if head.kind == "flatten" => {
                self.guards(at_ms, |figures| &mut figures.deeds.flattens, 1);
                0
            }
            _ if may_name_own(line) => match Event::parse(line).map(|event| event.kind) {
                Some(Kind::Protect(protect)) => {
                    self.stops.named(seq, protect.actions.iter().map(AsRef::as_ref), protect.sent)
                }
                Some(Kind::Intent(intent)) => {
                    self.stops.named(seq, std::iter::once(intent.action.as_ref()), !intent.nonces.is_empty())
                }
                _ => 0,
            },
            _ => 0,
        };
        self.guards(at_ms, |figures| &mut figures.deeds.stops_placed, placed);
    }

    fn outcome(&mut self, kind: &str, line: &str) -> u64 {
        if !self.stops.is_waiting() {
            return 0;
        }
        let Some(told) = self.body::<Outcome<'_>>(line) else { return 0 };
        if kind == "sent" {
            // Without the venue's answer it is found out later what happened.
            let happened = told.is_answered().then_some(told.ok);
            return self.stops.ended(told.decision, told.index, happened);
        }
        let happened = match told.outcome.as_ref() {
            "happened" => Some(true),
            "did_not_happen" => Some(false),
            _ => None,
        };
        self.stops.ended(told.intent, told.index, happened)
    }

    /// A halt is the change into one. Where the state before is not known, a start in between may only have told of an old one.
    fn risk(&mut self, at_ms: u64, state: &str) {
        let halted = matches!(state, "halted_for_day" | "stopped");
        let is_news = self.risk_state.as_ref().map_or(!self.was_started, |before| before != state);
        self.risk_state = Some(state.to_owned());
        self.guards(at_ms, |figures| &mut figures.deeds.halts, u64::from(halted && is_news));
    }
}
