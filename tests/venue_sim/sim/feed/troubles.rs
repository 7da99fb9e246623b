//! The troubles of the live feed that a test asks for, and what becomes of a frame because of them.
//!
//! | kind | what it does | members |
//! |---|---|---|
//! | `drop` | cuts the sockets without a close frame | |
//! | `half_open` | the sockets stay up, and nothing ever comes from them again, no pong either | |
//! | `dead` | the subscriptions there are fall silent | `until`?: `subscribe` again (the default), or a new `socket` |
//! | `garbage` | sends something that nobody asked for | `text`?, or `hex`; `form`?: `text` (the default), `binary`, `wire` |
//! | `refuse` | refuses new sockets | `times`?, `how`?: `http` (502, the default), `close`, `hang` |
//! | `rotate` | closes the sockets (1000, Expired); with `ms` each one that lives that long | `ms`? |
//! | `mute` | nothing of the feed leaves | `times`? |
//! | `lose` | the next messages are lost | `times`? (1) |
//! | `duplicate` | the next messages come twice | `times`? (1) |
//! | `reorder` | a message waits for the next of its feed, up to `ms` (a second) | `times`? (1), `ms`? |
//! | `lag` | messages leave `ms` late; without `on` all frames do, in their order | `ms`, `times`? |
//! | `short_snapshot` | first messages have only their newest rows | `keep`? (0), `times`? |
//! | `heal` | takes away all that goes on; sockets and subscriptions that have died stay dead | |
//!
//! Each takes `on`?, the name of a subscription, and `coin`?: a trouble of sockets is then one of the sockets that
//! carry it, any other one of its messages alone. `mute`, `lose` and `lag` also know the channels `pong`, `post`,
//! `error` and `subscriptionResponse`. Without `times` (or its default) a trouble goes on until it is healed.

use super::line::Item;
use serde_json::{Value, json};

/// Troubles that may go on at once.
const MOST: usize = 64;
/// How long a message waits to be overtaken.
const REORDER_MS: u64 = 1_000;

/// What goes wrong.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    Drop,
    HalfOpen,
    Dead {
        until_socket: bool,
    },
    Garbage(Item),
    Refuse(Refusal),
    Rotate,
    /// Each socket is closed when it has lived so long.
    Life {
        ms: u64,
    },
    Lose,
    Duplicate,
    Reorder {
        ms: u64,
    },
    Lag {
        ms: u64,
    },
    ShortSnapshot {
        keep: u64,
    },
}

/// How a new socket is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// 502.
    Http,
    /// The connection is closed.
    Close,
    /// The connection stays, without an answer.
    Hang,
}

/// What a trouble is about; what is not named is any.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) on: Option<String>,
    pub(crate) coin: Option<String>,
}

impl About {
    pub(crate) fn matches(&self, feed: &str, coin: &str) -> bool {
        self.on.as_deref().is_none_or(|on| on == feed) && self.coin.as_deref().is_none_or(|name| name == coin)
    }

    /// Whether it names anything.
    pub(crate) fn is_any(&self) -> bool {
        self.on.is_none() && self.coin.is_none()
    }
}

struct Standing {
    name: String,
    trouble: Trouble,
    about: About,
    times: Option<u64>,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Fate {
    pub(crate) lost: bool,
    pub(crate) twice: bool,
    /// It waits up to so long for the next of its feed.
    pub(crate) reorder_ms: Option<u64>,
    pub(crate) lag_ms: u64,
    /// All frames lag alike.
    pub(crate) all_lag: bool,
}

/// The troubles that go on, in the order in which they were asked for.
#[derive(Default)]
pub(crate) struct Troubles {
    standing: Vec<Standing>,
}

impl Troubles {
    /// Lets a trouble begin that goes on.
    pub(crate) fn begin(
        &mut self,
        name: &str,
        trouble: Trouble,
        about: About,
        times: Option<u64>,
    ) -> Result<(), String> {
        if self.standing.len() >= MOST {
            return Err(format!("no more than {MOST} troubles at once"));
        }
        self.standing.push(Standing { name: name.to_owned(), trouble, about, times });
        Ok(())
    }

    pub(crate) fn heal(&mut self) {
        self.standing.clear();
    }

    /// What becomes of a frame; `is_data` when it is a feed's.
    pub(crate) fn fate(&mut self, feed: &str, coin: &str, is_data: bool) -> Fate {
        let mut fate = Fate::default();
        for standing in &mut self.standing {
            let any = standing.about.is_any();
            let named = standing.about.matches(feed, coin) && (is_data || !any);
            match standing.trouble {
                // Only what leaves can come twice, late or out of turn, and each frame meets one trouble of a kind.
                Trouble::Lag { ms } if any || named => {
                    fate.lag_ms = fate.lag_ms.saturating_add(ms);
                    fate.all_lag |= any;
                }
                Trouble::Lose if named && !fate.lost => fate.lost = true,
                Trouble::Duplicate if named && is_data && !fate.lost && !fate.twice => fate.twice = true,
                Trouble::Reorder { ms } if named && is_data && !fate.lost && fate.reorder_ms.is_none() => {
                    fate.reorder_ms = Some(ms);
                }
                _ => continue,
            }
            standing.use_up();
        }
        self.forget();
        fate
    }

    /// How many rows a first message shows at most.
    pub(crate) fn keep(&mut self, feed: &str, coin: &str) -> Option<u64> {
        let short = self.standing.iter_mut().find_map(|standing| match standing.trouble {
            Trouble::ShortSnapshot { keep } if standing.about.matches(feed, coin) => {
                standing.use_up();
                Some(keep)
            }
            _ => None,
        });
        self.forget();
        short
    }

    /// How the next new socket is refused.
    pub(crate) fn refusal(&mut self) -> Option<Refusal> {
        let refused = self.standing.iter_mut().find_map(|standing| match standing.trouble {
            Trouble::Refuse(how) => {
                standing.use_up();
                Some(how)
            }
            _ => None,
        });
        self.forget();
        refused
    }

    /// How long a socket may live.
    pub(crate) fn life_ms(&self) -> Option<(u64, About)> {
        self.standing.iter().find_map(|standing| match standing.trouble {
            Trouble::Life { ms } => Some((ms, standing.about.clone())),
            _ => None,
        })
    }

    fn forget(&mut self) {
        self.standing.retain(|standing| standing.times != Some(0));
    }

    pub(crate) fn show(&self) -> Value {
        let show = |standing: &Standing| {
            json!({"kind": standing.name, "on": standing.about.on, "coin": standing.about.coin,
                "times": standing.times})
        };
        self.standing.iter().map(show).collect()
    }
}

impl Standing {
    fn use_up(&mut self) {
        self.times = self.times.map(|times| times.saturating_sub(1));
    }
}

/// Reads a trouble and how often it strikes; none as the number is without end.
pub(crate) fn read(op: &Value) -> Result<(Trouble, Option<u64>), String> {
    let text = |key: &str| op.get(key).and_then(Value::as_str);
    let whole = |key: &str| match op.get(key).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or_else(|| format!("`{key}`: a whole number")),
    };
    let times = whole("times")?.map(|times| times.max(1));
    let once = times.or(Some(1));
    let ms = whole("ms")?;
    Ok(match text("kind").ok_or("missing `kind`")? {
        "drop" => (Trouble::Drop, None),
        "half_open" => (Trouble::HalfOpen, None),
        "dead" => {
            let until_socket = match text("until").unwrap_or("subscribe") {
                "subscribe" => false,
                "socket" => true,
                other => return Err(format!("`until`: subscribe or socket, not `{other}`")),
            };
            (Trouble::Dead { until_socket }, None)
        }
        "garbage" => (Trouble::Garbage(garbage(op)?), None),
        "refuse" => {
            let how = match text("how").unwrap_or("http") {
                "http" => Refusal::Http,
                "close" => Refusal::Close,
                "hang" => Refusal::Hang,
                other => return Err(format!("`how`: http, close or hang, not `{other}`")),
            };
            (Trouble::Refuse(how), times)
        }
        "rotate" => (ms.map_or(Trouble::Rotate, |ms| Trouble::Life { ms }), None),
        "mute" => (Trouble::Lose, times),
        "lose" => (Trouble::Lose, once),
        "duplicate" => (Trouble::Duplicate, once),
        "reorder" => (Trouble::Reorder { ms: ms.unwrap_or(REORDER_MS) }, once),
        "lag" => (Trouble::Lag { ms: ms.ok_or("missing `ms`")? }, times),
        "short_snapshot" => (Trouble::ShortSnapshot { keep: whole("keep")?.unwrap_or(0) }, times),
        other => {
            return Err(format!(
                "no trouble `{other}`; there are drop, half_open, dead, garbage, refuse, rotate, mute, lose, \
                 duplicate, reorder, lag, short_snapshot, heal"
            ));
        }
    })
}

/// What `garbage` sends.
fn garbage(op: &Value) -> Result<Item, String> {
    const SAID: &str = "{\"channel\":\"userFills\",\"data\":{\"user\":";
    let text = |key: &str| op.get(key).and_then(Value::as_str);
    let bytes = match text("hex") {
        Some(hex) => unhex(hex).ok_or("`hex`: pairs of hexadecimal digits")?,
        None => text("text").unwrap_or(SAID).as_bytes().to_vec(),
    };
    match text("form").unwrap_or("text") {
        "text" => {
            String::from_utf8(bytes).map(Item::Text).map_err(|_| "`form` text: UTF-8; wire sends any bytes".into())
        }
        "binary" => Ok(Item::Binary(bytes)),
        "wire" => Ok(Item::Wire(bytes)),
        other => Err(format!("`form`: text, binary or wire, not `{other}`")),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|n| u8::try_from(n).ok())).collect::<Option<_>>()?;
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks(2).map(|pair| Some(pair.first()? << 4 | pair.last()?)).collect()
}
