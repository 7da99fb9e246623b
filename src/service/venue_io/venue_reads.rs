//! The guard's own reads of the venue: each question, its price, and the input that its answer makes.

use std::collections::BTreeMap;
use std::sync::Arc;

use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api_wallet_check::{self, NotTheAgent};
use super::info_cache;
use super::ledger_pages::LedgerPages;
use super::read_error::ReadError;
use super::read_task::HEAVY_WEIGHT;
use super::venue_access::{Leaves, VenueAccess};
use crate::base::address::{Address, Cloid};
use crate::base::clock::now_ms;
use crate::guard::Input;
use crate::service::reporting::level::Level;
use crate::service::reporting::log;
use crate::venue::client::Client;
use crate::venue::history;
use crate::venue::info::{self, AccountMode, ClearinghouseState, OpenOrder, Role};
use crate::venue::market::Universe;
use crate::venue::weight::{Priority, info_extra, info_weight};
use crate::venue::weight_ledger::Claim;

/// Reads for one account.
pub(in crate::service) struct VenueReader {
    pub(in crate::service) venue: VenueAccess,
    /// How long it waits for an answer is this client's.
    pub(in crate::service) client: Arc<Client>,
    pub(in crate::service) account: Address,
    /// None in paper mode.
    pub(in crate::service) api_wallet: Option<Address>,
}

/// What a read is for, and so who pays for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadFor {
    /// It comes sooner than its interval: it may not spend what the steady reads will need.
    pub(super) is_early: bool,
    /// For cover or a flatten: it spends their budget where its own is spent.
    pub(super) is_urgent: bool,
    /// For a halt that is made sure of, or a flatten.
    pub(super) is_for_halt: bool,
    /// Without it the guard would be blind, or a halt would wait: a share that others spent is overdrawn for it.
    pub(super) may_overdraw: bool,
    /// It was not answered in this life yet, or it is a steady one whose interval has passed.
    pub(super) keeps_sight: bool,
}

/// The venue's list of markets as it told it, the marks beside it, and when it was asked for (UTC ms).
pub(super) struct Listed {
    pub(super) meta: Value,
    pub(super) marks: Input,
    pub(super) begun_ms: u64,
}

/// The input that a read makes, if any, or why the read failed.
pub(super) type Answer = Result<Option<Input>, ReadError>;

impl VenueReader {
    /// Nothing can be sent before it is known whom the wallet acts for, so this waits for no budget: beside the steady
    /// reads of a small share it would not fit into any minute. Its weight is booked once it is answered.
    ///
    /// The outer error ends the service: a key that is not the account's own API wallet's can act for another account.
    pub(super) fn wallet(&self) -> Result<Answer, String> {
        let Some(api_wallet) = self.api_wallet else { return Ok(Ok(None)) };
        let ask = |question: &Value| {
            self.venue.faults.about("userRole");
            let answer = self.venue.client.info(question).map_err(|error| error.to_string())?;
            self.venue.charge(Priority::Read, info_weight("userRole"));
            Ok(answer)
        };
        match api_wallet_check::check_role_surely(&ask, self.account, api_wallet) {
            Ok(owner) => {
                if let Some(doubt) = owner.doubt(self.account, api_wallet) {
                    log::line(Level::Warning, doubt);
                }
                Ok(Ok(Some(Input::ActsFor(api_wallet_check::acts_for(self.account, owner.master)))))
            }
            Err(NotTheAgent::NoAnswer(text)) => Ok(Err(text.into())),
            Err(refused) => Err(refused.to_string()),
        }
    }

    /// Whether the account is one that its owner acts for by naming it; and what is wrong with it where it is none at all.
    pub(super) fn role(&self) -> Result<(Input, Option<String>), ReadError> {
        let answer = self.ask(&json!({"type": "userRole", "user": self.account}))?;
        let role = Role::from_answer(&answer)?;
        let is_named = matches!(role, Role::SubAccount(_) | Role::Vault);
        let acts_for = Input::ActsFor(is_named.then_some(self.account));
        Ok((acts_for, api_wallet_check::doubt_of_role(self.account, &role)))
    }

    /// How the account's balances are kept, or the name of a mode whose equity cannot be read; and when that was asked.
    pub(super) fn mode(&self, read_for: ReadFor) -> Result<(Result<AccountMode, String>, u64), ReadError> {
        let begun_ms = now_ms();
        let question = json!({"type": "userAbstraction", "user": self.account});
        let answer = self.ask_seldom(read_for, &question)?;
        Ok((AccountMode::from_answer(&answer)?, begun_ms))
    }

    /// The markets, and the marks of all of them: the answer with both weighs no more than the one without marks, which is asked for
    /// where the other `is_late`. What is overtaken asks no more.
    pub(super) fn universe(
        &self,
        read_for: ReadFor,
        is_late: bool,
        is_overtaken: impl Fn() -> bool,
    ) -> Result<(Universe, Listed), ReadError> {
        let begun_ms = now_ms();
        let read_for = ReadFor { is_early: !read_for.may_overdraw, ..read_for };
        let ask_for_both = || match is_late {
            true => Err(ReadError::Failed("the markets with their marks are late".to_owned())),
            false => self.ask_seldom(read_for, &json!({"type": "metaAndAssetCtxs", "dex": ""})),
        };
        let both = ask_for_both().and_then(|answer| {
            let (meta, marks) = info::markets_and_marks(&answer)?;
            Ok((meta.clone(), marks))
        });
        let (meta, marks) = match both {
            // Without markets nothing is seen, covered or closed; without marks only entries wait.
            Err(_) if (is_late || read_for.keeps_sight) && !is_overtaken() => {
                (self.ask_for(read_for, &json!({"type": "meta", "dex": ""}))?, BTreeMap::new())
            }
            both => both?,
        };
        let universe = Universe::from_meta(&meta)?;
        self.venue.cache.keep(info_cache::key(&json!({"type": "meta"})), meta.to_string().into_bytes(), begun_ms);
        Ok((universe, Listed { meta, marks: Input::Marks { marks, begun_ms }, begun_ms }))
    }

    pub(super) fn mids(&self, read_for: ReadFor) -> Answer {
        let (mids, begun_ms) = self.read(read_for, &json!({"type": "allMids", "dex": ""}), info::mids)?;
        Ok(Some(Input::Mids { mids, begun_ms }))
    }

    /// The account's perp state, and when it was asked for.
    pub(super) fn account(&self, purpose: ReadFor) -> Result<(ClearinghouseState, u64), ReadError> {
        let question = json!({"type": "clearinghouseState", "user": self.account, "dex": ""});
        self.read(purpose, &question, |answer| {
            ClearinghouseState::deserialize(answer).map_err(|error| format!("clearinghouseState: {error}"))
        })
    }

    /// The equity of an account that keeps it beside its perp state.
    pub(super) fn unified_equity(&self, purpose: ReadFor) -> Result<Decimal, ReadError> {
        let spot = json!({"type": "spotClearinghouseState", "user": self.account});
        Ok(info::unified_equity(&self.ask_for(purpose, &spot)?)?)
    }

    pub(super) fn orders(&self, purpose: ReadFor) -> Answer {
        let question = json!({"type": "frontendOpenOrders", "user": self.account, "dex": ""});
        let (orders, begun_ms) = self.read(purpose, &question, |answer| {
            Vec::<OpenOrder>::deserialize(answer).map_err(|error| format!("frontendOpenOrders: {error}"))
        })?;
        Ok(Some(Input::Orders { orders, begun_ms }))
    }

    /// The next page of the ledger; whether there is another one.
    pub(super) fn ledger(&self, pages: &mut LedgerPages, read_for: ReadFor) -> Result<bool, ReadError> {
        let kind = "userNonFundingLedgerUpdates";
        let question = json!({"type": kind, "user": self.account, "startTime": pages.next_ms()});
        let page = history::ledger(&self.ask_seldom(read_for, &question)?)?;
        self.venue.charge(Priority::EarlyRead, info_extra(kind, page.count()));
        Ok(pages.add(page))
    }

    /// The fills from `since_ms` on: the oldest ones where they are too many for one answer.
    pub(super) fn fills(&self, since_ms: u64, read_for: ReadFor) -> Answer {
        let (begun_ms, kind) = (now_ms(), "userFillsByTime");
        let question = json!({"type": kind, "user": self.account, "startTime": since_ms});
        let weight = info_weight(kind);
        self.venue.faults.about(kind);
        if read_for.is_early || self.venue.try_spend(Priority::Read, weight).is_err() {
            self.venue.try_claim(weight, Claim::Feed)?;
        }
        let answer = self.call(&question)?;
        let page = history::fills(&answer)?;
        self.venue.charge(Priority::EarlyRead, info_extra(kind, page.count()));
        Ok(Some(Input::Fills { page, begun_ms }))
    }

    /// The same for the record, which waits until nobody needs the room, but for what tells where a stop belongs.
    pub(super) fn book_fills(&self, since_ms: u64, read_for: ReadFor) -> Answer {
        let (begun_ms, kind) = (now_ms(), "userFillsByTime");
        let question = json!({"type": kind, "user": self.account, "startTime": since_ms});
        let answer = self.ask_for(read_for, &question)?;
        let page = history::fills(&answer)?;
        self.venue.charge(Priority::EarlyRead, info_extra(kind, page.count()));
        Ok(Some(Input::BookFills { page, since_ms, begun_ms }))
    }

    /// The payments of funding from `since_ms` on.
    pub(super) fn fundings(&self, since_ms: u64) -> Answer {
        let (begun_ms, kind) = (now_ms(), "userFunding");
        let question = json!({"type": kind, "user": self.account, "startTime": since_ms});
        let answer = self.ask_as(Priority::EarlyRead, &question)?;
        let page = history::fundings(&answer)?;
        self.venue.charge(Priority::EarlyRead, info_extra(kind, page.count()));
        Ok(Some(Input::Fundings { page, since_ms, begun_ms }))
    }

    /// A failure goes to the core too: a TWAP order that cannot be read cannot be ended either.
    pub(super) fn twaps(&self, read_for: ReadFor) -> Answer {
        let answer = self.ask_for(read_for, &json!({"type": "twapHistory", "user": self.account}));
        let running = answer.and_then(|answer| Ok(info::running_twaps(&answer)?));
        Ok(Some(Input::Twaps(running.map_err(|error| error.to_string()))))
    }

    /// Until it was read once nothing is opened.
    pub(super) fn limits(&self, read_for: ReadFor) -> Answer {
        let read_for = ReadFor { is_early: !read_for.may_overdraw, ..read_for };
        let answer = self.ask_for(read_for, &json!({"type": "userRateLimit", "user": self.account}))?;
        Ok(Some(Input::RequestsLeft(info::requests_left(&answer)?)))
    }

    /// When the approval of the API wallet ends.
    pub(super) fn approval(&self) -> Answer {
        let Some(api_wallet) = &self.api_wallet else { return Ok(None) };
        let answer = self.ask_as(Priority::EarlyRead, &json!({"type": "extraAgents", "user": self.account}))?;
        if !answer.is_array() {
            return Err("extraAgents: it is no list".to_owned().into());
        }
        // A wallet that was approved anew without a name has no end that the venue tells.
        Ok(Some(Input::ApiWalletValidUntil(info::valid_until_ms(&answer, api_wallet))))
    }

    /// What became of an order. Until that is known it counts against what its client may open.
    pub(super) fn order_status(&self, cloid: Cloid) -> Result<Value, ReadError> {
        self.ask_in_time(&json!({"type": "orderStatus", "user": self.account, "oid": cloid}), Claim::Called)
    }

    /// A market's leverage setting, and its mark.
    pub(super) fn leverage(&self, coin: &str) -> Result<(info::Leverage, Input), ReadError> {
        let begun_ms = now_ms();
        let answer =
            self.ask_in_time(&json!({"type": "activeAssetData", "user": self.account, "coin": coin}), Claim::Called)?;
        let marks = info::active_mark(&answer).map(|mark| (coin.to_owned(), mark)).into_iter().collect();
        Ok((info::active_leverage(&answer)?, Input::Marks { marks, begun_ms }))
    }

    /// Asks and parses, and keeps a good answer for clients; with the time when it was asked.
    fn read<T>(
        &self,
        purpose: ReadFor,
        question: &Value,
        parse: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Result<(T, u64), ReadError> {
        let begun_ms = now_ms();
        let answer = self.ask_for(purpose, question)?;
        let parsed = parse(&answer)?;
        self.venue.cache.keep(info_cache::key(question), answer.to_string().into_bytes(), begun_ms);
        Ok((parsed, begun_ms))
    }

    fn ask(&self, question: &Value) -> Result<Value, ReadError> {
        self.ask_as(Priority::Read, question)
    }

    /// Asks what a start or a halt waits for, or what is asked now and then beside that.
    fn ask_seldom(&self, purpose: ReadFor, question: &Value) -> Result<Value, ReadError> {
        if purpose.keeps_sight || purpose.is_urgent {
            self.ask_for(purpose, question)
        } else {
            self.ask_in_time(question, Claim::Seldom)
        }
    }

    /// Asks what is no part of the steady reads' floor and must come all the same, a minute late at most; before others that less
    /// waits for.
    fn ask_in_time(&self, question: &Value, claim: Claim) -> Result<Value, ReadError> {
        let kind = kind_of(question);
        self.venue.faults.about(kind);
        self.venue.try_claim(info_weight(kind), claim)?;
        self.call(question)
    }

    fn ask_for(&self, purpose: ReadFor, question: &Value) -> Result<Value, ReadError> {
        let priority = if purpose.is_early { Priority::EarlyRead } else { Priority::Read };
        let leaves = match info_weight(kind_of(question)) {
            _ if !purpose.keeps_sight => Leaves::Half,
            ..HEAVY_WEIGHT => Leaves::Nothing,
            HEAVY_WEIGHT.. => Leaves::Eighth,
        };
        match self.spend(priority, question) {
            Err(_) if purpose.is_urgent && self.spend(Priority::Flatten, question).is_ok() => self.call(question),
            Err(_) if purpose.may_overdraw && self.venue.overdraw(info_weight(kind_of(question)), leaves) => {
                self.call(question)
            }
            Err(error) => Err(error),
            Ok(()) => self.call(question),
        }
    }

    fn ask_as(&self, priority: Priority, question: &Value) -> Result<Value, ReadError> {
        self.spend(priority, question)?;
        self.call(question)
    }

    fn call(&self, question: &Value) -> Result<Value, ReadError> {
        let asked = self.venue.metrics.read(kind_of(question), || self.client.info(question));
        asked.map_err(|error| error.to_string().into())
    }

    fn spend(&self, priority: Priority, question: &Value) -> Result<(), ReadError> {
        let kind = kind_of(question);
        self.venue.faults.about(kind);
        Ok(self.venue.try_spend(priority, info_weight(kind))?)
    }
}

fn kind_of(question: &Value) -> &str {
    question.get("type").and_then(Value::as_str).unwrap_or_default()
}
