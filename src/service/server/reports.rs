//! The thread that answers `GET /guard/report`: the journal is read for it, which may take seconds, so it is neither the
//! decision loop's work nor an HTTP worker's. It makes one report at a time, and what was made is given again for a while.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};
use serde_json::{Map, Value};

use super::handlers::{parameter, times};
use super::types::Response;
use crate::base::clock::now_ms;
use crate::base::day::{Day, day_of};
use crate::journal::{reached, read_days};
use crate::report::{By, FillLine, Question, Report};
use crate::service::thread::{Death, spawn};

/// Requests that wait for the thread.
const QUEUE: usize = 16;
/// Answers kept; the page asks two, and tools some more.
const KEPT: usize = 8;
/// How long an answer is good for at least.
const FRESH: Duration = Duration::from_secs(3);
/// And by how much longer than it took to make: so that reports take a twentieth of a core at most.
const REST: u32 = 20;
/// How long the journal may be read for one answer, well before the gate gives up on it (30 s). What waits behind it may
/// be told to ask again.
const MOST_READING: Duration = Duration::from_secs(8);
/// How long a request may wait for its turn.
const PATIENCE: Duration = Duration::from_secs(15);
/// Lines between two looks at the time.
const BETWEEN_LOOKS: u64 = 1000;
/// Fills given at most, the newest.
const MOST_FILLS: usize = 1000;

/// The journal that is reported on.
pub(in crate::service) struct ReportSource {
    /// Its folder.
    pub(in crate::service) dir: PathBuf,
    /// Its mode.
    pub(in crate::service) mode: String,
    /// Its account.
    pub(in crate::service) account: String,
}

/// A question as it was asked.
#[derive(Clone, PartialEq, Eq)]
struct Asked {
    question: Question,
    fills: usize,
}

struct Job {
    asked: Asked,
    since: Instant,
    take: Box<dyn FnOnce(Response) + Send>,
}

struct Kept {
    asked: Asked,
    until: Instant,
    answer: Response,
}

/// The queue to the thread.
pub(super) struct Reports {
    mode: String,
    account: String,
    jobs: Sender<Job>,
}

impl Reports {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system's, when it grants none.
    pub(super) fn start(source: ReportSource, deaths: &Sender<Death>) -> io::Result<Reports> {
        let (jobs, waiting) = bounded::<Job>(QUEUE);
        let (mode, account, dir) = (source.mode, source.account, source.dir);
        spawn("report", deaths, move || {
            let mut kept: VecDeque<Kept> = VecDeque::new();
            waiting.iter().for_each(|job| (job.take)(answer(&dir, job.asked, job.since, &mut kept)));
            Ok(())
        })?;
        Ok(Reports { mode, account, jobs })
    }

    /// Has a query answered; at once where it cannot be.
    pub(super) fn ask(&self, query: &str, take: impl FnOnce(Response) + Send + 'static) {
        let asked = match self.read(query) {
            Ok(asked) => asked,
            Err(text) => return take(Response::error(400, "bad_request", &text)),
        };
        let job = Job { asked, since: Instant::now(), take: Box::new(take) };
        if let Err(refused) = self.jobs.try_send(job) {
            (refused.into_inner().take)(busy());
        }
    }

    fn read(&self, query: &str) -> Result<Asked, String> {
        let names = ["day", "from", "to", "by", "fills"];
        if let Some(twice) = names.iter().find(|name| times(query, name) > 1) {
            return Err(format!("`{twice}` stands more than once"));
        }
        let day = |name: &str| {
            let named = parameter(query, name).map(|text| text.parse::<Day>());
            named.transpose().map_err(|_| format!("`{name}` must be a day such as 2026-01-31"))
        };
        let (only, from, to) = (day("day")?, day("from")?, day("to")?);
        let (from, to) = match (only, from, to) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                return Err("ask with `day`, or with `from` and `to`".to_owned());
            }
            (None, None, None) => (Some(day_of(now_ms())), Some(day_of(now_ms()))),
            (None, from, to) => (from, to),
            (only, ..) => (only, only),
        };
        let by = parameter(query, "by").map_or(Some(By::default()), By::named);
        let by = by.ok_or_else(|| format!("`by` must be one of {}", By::NAMES.join(", ")))?;
        let fills = parameter(query, "fills").map_or(Ok(0), str::parse::<usize>);
        let fills = fills.ok().filter(|fills| *fills <= MOST_FILLS);
        let fills = fills.ok_or_else(|| format!("`fills` must be a number from 0 to {MOST_FILLS}"))?;
        let question = Question { mode: self.mode.clone(), account: self.account.clone(), from, to, by };
        question.check().map_err(|error| error.to_string())?;
        Ok(Asked { question, fills })
    }
}

fn busy() -> Response {
    Response::error(503, "busy", "other reports are being made: ask again in a moment")
}

fn answer(dir: &Path, asked: Asked, since: Instant, kept: &mut VecDeque<Kept>) -> Response {
    let begun = Instant::now();
    kept.retain(|kept| kept.until > begun);
    if let Some(kept) = kept.iter().find(|kept| kept.asked == asked) {
        return kept.answer.clone();
    }
    if begun.duration_since(since) > PATIENCE {
        return busy();
    }
    let answer = made(dir, &asked, begun);
    let took = begun.elapsed();
    let until = Instant::now() + took.saturating_mul(REST).max(FRESH);
    kept.push_back(Kept { asked, until, answer: answer.clone() });
    if kept.len() > KEPT {
        kept.pop_front();
    }
    answer
}

fn made(dir: &Path, asked: &Asked, begun: Instant) -> Response {
    let unreadable = |error: &dyn ToString| Response::error(500, "journal_error", &error.to_string());
    // Before the lines, which hold all of it then.
    let reached = reached(dir).ok().flatten();
    let lines = match read_days(dir, asked.question.read_from()) {
        Ok(lines) => lines,
        Err(error) => return unreadable(&error),
    };
    let mut report = Report::new(asked.question.clone());
    let (mut fills, mut left_out) = (VecDeque::new(), 0_u64);
    for (number, line) in (1_u64..).zip(lines) {
        let line = match line {
            Ok(line) => line,
            Err(error) => return unreadable(&error),
        };
        if let Some(fill) = report.take(&line.text, line.before.leads_to(&line.text)) {
            fills.push_back(fill);
            if fills.len() > asked.fills {
                fills.pop_front();
                left_out = left_out.saturating_add(1);
            }
        }
        if number % BETWEEN_LOOKS == 0 && begun.elapsed() > MOST_READING {
            let text = "the journal holds too much from that day on to sum it up for one answer: ask from a later day on, or \
                        use `svc-guard report`";
            return Response::error(503, "too_much", text);
        }
    }
    report.runs_at(now_ms());
    reached.into_iter().for_each(|reached| report.was_written_up_to(reached.before));
    let mut json = report.finish().to_json();
    if asked.fills > 0 {
        with_fills(&mut json, &fills, left_out);
    }
    Response::json(200, Value::Object(json).to_string().into_bytes())
}

fn with_fills(json: &mut Map<String, Value>, fills: &VecDeque<FillLine>, left_out: u64) {
    json.insert("fills".to_owned(), fills.iter().map(FillLine::to_json).collect());
    json.insert("fills_left_out".to_owned(), Value::from(left_out));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports() -> Reports {
        let (deaths, _) = bounded(1);
        let source = ReportSource { dir: "/nowhere".into(), mode: "paper".into(), account: "0xaa".into() };
        Reports::start(source, &deaths).unwrap()
    }

    #[test]
    fn a_query_names_days_rows_and_fills() {
        let (reports, today) = (reports(), day_of(now_ms()));
        let read = |query: &str| {
            reports.read(query).map(|asked| (asked.question.from, asked.question.to, asked.question.by, asked.fills))
        };
        let day = |text: &str| Some(text.parse::<Day>().unwrap());
        let march = day("2026-03-01");
        assert_eq!(read("day=2026-03-01&by=client"), Ok((march, march, By::Client, 0)));
        assert_eq!(read("from=2026-03-01&fills=1000"), Ok((march, None, By::Day, 1000)));
        assert_eq!(read("to=2026-03-01&from=2026-02-01"), Ok((day("2026-02-01"), march, By::Day, 0)));
        let (from, to, ..) = read("").unwrap();
        assert!(from == to && from >= Some(today));
        for (query, reason) in [
            ("day=x", "`day` must be a day"),
            ("day=2026-03-01&day=2026-03-01", "more than once"),
            ("day=2026-03-01&to=2026-03-01", "ask with `day`, or"),
            ("from=2026-03-02&to=2026-03-01", "is after the last"),
            ("by=week", "one of day, market, client"),
            ("fills=1001", "from 0 to 1000"),
            ("fills=-1", "from 0 to 1000"),
        ] {
            assert!(read(query).unwrap_err().contains(reason), "{query}");
        }
    }

    #[test]
    fn an_answer_is_kept_for_a_while_and_a_bad_query_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let reports = reports();
        let asked = reports.read("from=2026-03-01").unwrap();
        let mut kept = VecDeque::new();
        let first = answer(folder.path(), asked.clone(), Instant::now(), &mut kept);
        assert_eq!(first.status, 200, "a folder without events is an empty report");
        let gone = folder.path().to_owned();
        folder.close().unwrap();
        assert_eq!(answer(&gone, asked, Instant::now(), &mut kept), first);
        let other = reports.read("from=2026-03-02").unwrap();
        assert_eq!(answer(&gone, other, Instant::now(), &mut kept).status, 500);
        let (told, heard) = bounded(1);
        reports.ask("by=week", move |response| told.send(response.status).unwrap());
        assert_eq!(heard.recv().unwrap(), 400);
    }
}
