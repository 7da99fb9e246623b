//! The answer of `GET /guard/decision`: each decision that was asked for, with all that was done for it.
//!
//! The journal fills it with events as they were published; who reads it takes them as [`Event`](super::event::Event)s.

use serde::{Deserialize, Serialize};

/// The decisions found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionView<E> {
    /// The nonce asked for, or that of the first decision found.
    #[serde(default)]
    pub nonce: Option<u64>,
    /// The decisions, newest first.
    pub decisions: Vec<DecisionRecord<E>>,
}

/// One decision with all that was done for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "E: Deserialize<'de>"))]
pub struct DecisionRecord<E> {
    /// The decision.
    pub decision: E,
    /// What was sent for it, and what came back.
    #[serde(default)]
    pub sent: Vec<E>,
    /// Further actions for its sake.
    #[serde(default)]
    pub intents: Vec<E>,
    /// What was found out about actions without an answer.
    #[serde(default)]
    pub recovered: Vec<E>,
    /// The event that all of it has ended.
    #[serde(default)]
    pub done: Option<E>,
}
