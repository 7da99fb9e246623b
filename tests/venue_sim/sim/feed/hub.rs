//! All sockets: who may open one, what each is told when something has happened or time has passed, and when the
//! venue closes one.

use super::super::engine::market::Market;
use super::super::engine::news::News;
use super::super::venue::Venue;
use super::connection::{Connection, Frame, Held};
use super::happened;
use super::kinds::Beat;
use super::limits::Limits;
use super::line::{Item, Leaves, Line};
use super::markets;
use super::states;
use super::troubles::{Refusal, Troubles};
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::net::TcpStream;
use std::sync::Arc;

/// Ledger entries that wait to be shown.
const MOST_UNSEEN: usize = 2_000;

/// All that a market feed shows of a market.
type Look = (Decimal, Decimal, Option<Decimal>, Option<Decimal>);

/// The sockets and what is known of them together.
#[derive(Default)]
pub(crate) struct Feeds {
    pub(super) open: BTreeMap<u64, Connection>,
    pub(super) limits: Limits,
    pub(super) troubles: Troubles,
    next_id: u64,
    looks: Vec<Look>,
    /// Moves of the balance that the ledger does not show yet.
    unseen: VecDeque<News>,
    /// Sockets that the venue closed, by why.
    closed: BTreeMap<&'static str, u64>,
}

/// Lets a socket in, or says how it is refused: by a trouble, or (the outer one) by a limit.
pub(crate) fn admit(venue: &mut Venue, stream: TcpStream) -> Result<(u64, Arc<Line>), Option<Refusal>> {
    if let Some(how) = venue.feeds.troubles.refusal() {
        return Err(Some(how));
    }
    let now_ms = venue.engine.now_ms;
    let open = venue.feeds.open.len();
    if !venue.feeds.limits.admits_socket(&venue.engine.settings, now_ms, open) {
        return Err(None);
    }
    let line = Arc::new(Line::new(stream));
    let id = venue.feeds.next_id;
    venue.feeds.next_id = id.saturating_add(1);
    venue.feeds.open.insert(id, Connection::new(Arc::clone(&line), now_ms));
    Ok((id, line))
}

/// The client has left, or its socket is at its end.
pub(crate) fn shut(venue: &mut Venue, id: u64) {
    if let Some(connection) = venue.feeds.open.remove(&id) {
        connection.line.cut();
    }
}

/// Queues what is no feed's data for one socket.
pub(crate) fn send(venue: &mut Venue, id: u64, feed: &'static str, frame: &Value) {
    let now_ms = venue.engine.now_ms;
    let Feeds { open, troubles, .. } = &mut venue.feeds;
    if let Some(connection) = open.get_mut(&id) {
        connection.send(Frame { feed, coin: "", is_data: false, text: frame.to_string() }, troubles, now_ms);
    }
}

/// Tells every socket what has happened and what is due again, and closes those whose time has come.
pub(crate) fn publish(venue: &mut Venue) {
    let news = venue.engine.take_news();
    let news = venue.feeds.visible(news, venue.engine.now_ms);
    if venue.feeds.open.is_empty() {
        return;
    }
    let mut feeds = std::mem::take(&mut venue.feeds);
    let moved = feeds.look(&venue.engine.markets);
    let Feeds { open, troubles, .. } = &mut feeds;
    for connection in open.values_mut() {
        tell(venue, connection, troubles, &news, moved);
    }
    feeds.close_due(venue);
    venue.feeds = feeds;
}

/// Tells one socket.
fn tell(venue: &Venue, connection: &mut Connection, troubles: &mut Troubles, news: &[News], moved: bool) {
    let settings = &venue.engine.settings;
    let now_ms = venue.engine.now_ms;
    let mut held = std::mem::take(&mut connection.held);
    for held in held.iter_mut().filter(|held| !held.dead) {
        let frames = match held.of.kind.beat {
            Beat::OnNews if news.is_empty() => continue,
            Beat::OnNews => happened::messages(venue, &held.of, news),
            Beat::OnChange if !moved => continue,
            Beat::OnChange => changed(venue, held).into_iter().collect(),
            Beat::Again(_) => {
                let every_ms = held.of.kind.every_ms(settings, held.of.flag("fast")).unwrap_or(u64::MAX);
                let hurries = settings.feed_state_at_once && !news.is_empty() && held.of.user.is_some();
                if held.last_ms.saturating_add(every_ms) > now_ms && !hurries {
                    continue;
                }
                state(venue, held).into_iter().collect()
            }
        };
        held.last_ms = now_ms;
        for data in frames {
            connection.send(data_frame(held, &data), troubles, now_ms);
        }
    }
    connection.held = held;
}

/// A feed's message as a frame.
pub(super) fn data_frame<'a>(held: &'a Held, data: &Value) -> Frame<'a> {
    let text = json!({"channel": markets::channel(&held.of), "data": data}).to_string();
    Frame { feed: held.of.kind.name, coin: held.of.text("coin"), is_data: true, text }
}

/// Everything that a state or market feed has to say.
pub(super) fn state(venue: &Venue, held: &mut Held) -> Option<Value> {
    if held.of.kind.name == "fastAssetCtxs" {
        return markets::fast_contexts(venue, &mut held.prices);
    }
    states::content(venue, &held.of).or_else(|| markets::content(venue, &held.of, held.said.as_ref()))
}

/// What a feed says that speaks only when what it shows has changed.
pub(super) fn changed(venue: &Venue, held: &mut Held) -> Option<Value> {
    let now = state(venue, held)?;
    let bare = |data: &Value| data.get("bbo").unwrap_or(data).clone();
    if held.said.as_ref().is_some_and(|said| bare(said) == bare(&now)) {
        return None;
    }
    held.said = Some(now.clone());
    Some(now)
}

impl Feeds {
    /// The news that may be told now: a ledger's entry waits until the ledger shows it.
    fn visible(&mut self, news: VecDeque<News>, now_ms: u64) -> Vec<News> {
        let shown = |news: &News| !matches!(news, News::Ledger(entry) if entry.visible_ms > now_ms);
        let (told, unseen): (Vec<_>, Vec<_>) = self.unseen.drain(..).chain(news).partition(shown);
        self.unseen = unseen.into_iter().take(MOST_UNSEEN).collect();
        told
    }

    /// Whether any market looks other than when last looked at.
    fn look(&mut self, markets: &[Market]) -> bool {
        let look = |market: &Market| (market.mid, market.mark, market.spread, market.depth);
        if markets.len() == self.looks.len()
            && markets.iter().zip(&self.looks).all(|(market, was)| look(market) == *was)
        {
            return false;
        }
        self.looks = markets.iter().map(look).collect();
        true
    }

    /// Closes the sockets that have lived long enough, that heard nothing for too long, or that do not read.
    fn close_due(&mut self, venue: &Venue) {
        let (now_ms, idle_ms) = (venue.engine.now_ms, venue.engine.settings.feed_idle_ms);
        let life = self.troubles.life_ms();
        let why = |connection: &Connection| {
            let old = |ms: &u64| connection.opened_ms.saturating_add(*ms) <= now_ms;
            if connection.overrun {
                Some("overrun")
            } else if connection.line.is_silent() {
                None
            } else if life.as_ref().is_some_and(|(ms, about)| old(ms) && connection.carries(about)) {
                Some("Expired")
            } else if connection.told_ms.saturating_add(idle_ms) <= now_ms {
                Some("Inactive")
            } else {
                None
            }
        };
        let due: Vec<_> = self.open.iter().filter_map(|(&id, open)| Some((id, why(open)?))).collect();
        for (id, why) in due {
            self.close(id, why);
        }
    }

    /// Closes a socket: with a close frame, without one, or at once where what waits for it is lost as well.
    pub(super) fn close(&mut self, id: u64, why: &'static str) {
        let Some(connection) = self.open.remove(&id) else { return };
        let counted = self.closed.entry(why).or_default();
        *counted = counted.saturating_add(1);
        let last = match why {
            "Expired" | "Inactive" => Item::Close(why),
            "unknown coin" => Item::End,
            _ => return connection.line.cut(),
        };
        if !connection.line.push("close", last, Leaves::Now) {
            connection.line.cut();
        }
    }

    /// The clock leaps ahead, and no socket is the older for it.
    pub(crate) fn sit_out(&mut self, ms: u64) {
        for connection in self.open.values_mut() {
            connection.opened_ms = connection.opened_ms.saturating_add(ms);
            connection.told_ms = connection.told_ms.saturating_add(ms);
        }
    }

    /// A post has its answer.
    pub(crate) fn end_post(&mut self) {
        self.limits.end_post();
    }

    /// Takes away the troubles that go on.
    pub(crate) fn heal(&mut self) {
        self.troubles.heal();
    }

    pub(crate) fn show(&mut self, now_ms: u64) -> Value {
        let mut shown = Map::new();
        let sockets: Vec<_> = self.open.iter().map(|(&id, connection)| connection.show(id)).collect();
        shown.insert("sockets".into(), json!(sockets));
        shown.insert("opened".into(), json!(self.next_id));
        shown.insert("closed".into(), json!(self.closed));
        shown.insert("limits".into(), self.limits.show(now_ms));
        shown.insert("troubles".into(), self.troubles.show());
        Value::Object(shown)
    }
}
