//! `svc-guard notify`: word of what happens reaches the owner. A process of its own, a reader of the guard's as any tool on
//! the machine may be: it holds no key, posts nothing to the guard and is asked nothing by it.
//!
//! `watch` decides what is worth telling, `desk` what one target is told next; both are pure, with times passed in, and
//! `office` is their state, kept on disk as one. The others are edges: `guard_look` reads the guard, `forms` send, `keep`
//! writes, `secrets` reads what no config may hold. A message counts as told when the target said yes, and not before.

mod aside;
mod check;
mod config;
mod desk;
mod draft;
mod follow;
mod forms;
mod guard_look;
mod hours;
mod intake;
mod keep;
mod log;
mod message;
mod notice;
mod office;
mod pulse;
mod reach;
mod run;
mod secrets;
mod shape;
mod shared;
mod slip;
mod teller;
mod topics;
mod trial;
mod url;
mod watch;
mod wishes;
mod words;

pub use config::{Config, Encryption, Form, Place, Target};
pub use follow::OwnGuard;
pub use hours::Clock;
pub use intake::Past;
pub use keep::KeepError;
pub use notice::Severity;
pub use run::{Options, RunError, run};
pub use secrets::SecretError;
pub use trial::trial;
pub use watch::{Guard, alert_codes, alert_words};

#[cfg(test)]
mod tests;
