//! `place_order`.

use rust_decimal::Decimal;
use serde_json::Value;

use super::history::lookup;
use super::{TRADE, Tool, read};
use crate::mcp::answer::Answer;
use crate::mcp::desk::Desk;
use crate::mcp::fate::Record;
use crate::mcp::order::{EXIT_SLIPPAGE_PCT, Main, Wish, WishKind, through};
use crate::mcp::outcome::{Kind, Outcome, Retry, Rule};
use crate::mcp::send::{Trade, conclude, once_over, recall, submit};
use crate::mcp::status::Status;
use crate::mcp::{client_id, run, schema};
use crate::venue::action::Action;
use crate::venue::amount::{parse_info, to_wire};
use crate::venue::market::Market;
use crate::venue::{Address, Cloid};

pub(super) const PLACE: Tool = Tool {
    name: "place_order",
    title: "Place an order",
    description: "Places one order through the guard, with its stop loss and take profit attached if you give them. Size is in \
                  coins, NOT in dollars. A market order fills at once up to the owner's price collar. If you give no stop, the \
                  guard attaches one. After a lost answer or `unknown`, call again with the same client_id: it never trades \
                  twice.",
    hints: TRADE,
    input: || {
        schema::object(
            5,
            &[
                ("coin", schema::coin()),
                ("side", schema::choice(&["buy", "sell"], "buy or sell.")),
                ("type", schema::choice(&["market", "limit"], "market fills now; limit needs limit_price.")),
                ("size", schema::amount("Size in coins.")),
                ("client_id", schema::client_id()),
                ("limit_price", schema::amount("For type limit: the worst price taken.")),
                (
                    "tif",
                    schema::choice(
                        &["gtc", "ioc", "alo"],
                        "For type limit: gtc rests (default), ioc fills now or is cancelled, alo only rests.",
                    ),
                ),
                ("reduce_only", schema::flag("True: may only shrink a position.")),
                ("stop_loss_price", schema::amount("Closes at market when the mark price gets there.")),
                ("take_profit_price", schema::amount("Closes at market when the mark price gets there.")),
                ("reason", schema::reason("Why, for the log of this server.")),
            ],
        )
    },
    run: place,
};

fn place(desk: &Desk, args: Option<&str>) -> Result<Answer, Outcome> {
    let wish = Wish::read(&read(args, &Wish::NAMES)?)?;
    if let Some(reason) = &wish.reason {
        run::log(&format!("place_order {}: {} because: {reason}", wish.client_id, wish.words()));
    }
    let once = Once::begin(desk, &wish.client_id)?;
    let status = desk.admit()?;
    let market = desk.market(&wish.coin)?;
    let trade = Trade {
        what: wish.words(),
        client_id: Some(wish.client_id.clone()),
        cloid: Some(once.cloid),
        size: Some(wish.size),
        stop_place: wish.stop_px.map(|_| 1 + usize::from(wish.take_px.is_some())),
        is_entry: !wish.reduce_only,
    };
    let asked =
        Asked { asset: market.asset, is_buy: Some(wish.is_buy), reduce_only: wish.reduce_only, size: Some(wish.size) };
    once.or_recall(desk, &status, &trade, &asked, wish.reduce_only, || {
        let main = match wish.kind {
            WishKind::Limit(px, tif) => Main { px, tif },
            WishKind::Market => at_market(desk, &status, &market, &wish)?,
        };
        wish.orders(&market, main, once.cloid).map(Action::Order)
    })
}

/// The limit of a market order: as far through the mid as the owner's collar lets an entry go.
fn at_market(desk: &Desk, status: &Status, market: &Market, wish: &Wish) -> Result<Main, Outcome> {
    let mid = desk.mids()?.get(&market.coin).and_then(|mid| parse_info(mid.as_str()?).ok());
    let Some(mid) = mid else {
        let text =
            format!("Nothing was sent: the venue shows no price for {} right now. Try again later.", market.coin);
        return Err(Outcome::new(Kind::Unavailable, Retry::Later, text));
    };
    let collar = status.rules().map_or(EXIT_SLIPPAGE_PCT, |rules| rules.collar);
    let percent = if wish.reduce_only { EXIT_SLIPPAGE_PCT } else { collar.min(EXIT_SLIPPAGE_PCT) };
    Ok(through(market, wish.is_buy, mid, percent))
}

/// A trade that happens once under its name.
pub(super) struct Once<'a> {
    pub(super) cloid: Cloid,
    _under_way: crate::mcp::desk::UnderWay<'a>,
}

/// What a call asks for, to be held against what a first call under the same name asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) asset: u32,
    /// `None` where the call leaves it open, as with the size.
    pub(super) is_buy: Option<bool>,
    pub(super) reduce_only: bool,
    pub(super) size: Option<Decimal>,
}

impl<'a> Once<'a> {
    /// Takes the name for this call.
    ///
    /// # Errors
    /// `unavailable` while another call of this process has it.
    pub(super) fn begin(desk: &'a Desk, name: &str) -> Result<Self, Outcome> {
        let client = desk.key.as_ref().map_or(Address([0; 20]), crate::venue::signing::SecretKey::address);
        let cloid = client_id::cloid(client, name);
        match desk.begin(name) {
            Some(under_way) => Ok(Self { cloid, _under_way: under_way }),
            None => {
                let text = "A call with this client_id is under way; wait for its answer. This one did nothing.";
                Err(Outcome::new(Kind::Unavailable, Retry::Later, text))
            }
        }
    }

    /// Sends the action, or tells what became of an earlier call under the same name. The guard itself refuses the name
    /// a second time, so that no other process can come in between.
    ///
    /// # Errors
    /// The outcome where nothing could be sent.
    pub(super) fn or_recall(
        &self,
        desk: &Desk,
        status: &Status,
        trade: &Trade,
        asked: &Asked,
        is_exit: bool,
        action: impl FnOnce() -> Result<Action, Outcome>,
    ) -> Result<Answer, Outcome> {
        let earlier = match lookup(desk, &self.cloid.to_string()) {
            Ok(found) => self.first(&found),
            // The journal cannot be read: an entry must wait, an exit goes. It can only reduce.
            Err(_) if is_exit => None,
            Err(error) => return Err(Outcome::unreachable(&error)),
        };
        if let Some(record) = earlier {
            return Ok(self.again(desk, status, trade, asked, &record).into());
        }
        let sent = submit(desk, status, &action()?, trade)?;
        if sent.is_veto("duplicate_order")
            && let Some(record) = lookup(desk, &self.cloid.to_string()).ok().and_then(|found| self.first(&found))
        {
            return Ok(self.again(desk, status, trade, asked, &record).into());
        }
        Ok(conclude(desk, status, trade, &sent).into())
    }

    /// The decision that passed under this name.
    fn first(&self, found: &[Value]) -> Option<Value> {
        let cloid = self.cloid.to_string();
        let passed = |record: &&Value| {
            let record = Record(record);
            !record.is_veto() && record.asked(&cloid).is_some()
        };
        found.iter().find(passed).cloned()
    }

    fn again(&self, desk: &Desk, status: &Status, trade: &Trade, asked: &Asked, record: &Value) -> Outcome {
        let record = Record(record);
        let first = record.asked(&self.cloid.to_string()).cloned().unwrap_or_default();
        let is = |key: &str, wanted: Value| first.get(key) == Some(&wanted);
        let is_same = is("a", asked.asset.into())
            && asked.is_buy.is_none_or(|is_buy| is("b", is_buy.into()))
            && is("r", asked.reduce_only.into())
            && asked.size.is_none_or(|size| is("s", to_wire(size).into()));
        if is_same {
            let cloid = self.cloid.to_string();
            let told = once_over(|| lookup(desk, &cloid).ok().and_then(|found| self.first(&found)));
            return recall(desk, status, trade, told.as_ref().map_or(record, Record));
        }
        let rule = Rule { id: "client_id_used".to_owned(), limit: None, observed: trade.client_id.clone() };
        let text = "This client_id was used before for another trade, so nothing was sent. list_decisions with this client_id \
                    shows that one; choose a new client_id for this one.";
        Outcome { decision_id: record.seq(), ..Outcome::invalid(rule, text) }
    }
}
