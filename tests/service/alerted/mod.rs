//! `svc-guard notify` from outside: the real notifier beside the real guard, and targets that are stand-ins on 127.0.0.1.

mod deaths;
mod forms;
mod guard_seen;
mod hook;
mod kept;
mod mail;
mod no_room;
mod notifier;
mod other_guards;
mod silence;
mod summed_up;
mod troubles;
mod typed;
mod whose;

pub(crate) use hook::Hook;
pub(crate) use notifier::Notifier;
