//! The live feed's thread: it opens the venue's socket, reads its frames, and tells the decision loop what can be believed.
//! What to do about the socket the feed's room says; what follows from a frame the core.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::Sender;
use rust_decimal::Decimal;

use super::feed_link::FeedLink;
use super::info_cache::InfoCache;
use super::passed_on::PassedOn;
use crate::base::clock::{now_ms, steady_ms};
use crate::base::origin::Origin;
use crate::feed::{Feed, Input, Now, Output, Stage};
use crate::guard::{self, FeedFigures, FeedNews};
use crate::service::message::Message;
use crate::service::reporting::level::Level;
use crate::service::reporting::log;
use crate::venue::socket::Socket;
use crate::venue::stream::data::Data;
use crate::venue::stream::frame::Frame;

/// The feed is given the time so often.
const TICK_MS: u64 = 100;
/// A socket that does not open in this time is tried for again.
const OPEN: Duration = Duration::from_secs(5);
/// Prices wait so long for others to come with them.
const TOGETHER: Duration = Duration::from_millis(5);
/// How the feed is goes to the decision loop so often.
const FIGURES_MS: u64 = 1_000;

/// The thread's work.
pub(in crate::service) struct FeedThread {
    origin: Origin,
    link: Arc<FeedLink>,
    inbox: Sender<Message>,
    /// Answers to clients' questions, which what is told may make out of date.
    cache: Arc<InfoCache>,
    feed: Feed,
    socket: Option<Socket>,
    /// What clients hear of the socket.
    passed: PassedOn,
    /// Marks and mids that were told and not passed on.
    marks: BTreeMap<String, Decimal>,
    mids: BTreeMap<String, Decimal>,
    ticked_ms: u64,
    figures: FeedFigures,
    figures_ms: u64,
    /// Why the last socket ended.
    ended: Option<String>,
    was_live: bool,
}

/// The decision loop is gone.
struct Gone;

impl FeedThread {
    pub(in crate::service) fn new(
        origin: Origin,
        feed: Feed,
        link: Arc<FeedLink>,
        inbox: Sender<Message>,
        cache: Arc<InfoCache>,
    ) -> Self {
        Self {
            origin,
            link,
            inbox,
            cache,
            feed,
            socket: None,
            passed: PassedOn::default(),
            marks: BTreeMap::new(),
            mids: BTreeMap::new(),
            ticked_ms: 0,
            figures: FeedFigures::default(),
            figures_ms: 0,
            ended: None,
            was_live: false,
        }
    }

    /// Listens until the service ends.
    ///
    /// # Errors
    /// When the decision loop is gone.
    pub(in crate::service) fn run(mut self) -> Result<(), String> {
        loop {
            self.turn().map_err(|Gone| "the decision loop is gone".to_owned())?;
        }
    }

    fn turn(&mut self) -> Result<(), Gone> {
        for input in self.link.take() {
            self.step(input)?;
        }
        let due_ms = self.ticked_ms.saturating_add(TICK_MS);
        while let Some(left_ms) = due_ms.checked_sub(steady_ms()).filter(|left_ms| *left_ms > 0) {
            if !self.listen(Duration::from_millis(left_ms))? {
                break;
            }
        }
        self.tell_prices()?;
        self.pass_on()?;
        let steady_ms = steady_ms();
        if steady_ms >= due_ms {
            self.ticked_ms = steady_ms;
            self.step(Input::Tick)?;
            self.tell_figures(steady_ms)?;
        }
        Ok(())
    }

    /// Waits so long for a frame, and takes it in; whether there was one.
    fn listen(&mut self, wait: Duration) -> Result<bool, Gone> {
        let is_waiting = !self.marks.is_empty() || !self.mids.is_empty();
        let Some(socket) = &mut self.socket else {
            std::thread::sleep(wait);
            return Ok(false);
        };
        match socket.receive(if is_waiting { TOGETHER.min(wait) } else { wait }) {
            Ok(Some(text)) => {
                let (frame, bytes) = (Frame::read(&text), text.len());
                let is_kept = self.passed.keep(&frame, text);
                self.step(Input::Frame { frame, bytes })?;
                if !is_kept {
                    self.lose("clients have too much of it to hear".to_owned());
                    self.step(Input::Closed)?;
                }
                self.pass_on()?;
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) => {
                self.lose(error.to_string());
                self.step(Input::Closed)?;
                Ok(false)
            }
        }
    }

    fn lose(&mut self, reason: String) {
        self.socket = None;
        self.ended = Some(reason);
    }

    /// Has the feed take something in, and does what it says.
    fn step(&mut self, input: Input) -> Result<(), Gone> {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let now = Now { steady_ms: steady_ms(), venue_ms: self.link.venue_ms() };
            for output in self.feed.step(input, now) {
                inputs.extend(self.act(output)?);
            }
        }
        Ok(())
    }

    /// Does one thing; what became of it goes back to the feed.
    fn act(&mut self, output: Output) -> Result<Option<Input>, Gone> {
        match output {
            Output::Connect => match Socket::open(&self.origin, OPEN) {
                Ok(socket) => {
                    self.socket = Some(socket);
                    self.passed.begin();
                    return Ok(Some(Input::Connected));
                }
                Err(error) => {
                    self.ended = Some(error.to_string());
                    return Ok(Some(Input::Closed));
                }
            },
            Output::Send(text) => {
                if let Some(Err(error)) = self.socket.as_mut().map(|socket| socket.send(&text)) {
                    self.lose(error.to_string());
                    return Ok(Some(Input::Closed));
                }
            }
            Output::Close(reason) => {
                self.socket.take().into_iter().for_each(Socket::close);
                self.ended = Some(reason.to_owned());
            }
            Output::ReadBaseline { socket } => self.tell(FeedNews::Opened { socket })?,
            Output::Tell(Data::AssetCtx(ctx)) => {
                // None takes the place of another: what cannot be must be seen.
                if self.marks.contains_key(&ctx.coin) {
                    self.tell_prices()?;
                }
                self.mids.extend(ctx.prices.mid_px.map(|mid| (ctx.coin.clone(), mid)));
                self.marks.insert(ctx.coin, ctx.prices.mark_px);
            }
            // It is told with each block in which it changes, and so much sooner than the mid.
            Output::Tell(Data::Bbo(bbo)) => self.mids.extend(bbo.mid().map(|mid| (bbo.coin, mid))),
            Output::Tell(data) => {
                if matches!(data, Data::Fills(_) | Data::Event(_) | Data::OrderUpdates(_)) {
                    self.cache.account_changed();
                }
                self.tell(FeedNews::Told(Box::new(data)))?;
            }
            Output::Traded => {
                self.cache.account_changed();
                self.tell(FeedNews::Traded)?;
            }
            Output::Proved(topics) => self.tell(FeedNews::Proved(topics))?,
        }
        Ok(None)
    }

    /// Passes on the newest prices. They have no time of their own, and count for as late as what has one.
    fn tell_prices(&mut self) -> Result<(), Gone> {
        if self.marks.is_empty() && self.mids.is_empty() {
            return Ok(());
        }
        let (marks, mids) = (std::mem::take(&mut self.marks), std::mem::take(&mut self.mids));
        let begun_ms = now_ms().saturating_sub(self.feed.lag_ms().unwrap_or_default());
        self.tell(FeedNews::Prices { marks, mids, begun_ms })
    }

    fn tell_figures(&mut self, steady_ms: u64) -> Result<(), Gone> {
        let (counts, stage) = (self.feed.counts(), self.feed.stage());
        let is_due = steady_ms.saturating_sub(self.figures_ms) >= FIGURES_MS || self.figures.stage != stage.name();
        if !is_due {
            return Ok(());
        }
        self.figures_ms = steady_ms;
        let figures = FeedFigures {
            stage: stage.name(),
            lag_ms: self.feed.lag_ms(),
            sockets: counts.sockets,
            frames: counts.frames,
            unusable: counts.unreadable.saturating_add(counts.untimely).saturating_add(counts.unasked),
            ended: self.ended.clone(),
        };
        self.note(figures.stage == "live");
        if figures != self.figures {
            self.figures = figures.clone();
            self.tell(FeedNews::Figures(figures))?;
        }
        Ok(())
    }

    /// Writes to the log that the feed is lost, and that it is there again.
    fn note(&mut self, is_live: bool) {
        if is_live != std::mem::replace(&mut self.was_live, is_live) {
            match (is_live, self.ended.as_deref()) {
                (true, _) => log::line(Level::Info, "the venue's live feed is there"),
                (false, reason) => {
                    let reason = reason.unwrap_or("no reason");
                    log::line(Level::Warning, format_args!("the venue's live feed is lost: {reason}"));
                }
            }
        }
    }

    /// Clients hear what the core was told before.
    fn pass_on(&mut self) -> Result<(), Gone> {
        let is_live = self.feed.stage() == Stage::Live;
        let mut passed = self.passed.take(is_live);
        passed.try_for_each(|told| self.inbox.send(Message::Passed(told)).map_err(|_| Gone))
    }

    fn tell(&self, news: FeedNews) -> Result<(), Gone> {
        self.inbox.send(Message::Input(guard::Input::Feed(news))).map_err(|_| Gone)
    }
}
