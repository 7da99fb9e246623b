//! One subscription at the venue: who has it, how far it is, and what a late client begins with.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::heard::Data;
use super::kind::{Manner, NEWEST_FIRST};
use super::line::OWN_LINE;
use super::messages::{ClientId, Frame};
use super::subscription::Subscription;

/// Most rows and bytes of them that are kept, whatever the venue begins with.
const MOST_ROWS: usize = 2_000;
const MOST_ROW_BYTES: usize = 1024 * 1024;

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// To be asked for.
    Unasked,
    /// To be ended and asked for again, for a whole state.
    Stale,
    Asked {
        since_ms: u64,
    },
    Held,
}

/// A client that has it.
#[derive(Debug)]
pub(super) struct Holder {
    /// The client's own address as it wrote it, where that stands for the account.
    pub(super) spelled: Option<String>,
    pub(super) is_told: bool,
}

/// A frame as it came, and where the address of its account stands in it.
#[derive(Debug, Clone)]
pub(super) struct Passed {
    pub(super) frame: Frame,
    pub(super) user_at: Option<Range<usize>>,
}

/// One subscription.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) subscription: Subscription,
    pub(super) line: usize,
    pub(super) phase: Phase,
    /// The subscription as the venue has it, once it said so.
    pub(super) said: String,
    pub(super) holders: BTreeMap<ClientId, Holder>,
    last: Option<Passed>,
    rows: VecDeque<Box<str>>,
    row_bytes: usize,
    most_rows: usize,
    pub(super) has_first: bool,
}

impl Feed {
    pub(super) fn new(subscription: Subscription, line: usize) -> Self {
        let said = subscription.normal();
        Self {
            subscription,
            line,
            phase: Phase::Unasked,
            said,
            holders: BTreeMap::new(),
            last: None,
            rows: VecDeque::new(),
            row_bytes: 0,
            most_rows: 0,
            has_first: false,
        }
    }

    /// Whether the guard listens to it for itself: then it lasts, whoever has it.
    pub(super) fn is_own(&self) -> bool {
        self.line == OWN_LINE
    }

    pub(super) fn manner(&self) -> Manner {
        self.subscription.kind.manner
    }

    /// What was told holds no longer: the socket is another.
    pub(super) fn forget(&mut self) {
        (self.phase, self.last, self.has_first) = (Phase::Unasked, None, false);
        self.keep_no_rows();
    }

    fn keep_no_rows(&mut self) {
        (self.row_bytes, self.most_rows) = (0, 0);
        self.rows.clear();
    }

    /// Keeps what a late client needs of a frame.
    pub(super) fn keep(&mut self, passed: &Passed, data: &Data<'_>) {
        match self.manner() {
            Manner::State | Manner::Last => self.last = Some(passed.clone()),
            Manner::Rows(key, usual) => {
                if !self.has_first || data.is_snapshot {
                    self.keep_no_rows();
                    self.most_rows = usual.max(data.rows.len()).min(MOST_ROWS);
                }
                // A snapshot with its newest row first is kept as it is; what comes later stands before it.
                let in_turn: Vec<&str> = match key {
                    Some(NEWEST_FIRST) => data.rows.iter().rev().copied().collect(),
                    _ => data.rows.clone(),
                };
                for row in in_turn {
                    self.row_bytes = self.row_bytes.saturating_add(row.len());
                    self.rows.push_back(row.into());
                }
                while self.rows.len() > self.most_rows || self.row_bytes > MOST_ROW_BYTES {
                    let Some(oldest) = self.rows.pop_front() else { break };
                    self.row_bytes = self.row_bytes.saturating_sub(oldest.len());
                }
            }
            Manner::Events | Manner::Changes => {}
        }
        self.has_first = true;
    }

    /// What a late client begins with, as the venue would say it now.
    pub(super) fn first(&self) -> Option<Passed> {
        let Manner::Rows(key, _) = self.manner() else { return self.last.clone() };
        if !self.has_first {
            return None;
        }
        let rows: Vec<&str> = match key {
            Some(NEWEST_FIRST) => self.rows.iter().rev().map(|row| &**row).collect(),
            _ => self.rows.iter().map(|row| &**row).collect(),
        };
        let (rows, channel) = (rows.join(","), self.subscription.kind.channel);
        let Some((key, user)) = key.zip(self.subscription.user) else {
            let frame = format!(r#"{{"channel":"{channel}","data":[{rows}]}}"#).into();
            return Some(Passed { frame, user_at: None });
        };
        let (before, user) =
            (format!(r#"{{"channel":"{channel}","data":{{"isSnapshot":true,"user":""#), user.to_string());
        let user_at = Some(before.len()..before.len().saturating_add(user.len()));
        Some(Passed { frame: format!(r#"{before}{user}","{key}":[{rows}]}}}}"#).into(), user_at })
    }

    /// The subscription as this client is told of it.
    pub(super) fn said_to(&self, spelled: Option<&str>) -> String {
        match (spelled, self.subscription.user) {
            (Some(spelled), Some(user)) => self.said.replace(&user.to_string(), spelled),
            _ => self.said.clone(),
        }
    }
}

impl Passed {
    /// The frame with the account's address as the client wrote its own.
    pub(super) fn to(&self, spelled: Option<&str>) -> Frame {
        let whole = || self.frame.clone();
        let (Some(spelled), Some(at)) = (spelled, self.user_at.as_ref()) else { return whole() };
        let (before, after) = (self.frame.get(..at.start), self.frame.get(at.end..));
        before.zip(after).map_or_else(whole, |(before, after)| [before, spelled, after].concat().into())
    }
}
