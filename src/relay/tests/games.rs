//! Seeded clients that subscribe, end it, leave, come back and read as it pleases them, before a venue that cuts sockets:
//! what each of them hears is held against what the venue told.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::venue::{Socket, Venue};
use super::{ACCOUNT, CLIENT, STRANGER, relay};
use crate::relay::feed::{Feed, Phase};
use crate::relay::limits::Limits;
use crate::relay::line::OWN_LINE;
use crate::relay::messages::{ClientId, Input, Output, Told};
use crate::relay::room::Relay;
use crate::relay::subscription::Subscription;

const STEP_MS: u64 = 50;
/// Turns in which an end is answered, the beginning is asked for, and that is answered.
const RENEWAL: usize = 3;
const COINS: [&str; 2] = ["BTC", "ETH"];
const OF_ACCOUNT: [&str; 3] = ["userFills", "orderUpdates", "spotState"];

fn topics() -> Vec<Value> {
    let mut topics = vec![json!({"type": "allMids"})];
    topics.extend(["BTC", "ETH", "NOPE"].map(|coin| json!({"type": "bbo", "coin": coin})));
    for user in [ACCOUNT, CLIENT, STRANGER] {
        topics.extend(OF_ACCOUNT.map(|kind| json!({"type": kind, "user": user})));
    }
    topics
}

/// What one client knows of one subscription: it is told by the acknowledgements alone that it has it.
#[derive(Default)]
struct Heard {
    newest: Option<u64>,
}

#[derive(Default)]
struct Player {
    id: ClientId,
    has: BTreeMap<String, Heard>,
}

struct Game {
    relay: Relay,
    venue: Venue,
    sockets: Vec<Option<Socket>>,
    /// The guard's own, on which the account's feeds come.
    own: Socket,
    /// When it is there again.
    own_ms: u64,
    players: Vec<Player>,
    last_id: ClientId,
    now_ms: u64,
    sent_ms: VecDeque<u64>,
    opened_ms: VecDeque<u64>,
    is_cut: bool,
    /// How often a socket was cut before it said that it has this.
    unanswered: BTreeMap<String, u32>,
    limits: Limits,
}

/// The subscription as the account's.
fn canonical(topic: &Value) -> Subscription {
    let mut topic = topic.clone();
    if topic["user"] == CLIENT {
        topic["user"] = json!(ACCOUNT);
    }
    Subscription::read(&topic).unwrap()
}

impl Game {
    fn new(players: usize) -> Self {
        let players = (0..players).map(|_| Player::default()).collect();
        let limits = Limits::for_budget(1_200);
        Self {
            relay: relay(1_200),
            venue: Venue::default(),
            sockets: (0..limits.sockets).map(|_| None).collect(),
            own: Socket::default(),
            own_ms: 1_000,
            players,
            last_id: 0,
            now_ms: 1_000,
            sent_ms: VecDeque::new(),
            opened_ms: VecDeque::new(),
            is_cut: false,
            unanswered: BTreeMap::new(),
            limits,
        }
    }

    fn play(&mut self, (act, player, topic): (u8, usize, usize)) {
        let topics = topics();
        let topic = &topics[topic % topics.len()];
        let of = canonical(topic);
        let number = player % self.players.len();
        match act {
            0..=3 => {
                if self.players[number].id == 0 {
                    self.last_id += 1;
                    self.players[number] = Player { id: self.last_id, has: BTreeMap::new() };
                }
                self.relay.subscribe(self.players[number].id, &topic.to_string(), self.now_ms).unwrap();
            }
            4 if self.players[number].id > 0 => {
                self.relay.unsubscribe(self.players[number].id, &topic.to_string(), self.now_ms).unwrap();
            }
            5 => {
                self.relay.leave(self.players[number].id, self.now_ms);
                self.players[number] = Player::default();
            }
            6..=9 => self.tell_of(&of),
            10 => {
                let line = player % (self.sockets.len() + 1);
                if line == self.sockets.len() {
                    self.is_cut = true;
                    (self.own, self.own_ms) = (Socket::default(), self.now_ms + 10 * STEP_MS);
                    assert_eq!(self.relay.step(OWN_LINE, Input::Closed, self.now_ms), []);
                } else if let Some(socket) = self.sockets[line].take() {
                    self.is_cut = true;
                    self.count_unanswered(&socket);
                    let outputs = self.relay.step(line, Input::Closed, self.now_ms);
                    self.act(line, outputs);
                }
            }
            _ => {
                self.read(number);
            }
        }
        self.tick();
    }

    fn count_unanswered(&mut self, socket: &Socket) {
        let frames = socket.says.iter().map(|text| serde_json::from_str::<Value>(text).unwrap());
        for frame in frames.filter(|frame| frame["data"]["method"] == "subscribe") {
            *self.unanswered.entry(canonical(&frame["data"]["subscription"]).normal()).or_default() += 1;
        }
    }

    /// Something happens, and each socket that holds it is told at once.
    fn tell_of(&mut self, of: &Subscription) {
        self.venue.happen(of);
        let text = self.venue.tell(of, false);
        let sockets = self.sockets.iter_mut().flatten().chain([&mut self.own]);
        for socket in sockets.filter(|socket| socket.held.contains_key(&of.normal())) {
            socket.says.push_back(text.clone());
        }
    }

    fn tick(&mut self) {
        self.now_ms += STEP_MS;
        self.own_tick();
        for line in 0..self.sockets.len() {
            while let Some(text) = self.sockets[line].as_mut().and_then(|socket| socket.says.pop_front()) {
                let outputs = self.relay.step(line, Input::Frame(&Told::read(&text, self.now_ms)), self.now_ms);
                self.act(line, outputs);
            }
            let outputs = self.relay.step(line, Input::Tick, self.now_ms);
            self.act(line, outputs);
        }
        self.hold_limits();
    }

    /// Goes on while something is being begun anew: where a feed was silent, its end may have been asked for at this very moment. The
    /// venue answers within a turn, so that takes few.
    fn settle(&mut self) {
        let is_amid = |feed: &Feed| !feed.is_own() && matches!(feed.phase, Phase::Asked { .. } | Phase::Ending { .. });
        for _ in 0..RENEWAL {
            if self.relay.feeds.values().any(is_amid) {
                self.tick();
            }
        }
    }

    /// How much the venue holds, and how much is wanted of it.
    fn held(&self) -> (usize, usize) {
        (self.sockets.iter().flatten().map(|socket| socket.held.len()).sum(), self.relay.counts().subscriptions)
    }

    fn own_tick(&mut self) {
        if self.own.held.is_empty() && self.now_ms >= self.own_ms {
            assert_eq!(self.relay.step(OWN_LINE, Input::Connected, self.now_ms), []);
            for kind in OF_ACCOUNT {
                let subscription = json!({"type": kind, "user": ACCOUNT});
                let asked = json!({"method": "subscribe", "subscription": subscription}).to_string();
                self.venue.hear(&mut self.own, &asked, &COINS);
            }
        }
        while let Some(text) = self.own.says.pop_front() {
            assert_eq!(self.relay.step(OWN_LINE, Input::Frame(&Told::read(&text, self.now_ms)), self.now_ms), []);
        }
    }

    fn act(&mut self, line: usize, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Connect => {
                    self.opened_ms.push_back(self.now_ms);
                    self.sockets[line] = Some(Socket::default());
                    let more = self.relay.step(line, Input::Connected, self.now_ms);
                    self.act(line, more);
                }
                Output::Send(text) => {
                    self.sent_ms.push_back(self.now_ms);
                    let socket = self.sockets[line].as_mut().expect("nothing is sent without a socket");
                    assert!(!text.contains("NOPE") && !text.contains(CLIENT), "{text}");
                    self.venue.hear(socket, &text, &COINS);
                }
                Output::Close => self.sockets[line] = None,
            }
        }
    }

    fn hold_limits(&mut self) {
        for (times, most) in [(&mut self.sent_ms, self.limits.messages), (&mut self.opened_ms, self.limits.connections)]
        {
            times.retain(|ms| ms + 60_000 > self.now_ms);
            assert!(times.len() <= most, "{} in a minute", times.len());
        }
        let held: Vec<&String> = self.sockets.iter().flatten().flat_map(|socket| socket.held.keys()).collect();
        assert_eq!(held.len(), held.iter().collect::<BTreeSet<_>>().len(), "held once");
        let routes = |socket: &Socket| socket.held.values().map(Subscription::route).collect::<BTreeSet<_>>().len();
        assert!(self.sockets.iter().flatten().all(|socket| routes(socket) == socket.held.len()));
    }

    /// Has a client read a part of what waits; whether there was something.
    fn read(&mut self, number: usize) -> bool {
        let player = &mut self.players[number];
        let frames = self.relay.take(player.id, 400).unwrap();
        for frame in &frames {
            let frame: Value = serde_json::from_str(frame).unwrap();
            let data = &frame["data"];
            match frame["channel"].as_str().unwrap() {
                "error" => {
                    let text = data.as_str().unwrap();
                    let said = text.strip_suffix(": the venue ends the socket over it");
                    if let Some(said) = said.and_then(|said| said.strip_prefix("Invalid subscription ")) {
                        let said: Value = serde_json::from_str(said).unwrap();
                        let cuts = self.unanswered.get(&canonical(&said).normal()).copied().unwrap_or_default();
                        assert!(cuts >= 2, "{said} was blamed after {cuts}");
                        player.has.remove(&said.to_string());
                    }
                }
                "subscriptionResponse" => {
                    let said = data["subscription"].to_string();
                    let has = match data["method"].as_str().unwrap() {
                        "subscribe" => player.has.insert(said, Heard::default()).is_none(),
                        _ => player.has.remove(&said).is_some(),
                    };
                    assert!(has, "acknowledged twice: {frame}");
                }
                channel => player.hear(channel, data, self.is_cut),
            }
        }
        !frames.is_empty()
    }
}

impl Player {
    fn hear(&mut self, channel: &str, data: &Value, is_cut: bool) {
        let user = data.get("user").and_then(Value::as_str);
        let asked = match (channel, user) {
            ("allMids", _) => json!({"type": "allMids"}),
            ("bbo", _) => json!({"type": "bbo", "coin": data["coin"]}),
            // These say of nobody whose they are; who has several cannot tell, as at the venue.
            ("orderUpdates", _) => {
                assert!(self.has.keys().any(|said| said.contains("orderUpdates")));
                return;
            }
            (channel, user) => json!({"type": channel, "user": user}),
        };
        let said = Subscription::read(&asked).unwrap().normal();
        let heard = self.has.get_mut(&said).unwrap_or_else(|| panic!("{said} is not the client's"));
        if channel != "userFills" {
            let n = data["n"].as_u64();
            assert!(n >= heard.newest, "{said} goes back");
            heard.newest = n;
            return;
        }
        let rows: Vec<u64> = data["fills"].as_array().unwrap().iter().map(|row| row["n"].as_u64().unwrap()).collect();
        assert!(rows.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{rows:?}");
        let (first, last) = (rows[0], *rows.last().unwrap());
        let is_snapshot = data["isSnapshot"] == true;
        match heard.newest {
            None => assert!(is_snapshot, "a fill before the first frame"),
            Some(newest) if is_snapshot => assert!(is_cut && last >= newest, "a snapshot without a new socket"),
            Some(newest) => assert_eq!(first, newest + 1, "a fill is missing"),
        }
        heard.newest = Some(last);
    }
}

/// A game can end while a feed that was silent is being begun anew: the venue then holds one less than is wanted, for a moment.
#[test]
fn what_is_being_begun_anew_is_held_again_in_a_moment() {
    let mut game = Game::new(1);
    let stranger_state = topics().len() - 1;
    game.play((0, 0, stranger_state));
    let is_ending = |game: &Game| game.relay.feeds.values().any(|feed| matches!(feed.phase, Phase::Ending { .. }));
    let ends = (0..1_400).any(|_| {
        game.tick();
        is_ending(&game)
    });
    assert!(ends && game.held() == (0, 1));
    game.settle();
    assert_eq!(game.held(), (1, 1));
    while game.read(0) {}
    assert_eq!(game.players[0].has.len(), 1);
}

proptest! {
    #[test]
    fn each_client_hears_what_the_venue_tells(
        acts in prop::collection::vec((0_u8..14, 0_usize..9, 0_usize..99), 1..400),
        players in 1_usize..6,
    ) {
        let mut game = Game::new(players);
        for act in acts {
            game.play(act);
        }
        // In the end everybody has what the venue says now.
        for _ in 0..1_400 {
            game.tick();
        }
        for number in 0..game.players.len() {
            while game.read(number) {}
            for (said, heard) in game.players[number].has.iter().filter(|(said, _)| !said.contains("orderUpdates")) {
                let at_venue = canonical(&serde_json::from_str(said).unwrap()).normal();
                let newest = game.venue.newest.get(&at_venue).copied().unwrap_or_default();
                prop_assert_eq!(heard.newest, Some(newest), "{}", said);
            }
        }
        game.settle();
        let (held, wanted) = game.held();
        prop_assert_eq!(held, wanted, "the venue holds what is wanted and nothing else");
        for number in 0..game.players.len() {
            game.relay.leave(game.players[number].id, game.now_ms);
        }
        // A socket is kept while few new ones may be opened.
        for _ in 0..1_600 {
            game.tick();
        }
        prop_assert!(game.sockets.iter().all(Option::is_none), "no socket without somebody who wants one");
        prop_assert_eq!(game.relay.counts().subscriptions, 0);
    }
}
