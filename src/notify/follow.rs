//! The guard of the notifier's home: where it answers, which may be elsewhere with each of its starts, and whether an answer is its. A
//! thread of its own looks at the home: where that one's disk hangs, the guard is asked all the same.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::guard_look::{Look, guard_url};
use super::watch::Seen;
use crate::base::address::Address;
use crate::base::sync::lock;
use crate::record::status::Status;

/// The guard of a home, as that home knows it.
pub trait OwnGuard: Send {
    /// Where it answers now, where that is known.
    fn answers(&self) -> Option<String>;

    /// Which guard it is that answered with this at this URL, for people, where that is another home's.
    fn another(&mut self, url: &str, status: &Status) -> Option<String>;
}

/// Between two looks at where it answers.
const EVERY: Duration = Duration::from_secs(3);
/// How long whose an answer is may take to be told: a few files are read.
const PATIENCE: Duration = Duration::from_secs(1);

/// A home that is looked at.
pub(super) struct Followed {
    room: Arc<Room>,
    last: Last,
}

#[derive(Default)]
struct Room {
    looked: Mutex<Looked>,
    turned: Condvar,
}

/// Questions about the home, and what it told.
#[derive(Default)]
struct Looked {
    /// Where its guard answers, as it was found last.
    found: Option<String>,
    /// An answer of which is asked whose it is, and where it came from.
    asked: Option<(String, Status)>,
    is_asked: bool,
    told: Option<Option<String>>,
}

/// The guard of the last answer, and which other one that is, if it is another.
#[derive(Default)]
struct Last {
    of: Option<(String, String, Address)>,
    another: Option<String>,
}

impl Followed {
    /// Begins to look.
    pub(super) fn start(mut own: Box<dyn OwnGuard>) -> io::Result<Self> {
        let room: Arc<Room> = Arc::default();
        let ours = Arc::clone(&room);
        std::thread::Builder::new().name("follow".to_owned()).spawn(move || {
            let mut looked_at = Instant::now();
            loop {
                if let Some((url, status)) = ours.next(EVERY.saturating_sub(looked_at.elapsed())) {
                    ours.tell(own.another(&url, &status));
                }
                if looked_at.elapsed() >= EVERY {
                    let seen = own.answers().and_then(|url| guard_url(&url));
                    lock(&ours.looked).found = seen;
                    looked_at = Instant::now();
                }
            }
        })?;
        Ok(Self { room, last: Last::default() })
    }

    /// Another address than this one, if it answers there by now.
    pub(super) fn another_than(&self, url: &str) -> Option<String> {
        lock(&self.room.looked).found.take().filter(|found| found != url)
    }

    /// A look at this URL, as one at the home's guard: where another one answered, that one's words are left out.
    pub(super) fn of_own(&mut self, url: &str, look: Look) -> Look {
        if look.seen.is_away() {
            return look;
        }
        if let Some(status) = &look.status {
            let of = Some((url.to_owned(), status.life.clone(), status.account));
            match self.room.ask(url, status) {
                Some(another) => self.last = Last { of, another },
                // While the home cannot be looked at, what it told last of this guard holds.
                None if of != self.last.of => self.last = Last { of, another: None },
                None => {}
            }
        }
        let is_of_last = self.last.of.as_ref().is_some_and(|(at, ..)| at == url);
        match self.last.another.clone().filter(|_| is_of_last) {
            Some(who) => Look { seen: Seen::Taken { who, url: url.to_owned() }, status: None, page: None },
            None => look,
        }
    }
}

impl Room {
    /// The next answer that is asked about, if one is within so long.
    fn next(&self, longest: Duration) -> Option<(String, Status)> {
        let is_idle = |looked: &mut Looked| looked.asked.is_none();
        let waited = self.turned.wait_timeout_while(lock(&self.looked), longest, is_idle);
        waited.unwrap_or_else(PoisonError::into_inner).0.asked.take()
    }

    fn tell(&self, another: Option<String>) {
        let mut looked = lock(&self.looked);
        (looked.told, looked.is_asked) = (Some(another), false);
        drop(looked);
        self.turned.notify_all();
    }

    /// Which other guard's an answer is, if it is one's; `None` where the home could not tell in time.
    fn ask(&self, url: &str, status: &Status) -> Option<Option<String>> {
        let mut looked = lock(&self.looked);
        // The home hangs since a question before.
        if looked.is_asked {
            return None;
        }
        (looked.asked, looked.is_asked, looked.told) = (Some((url.to_owned(), status.clone())), true, None);
        self.turned.notify_all();
        let waited = self.turned.wait_timeout_while(looked, PATIENCE, |looked| looked.told.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.told.take()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const URL: &str = "http://127.0.0.1:4000";

    /// A home whose guard is the one of this life, and which hangs at the word of another one.
    struct Played(&'static str);

    impl OwnGuard for Played {
        fn answers(&self) -> Option<String> {
            None
        }

        fn another(&mut self, _url: &str, status: &Status) -> Option<String> {
            if status.life == "hangs" {
                loop {
                    std::thread::park();
                }
            }
            (status.life != self.0).then(|| "the guard of /other".to_owned())
        }
    }

    fn look(life: &str) -> Look {
        let account = "0x1111111111111111111111111111111111111111";
        let status = json!({"schema": 1, "mode": "testnet", "account": account, "alerts": [], "life": life});
        Look { seen: Seen::Well, status: Some(serde_json::from_value(status).unwrap()), page: None }
    }

    fn is_own(look: &Look) -> bool {
        look.seen == Seen::Well
    }

    #[test]
    fn another_guards_words_are_left_out_and_its_own_are_not() {
        let mut followed = Followed::start(Box::new(Played("1"))).unwrap();
        for _ in 0..3 {
            let own = followed.of_own(URL, look("1"));
            assert!(is_own(&own) && own.status.is_some());
            let other = followed.of_own(URL, look("2"));
            let who = "the guard of /other".to_owned();
            assert_eq!(other.seen, Seen::Taken { who, url: URL.to_owned() });
            assert!(other.status.is_none() && other.page.is_none());
            // Without a status nothing tells that it is another one by now, and elsewhere nothing that it is the same.
            let nameless = |seen| Look { seen, status: None, page: None };
            assert!(!is_own(&followed.of_own(URL, nameless(Seen::Well))));
            assert!(is_own(&followed.of_own("http://127.0.0.1:4001", nameless(Seen::Well))));
            let away = Seen::Away("it hangs".to_owned());
            assert_eq!(followed.of_own(URL, nameless(away.clone())).seen, away);
        }
    }

    #[test]
    fn a_home_that_hangs_holds_up_one_look_and_no_news() {
        let mut followed = Followed::start(Box::new(Played("1"))).unwrap();
        assert!(!is_own(&followed.of_own(URL, look("2"))));
        assert!(is_own(&followed.of_own(URL, look("hangs"))), "nothing is known of that one");
        let begun = Instant::now();
        assert!(is_own(&followed.of_own(URL, look("1"))) && is_own(&followed.of_own(URL, look("hangs"))));
        assert!(begun.elapsed() < PATIENCE);
    }
}
