//! One look at the guard: its health, its status and the events since the last look, as any tool on the machine may read
//! them. It asks and never posts.

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::forms::http::{agent, failure};
use super::watch::{Report, Seen};
use crate::base::day::Day;
use crate::base::origin::Origin;
use crate::record::error_body::{ErrorBody, Health};
use crate::record::event::Event;
use crate::record::event_page::EventPage;
use crate::record::status::Status;

/// For one question: the guard answers from memory.
const PATIENCE: Duration = Duration::from_secs(4);
/// For a report, which the guard reads from its journal: a summary does without where that takes longer, once a day.
const REPORT_PATIENCE: Duration = Duration::from_secs(10);
/// The most of an answer that is read: one event may be as long as a request.
const MAX_ANSWER: u64 = 24 * 1024 * 1024;
/// Events asked for at once.
const PAGE: usize = 500;

/// The guard's address.
#[derive(Debug)]
pub(super) struct GuardLook {
    agent: ureq::Agent,
    patient: ureq::Agent,
    url: String,
}

/// One look's answers.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) seen: Seen,
    pub(super) status: Option<Status>,
    pub(super) page: Option<EventPage<Event<'static>>>,
}

/// A question that brought nothing: whether no answer came at all, and why.
#[derive(Debug)]
pub(super) struct Miss {
    pub(super) is_silent: bool,
    pub(super) why: String,
}

/// A base URL as it is called: plain HTTP to a loopback address.
pub(super) fn guard_url(text: &str) -> Option<String> {
    let origin = Origin::parse(text).ok().filter(|origin| !origin.is_encrypted())?;
    let ip = origin.ip().filter(IpAddr::is_loopback)?;
    Some(format!("http://{}", SocketAddr::new(ip, origin.port().unwrap_or(80))))
}

impl GuardLook {
    pub(super) fn at(url: String) -> Self {
        Self { agent: agent(PATIENCE), patient: agent(REPORT_PATIENCE), url }
    }

    /// Where it is.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Looks once. The status is asked before the events: whatever it shows has its events among them.
    pub(super) fn look(&self, cursor: Option<u64>) -> Look {
        let health = self.health();
        if matches!(health, Seen::Away(_)) {
            return Look { seen: health, status: None, page: None };
        }
        let status = self.get::<Status>("/guard/status");
        if let Err(Miss { is_silent: true, why }) = status {
            // It stopped since.
            return Look { seen: Seen::Away(why), status: None, page: None };
        }
        // Who was never here takes in nothing that is past: it asks for what comes behind all others, to hear where that is.
        let since = cursor.unwrap_or(u64::MAX);
        let page = self.page(since);
        let silent = [status.as_ref().err(), page.as_ref().err()].into_iter().flatten().next();
        let seen = match silent {
            Some(Miss { is_silent: true, why }) => Seen::Away(why.clone()),
            Some(Miss { why, .. }) if health == Seen::Well => Seen::Unwell(vec![why.clone()]),
            _ => health,
        };
        Look { seen, status: status.ok(), page: page.ok() }
    }

    /// The first events behind this one.
    pub(super) fn page(&self, since: u64) -> Result<EventPage<Event<'static>>, Miss> {
        self.get(&format!("/guard/events?since={since}&limit={PAGE}"))
    }

    /// The number and the time of the first event behind this one; `None` where it is not said.
    pub(super) fn first_behind(&self, since: u64) -> Option<(u64, u64)> {
        let page = self.get::<EventPage<Event<'static>>>(&format!("/guard/events?since={since}&limit=1")).ok()?;
        page.events.first().map(|event| (event.seq, event.at_ms))
    }

    /// The report of these days.
    pub(super) fn report(&self, from: Day, to: Day) -> Result<Report, Miss> {
        let asked = self.ask_by(&self.patient, &format!("/guard/report?from={from}&to={to}"));
        let silent = |why: String| Miss { is_silent: true, why: format!("its report did not come in time: {why}") };
        let (status, body) = asked.map_err(silent)?;
        let answered = |why: String| Miss { is_silent: false, why };
        if status != 200 {
            let said: ErrorBody<'_> = serde_json::from_slice(&body).unwrap_or_default();
            let why = format!("its report is answered with HTTP {status} {}", said.msg);
            return Err(answered(why.trim_end().to_owned()));
        }
        serde_json::from_slice(&body).map_err(|_| answered("its report cannot be read".to_owned()))
    }

    fn health(&self) -> Seen {
        let (status, body) = match self.ask("/healthz") {
            Ok(answer) => answer,
            Err(why) => return Seen::Away(why),
        };
        match status {
            200 => Seen::Well,
            503 => {
                let health: Option<Health<'_>> = serde_json::from_slice(&body).ok();
                let problems = health.map(|health| health.problems).unwrap_or_default();
                Seen::Unwell(if problems.is_empty() { vec!["it does not say why".to_owned()] } else { problems })
            }
            status => Seen::Away(format!("what answers at {} is no guard (HTTP {status})", self.url)),
        }
    }

    fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Miss> {
        let name = path.split('?').next().unwrap_or(path);
        let asked = self.ask(path).map_err(|why| Miss { is_silent: true, why: format!("{name}: {why}") });
        let (status, body) = asked?;
        let answered = |what: String| Miss { is_silent: false, why: format!("{name} is answered with {what}") };
        if status != 200 {
            return Err(answered(format!("HTTP {status}")));
        }
        serde_json::from_slice(&body).map_err(|_| answered("what cannot be read".to_owned()))
    }

    fn ask(&self, path: &str) -> Result<(u16, Vec<u8>), String> {
        self.ask_by(&self.agent, path)
    }

    fn ask_by(&self, agent: &ureq::Agent, path: &str) -> Result<(u16, Vec<u8>), String> {
        let answer = agent.get(format!("{}{path}", self.url)).call();
        let mut answer = answer.map_err(|error| format!("{} {}", self.url, failure(&error)))?;
        let mut body = Vec::new();
        let read = answer.body_mut().as_reader().take(MAX_ANSWER).read_to_end(&mut body);
        read.map_err(|_| format!("{} broke its answer off", self.url))?;
        Ok((answer.status().as_u16(), body))
    }
}
