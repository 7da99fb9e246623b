//! One frame that came: what kind it is, and what is in it.

use std::borrow::Cow;

use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

use super::data::{AssetCtx, Bbo, Data, Prices, Rows, WebData, address};
use super::events::{Funding, UserEvent};
use super::refusal::Refusal;
use super::topic::Subscription;
use crate::base::address::Address;
use crate::base::text::{one_line, short};
use crate::venue::fill::Fill;
use crate::venue::info::{self, ClearinghouseState, LedgerUpdate, OpenOrder, SpotState, decimal};

/// Longest text of an error.
const MAX_TEXT: usize = 160;
/// Some of the venue's servers greet with this, which is no JSON (observed).
const GREETING: &str = "Websocket connection established.";

/// A frame of the venue's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Data of a feed.
    Data(Data),
    /// A subscription began or ended; `None` where it is none of the guard's.
    Acked {
        /// Whether it began.
        is_subscribed: bool,
        /// The subscription as the venue has it.
        subscription: Option<Subscription>,
    },
    /// Something was refused.
    Refused(Refusal),
    /// The answer to a ping.
    Pong,
    /// Of a feed that the guard does not follow, of another dex, or of a kind that is not known: its channel.
    Other(String),
}

/// Why a frame cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrameError {
    /// It has no channel: it may be of any feed.
    #[error("no frame: {0}")]
    NoFrame(String),
    /// The data of this channel is not of the shape that it has to be.
    #[error("{channel}: {text}")]
    Shape {
        /// The channel.
        channel: String,
        /// What is wrong.
        text: String,
    },
}

#[derive(Deserialize)]
struct Text<'a> {
    #[serde(borrow)]
    channel: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

impl Frame {
    /// Reads a frame.
    ///
    /// # Errors
    /// [`FrameError`]; never more than a line of text, whatever came.
    pub fn read(text: &str) -> Result<Self, FrameError> {
        if text.trim() == GREETING {
            return Ok(Frame::Other(short(text.trim())));
        }
        let no_frame = |error: serde_json::Error| FrameError::NoFrame(one_line(&error.to_string(), MAX_TEXT));
        let Text { channel, data } = serde_json::from_str(text).map_err(no_frame)?;
        let data = data.map_or("null", RawValue::get);
        read(&channel, data)
            .map(|frame| frame.unwrap_or_else(|| Frame::Other(one_line(&short(&channel), MAX_TEXT))))
            .map_err(|error| FrameError::Shape {
                channel: one_line(&short(&channel), MAX_TEXT),
                text: one_line(&error, MAX_TEXT),
            })
    }
}

/// Reads the data of a channel; `None` where the guard has no use for it.
fn read(channel: &str, data: &str) -> Result<Option<Frame>, String> {
    Ok(Some(Frame::Data(match channel {
        "pong" => return Ok(Some(Frame::Pong)),
        "subscriptionResponse" => return acked(data).map(Some),
        "error" => return parse::<Cow<'_, str>>(data).map(|text| Some(Frame::Refused(Refusal::read(&text)))),
        "userFills" => Data::Fills(fills(data)?),
        "orderUpdates" => Data::OrderUpdates(parse(data)?),
        // The one channel that is not named as its subscription.
        "user" => {
            let event: UserEvent = parse(data)?;
            if event.is_other() {
                return Ok(None);
            }
            Data::Event(event)
        }
        "userNonFundingLedgerUpdates" => Data::Ledger(ledger(data)?),
        "userFundings" => Data::Fundings(fundings(data)?),
        "clearinghouseState" => return account(data).map(|data| data.map(Frame::Data)),
        "openOrders" => return open_orders(data).map(|data| data.map(Frame::Data)),
        "spotState" => spot(data)?,
        "webData3" => web_data(data)?,
        "allMids" => return mids(data).map(|data| data.map(Frame::Data)),
        "bbo" => bbo(data)?,
        "activeAssetCtx" => asset_ctx(data)?,
        _ => return Ok(None),
    })))
}

fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, String> {
    serde_json::from_str(data).map_err(|error| error.to_string())
}

fn acked(data: &str) -> Result<Frame, String> {
    #[derive(Deserialize)]
    struct Ack<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
        subscription: Value,
    }
    let ack: Ack<'_> = parse(data)?;
    let is_subscribed = match &*ack.method {
        "subscribe" => true,
        "unsubscribe" => false,
        other => return Err(format!("{} was acknowledged", short(other))),
    };
    Ok(Frame::Acked { is_subscribed, subscription: Subscription::read(&ack.subscription) })
}

/// Defines the reader of a feed with rows, which stand under a key of the feed's own.
macro_rules! rows {
    ($name:ident, $row:ty, $key:literal) => {
        fn $name(data: &str) -> Result<Rows<$row>, String> {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Text {
                #[serde(deserialize_with = "address")]
                user: Address,
                #[serde(default)]
                is_snapshot: bool,
                #[serde(rename = $key)]
                rows: Vec<$row>,
            }
            let Text { user, is_snapshot, rows } = parse(data)?;
            Ok(Rows { user, is_snapshot, rows })
        }
    };
}

rows!(fills, Fill, "fills");
rows!(ledger, LedgerUpdate, "nonFundingLedgerUpdates");
rows!(fundings, Funding, "fundings");

fn account(data: &str) -> Result<Option<Data>, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Text {
        #[serde(deserialize_with = "address")]
        user: Address,
        #[serde(default)]
        dex: String,
        clearinghouse_state: Box<ClearinghouseState>,
    }
    let Text { user, dex, clearinghouse_state } = parse(data)?;
    Ok(dex.is_empty().then_some(Data::Account(user, clearinghouse_state)))
}

fn open_orders(data: &str) -> Result<Option<Data>, String> {
    #[derive(Deserialize)]
    struct Text {
        #[serde(deserialize_with = "address")]
        user: Address,
        #[serde(default)]
        dex: String,
        orders: Vec<OpenOrder>,
    }
    let Text { user, dex, orders } = parse(data)?;
    Ok(dex.is_empty().then_some(Data::OpenOrders(user, orders)))
}

fn spot(data: &str) -> Result<Data, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Text {
        #[serde(deserialize_with = "address")]
        user: Address,
        spot_state: SpotState,
    }
    let Text { user, spot_state } = parse(data)?;
    Ok(Data::Spot(user, spot_state))
}

fn web_data(data: &str) -> Result<Data, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Text {
        user_state: WebData,
    }
    Ok(Data::WebData(parse::<Text>(data)?.user_state))
}

fn mids(data: &str) -> Result<Option<Data>, String> {
    #[derive(Deserialize)]
    struct Text {
        #[serde(default)]
        dex: String,
        mids: Value,
    }
    let Text { dex, mids } = parse(data)?;
    let mids = info::mids(&mids)?;
    Ok(dex.is_empty().then_some(Data::Mids(mids)))
}

fn bbo(data: &str) -> Result<Data, String> {
    #[derive(Deserialize)]
    struct Level {
        #[serde(deserialize_with = "decimal")]
        px: Decimal,
    }
    #[derive(Deserialize)]
    struct Text {
        coin: String,
        time: u64,
        bbo: (Option<Level>, Option<Level>),
    }
    let Text { coin, time, bbo: (bid, ask) } = parse(data)?;
    Ok(Data::Bbo(Bbo { coin, time, bid: bid.map(|level| level.px), ask: ask.map(|level| level.px) }))
}

fn asset_ctx(data: &str) -> Result<Data, String> {
    #[derive(Deserialize)]
    struct Text {
        coin: String,
        ctx: Prices,
    }
    let Text { coin, ctx } = parse(data)?;
    Ok(Data::AssetCtx(AssetCtx { coin, prices: ctx }))
}
