//! The end of a kill as the running guard tells it. The file is written before anything here runs, and nothing here
//! takes that back: a guard that does not answer has been told all the same.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::configured::{self, Left};
use super::kill_elsewhere::is_same;
use super::reached::USUAL;
use super::start_again::Again;
use super::{environment, local_http, running_here};
use crate::base::moment::iso;
use crate::guard::AlertCode;
use crate::home::{Home, base_url, local_url};
use crate::record::status::{Closing, Status};

/// Between two questions.
const EVERY: Duration = Duration::from_millis(100);
/// Time for one answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Said where no file tells where a guard answers, and the system does not either.
const UNKNOWN: &str = "neither its address nor its config can be read, and its log said at its start where it listens: \
                       SVC_GUARD_LISTEN=HOST:PORT before the same command asks there";
/// Most bytes of a status: thousands of orders fit.
const MAX_STATUS: u64 = 8 * 1024 * 1024;

/// How a home looks to whoever kills there.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct Seen {
    /// Whether a running guard watches its kill file, where that can be told.
    pub(super) watched: Option<bool>,
    /// Where its last service said that it listens.
    pub(super) left: Option<Left>,
    /// Where its config says that it listens.
    pub(super) listen: Option<SocketAddr>,
    /// Where its guard is seen to listen, which left no word of that there: its home was taken away.
    #[serde(default)]
    pub(super) found: Vec<SocketAddr>,
    /// The command that starts its guard, where that sends.
    pub(super) start: Option<String>,
    /// Whether there is nothing where its config belongs.
    #[serde(default)]
    pub(super) has_no_config: bool,
    /// How its guard, which runs, is ended and started again, in words.
    pub(super) again: Option<Again>,
    /// Why its guard, which does not run, would not start as it is.
    #[serde(default)]
    pub(super) hindrance: Option<String>,
}

/// The guard that watches a home's kill file.
pub(super) struct Watcher {
    urls: Vec<String>,
    /// Whether it was said somewhere that a guard listens there.
    is_known: bool,
    home: Of,
    begun: Instant,
}

impl Watcher {
    /// The guard of this home, by the address that it left there, and by its config's.
    pub(super) fn of(home: &Home, seen: &Seen) -> Self {
        let left = seen.left.as_ref();
        let named = environment::listen(None).ok().flatten();
        let told = [left.map(|left| left.address), named].into_iter().flatten();
        let mut urls: Vec<String> =
            told.chain(seen.found.iter().copied()).chain(seen.listen).filter_map(base_url).collect();
        urls.dedup();
        let is_known = !urls.is_empty();
        // Of a home that was taken away, nothing says where its guard answers.
        if !is_known {
            urls.push(local_url(USUAL));
        }
        let home = Of::new(home.kill_file().path(), seen.watched, seen.left.clone());
        Self { urls, is_known, home, begun: Instant::now() }
    }

    /// The same kill, of the guard that runs by now, where another one left word of itself since.
    pub(super) fn renewed(&self, home: &Home, seen: &Seen) -> Option<Self> {
        let is_another = seen.left.is_some() && seen.left != self.home.left;
        is_another.then(|| Self { begun: self.begun, ..Self::of(home, seen) })
    }

    /// The address at which the guard is looked for first.
    pub(super) fn url(&self) -> Option<&str> {
        self.urls.first().filter(|_| self.is_known).map(String::as_str)
    }

    /// What is left of so much time since the kill.
    pub(super) fn rest(&self, patience: Duration) -> Duration {
        patience.saturating_sub(self.begun.elapsed())
    }

    /// Asks until `is_enough`, for so long; the last answer, or why there is none.
    pub(super) fn until(&self, patience: Duration, is_enough: impl Fn(&Status) -> bool) -> Result<Status, String> {
        let begun = Instant::now();
        loop {
            let answer = self.ask();
            let is_over = begun.elapsed() >= patience;
            if is_over || answer.as_ref().is_ok_and(&is_enough) {
                return answer;
            }
            sleep(EVERY);
        }
    }

    /// Whether the guard says that everything is closed, by reads after the kill.
    pub(super) fn is_flat(&self, status: &Status) -> bool {
        let since_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let is_fresh = |checked_ms: u64| status.at_ms.saturating_sub(checked_ms) < since_ms;
        status.closing.as_ref().is_some_and(|closing| closing.flat && closing.checked_ms.is_some_and(is_fresh))
    }

    /// The home of the guard that answers where this home's would, if another one does.
    pub(super) fn answering(&self) -> Option<PathBuf> {
        let other = |url: &String| asked(url).ok().filter(|status| !self.home.has(url, status));
        let file = self.urls.iter().find_map(other).and_then(|status| kill_file_of(&status))?;
        file.parent().map(Path::to_owned)
    }

    /// Where the guard of this home answers, though its folder does not say that one runs there: it was taken away.
    pub(super) fn answers(&self) -> Option<&str> {
        self.urls.iter().find(|url| self.ask_at(url).is_ok()).map(String::as_str)
    }

    fn ask(&self) -> Result<Status, String> {
        let mut why = Vec::new();
        for url in &self.urls {
            match self.ask_at(url) {
                Ok(status) => return Ok(status),
                Err(error) => why.push(format!("{url}: {error}")),
            }
        }
        if !self.is_known {
            why.insert(0, UNKNOWN.to_owned());
        }
        Err(why.join("; "))
    }

    fn ask_at(&self, url: &str) -> Result<Status, String> {
        let status = asked(url)?;
        if self.home.has(url, &status) {
            return Ok(status);
        }
        Err(format!("a guard answers there whose kill file is {}", status.kill_file))
    }
}

/// What is known of a home by which its guard's answer is told from another one's.
#[derive(Debug)]
pub(super) struct Of {
    kill_file: PathBuf,
    /// Whether a guard is seen to watch it.
    watched: Option<bool>,
    /// The word that its last guard left of itself.
    left: Option<Left>,
}

impl Of {
    pub(super) fn new(kill_file: &Path, watched: Option<bool>, left: Option<Left>) -> Self {
        Self { kill_file: kill_file.to_owned(), watched, left }
    }

    /// What a home's files say of its guard now.
    pub(super) fn home(home: &Home) -> Self {
        Self::new(home.kill_file().path(), running_here::is_watched(home), configured::left(home))
    }

    /// Whether a guard is seen to run on the home.
    pub(super) fn watched(&self) -> Option<bool> {
        self.watched
    }

    /// The kill file of the other guard that answered there, where that is sure: who may not see whether one runs cannot tell by a path
    /// that he reaches by another name.
    pub(super) fn another(&self, url: &str, status: &Status) -> Option<PathBuf> {
        let is_sure = self.watched.is_some() || self.left.as_ref().is_some_and(|left| left.life.is_some());
        kill_file_of(status).filter(|_| is_sure && !self.may_have(url, status))
    }

    /// Whether what answers there is this home's guard as far as anybody can tell who only asks: one that lost its folder says so, whatever
    /// word of an earlier life was put in that one's place.
    pub(super) fn may_have(&self, url: &str, status: &Status) -> bool {
        self.has(url, status) || self.has_lost(status)
    }

    fn has_lost(&self, status: &Status) -> bool {
        self.has_file(status) && status.alerts.iter().any(|alert| alert.code == AlertCode::HomeGone.as_str())
    }

    fn has_file(&self, status: &Status) -> bool {
        is_same(Path::new(&status.kill_file), &self.kill_file)
    }

    /// Whether what answers there is this home's guard: by the number of its life, and without one by the kill file that it names. In
    /// containers of one image the homes of all guards have one path. Where none is seen to run, one may have lost its folder, and says so.
    pub(super) fn has(&self, url: &str, status: &Status) -> bool {
        let life = self.left.as_ref().and_then(|left| left.life.as_ref());
        let is_told = life.is_some() && !status.life.is_empty();
        match self.watched {
            Some(false) => self.has_lost(status),
            _ if is_told => life == Some(&status.life),
            // A guard before this version tells no life, and its home may have been moved.
            Some(true) if life.is_none() && status.life.is_empty() && self.is_left_at(url) => true,
            _ => self.has_file(status),
        }
    }

    fn is_left_at(&self, url: &str) -> bool {
        self.left.as_ref().and_then(|left| base_url(left.address)).as_deref() == Some(url)
    }
}

/// The kill file of the guard that answers there, if one does.
pub(super) fn kill_file_at(url: &str) -> Option<PathBuf> {
    kill_file_of(&asked(url).ok()?)
}

/// The kill file that a guard names.
pub(super) fn kill_file_of(status: &Status) -> Option<PathBuf> {
    let file = PathBuf::from(&status.kill_file);
    (file.is_absolute() && file.ends_with("kill")).then_some(file)
}

/// The status of the guard that answers there, if one does.
pub(super) fn status_at(url: &str) -> Option<Status> {
    asked(url).ok()
}

fn asked(url: &str) -> Result<Status, String> {
    let (code, body) = local_http::get(&format!("{url}/guard/status"), PATIENCE, MAX_STATUS)?;
    serde_json::from_slice::<Status>(&body).map_err(|_| format!("status {code}, and no guard's answer"))
}

/// How many positions are held: those that the guard lists, and those in markets that it does not know, of each of which an
/// alert tells.
fn held(status: &Status) -> usize {
    let unknown = status.alerts.iter().filter(|alert| alert.code == AlertCode::PositionUnknown.as_str());
    status.positions.len().saturating_add(unknown.count())
}

/// What is held and what rests, as many as there are, and the TWAP orders that are known to run.
pub(super) fn left(status: &Status) -> String {
    let many = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let twaps = status.closing.as_ref().and_then(|closing| closing.twaps).filter(|count| *count > 0);
    let twaps = twaps.map_or_else(String::new, |count| format!(", {}", many(count, "TWAP order")));
    format!("{}, {}{twaps}", many(held(status), "position"), many(status.open_orders.len(), "order"))
}

/// What keeps a guard that shows nothing held and nothing resting from calling it flat.
pub(super) fn unknown(status: &Status) -> Option<String> {
    match &status.closing {
        None => Some(format!("the running guard is of version {}, which does not say when it is flat", status.version)),
        Some(closing) if closing.twaps.is_none() => Some("whether a TWAP order runs is not known".to_owned()),
        Some(Closing { flat: true, checked_ms: Some(checked_ms), .. }) => Some(format!(
            "it was flat at {}, and account and open orders were not both read since this command began; ask again",
            iso(*checked_ms)
        )),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::base::address::Address;

    #[test]
    fn every_address_that_was_asked_is_named_and_the_whole_wait_is_counted() {
        // One that hangs, and one where nobody listens any more.
        let hangs = TcpListener::bind("127.0.0.1:0").unwrap();
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let urls = [hangs.local_addr().unwrap(), gone].map(local_url);
        let file = PathBuf::from("/nowhere/kill");
        let begun = Instant::now().checked_sub(Duration::from_secs(3)).unwrap();
        let of = || Of::new(&file, None, None);
        let watcher = Watcher { urls: urls.to_vec(), is_known: true, home: of(), begun };
        let why = watcher.until(Duration::ZERO, |_| true).unwrap_err();
        assert!(urls.iter().all(|url| why.contains(url.as_str())), "{why}");
        assert!(watcher.rest(Duration::from_secs(60)) <= Duration::from_secs(57));
        assert_eq!(watcher.rest(Duration::from_secs(2)), Duration::ZERO);
        let nowhere = Watcher { urls: Vec::new(), is_known: false, home: of(), begun };
        assert!(nowhere.until(Duration::ZERO, |_| true).unwrap_err().contains("neither its address"));
    }

    /// Whether one is seen to run, the life that it left word of, the answering one's life and kill file, and whether it lost its folder.
    #[test]
    fn a_homes_guard_is_known_by_its_life_and_without_one_by_its_file() {
        const OWN: &str = "/nowhere/own/kill";
        const OTHER: &str = "/nowhere/other/kill";
        let url = "http://127.0.0.1:4000";
        let is_own = |watched, left: Option<&str>, life: &str, file: &str, is_lost: bool| {
            let life_left = left.filter(|life| !life.is_empty()).map(str::to_owned);
            let left = left.map(|_| Left { address: "127.0.0.1:4000".parse().unwrap(), life: life_left });
            let alerts = if is_lost { vec![serde_json::json!({"code": "home_gone", "text": "x"})] } else { Vec::new() };
            let status = serde_json::json!({
                "schema": 1, "mode": "testnet", "account": Address([1; 20]), "alerts": alerts, "life": life, "kill_file": file,
            });
            Of::new(Path::new(OWN), watched, left).has(url, &serde_json::from_value(status).unwrap())
        };
        for watched in [Some(true), None] {
            assert!(is_own(watched, Some("0x1"), "0x1", OTHER, false), "{watched:?}: moved, or seen by another name");
            assert!(!is_own(watched, Some("0x1"), "0x2", OTHER, true), "{watched:?}");
            assert!(!is_own(watched, None, "0x2", OTHER, true), "{watched:?}");
        }
        for watched in [Some(true), None] {
            assert!(!is_own(watched, Some("0x1"), "0x2", OWN, false), "{watched:?}: one path in two containers");
            assert!(is_own(watched, None, "0x1", OWN, false), "{watched:?}: nothing was left");
            assert!(!is_own(watched, Some(""), "0x2", OTHER, false), "{watched:?}: none of before this version");
        }
        assert!(is_own(Some(true), Some(""), "", OTHER, false), "of before this version, and moved");
        // The last life that left word is over, or its word stands in a copy.
        assert!(!is_own(Some(false), Some("0x1"), "0x1", OTHER, false));
        assert!(
            !is_own(Some(false), Some("0x1"), "0x2", OWN, false) && is_own(Some(false), Some("0x1"), "0x2", OWN, true)
        );
        assert!(!is_own(Some(false), None, "0x2", OWN, false) && is_own(Some(false), None, "0x2", OWN, true));
    }

    #[test]
    fn positions_in_markets_that_are_not_known_count_too() {
        let alert =
            |code: AlertCode, coin: &str| serde_json::json!({"code": code.as_str(), "about": coin, "text": coin});
        let alerts =
            [(AlertCode::PositionUnknown, "FOO"), (AlertCode::Dust, "ETH"), (AlertCode::PositionUnknown, "BAR")];
        let alerts = alerts.map(|(code, coin)| alert(code, coin));
        let status: Status = serde_json::from_value(serde_json::json!({
            "schema": 1, "mode": "testnet", "account": Address([1; 20]), "alerts": alerts,
        }))
        .unwrap();
        assert_eq!(left(&status), "2 positions, 0 orders");
    }

    #[test]
    fn what_was_read_before_the_kill_is_said_to_be_so() {
        let status = |closing: serde_json::Value| {
            let value = serde_json::json!({
                "schema": 1, "mode": "testnet", "account": Address([1; 20]), "alerts": [], "closing": closing,
            });
            serde_json::from_value::<Status>(value).unwrap()
        };
        let read = unknown(&status(serde_json::json!({"flat": true, "checked_ms": 1_800_000_000_000_u64, "twaps": 0})));
        assert!(read.unwrap().starts_with("it was flat at 2027-01-15T08:00:00"));
        assert_eq!(unknown(&status(serde_json::json!({"flat": false, "checked_ms": 5, "twaps": 0}))), None);
    }
}
