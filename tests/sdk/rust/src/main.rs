//! The official Rust SDK, unmodified: it knows the guard as the venue at its own local address. Subscribes to all that it can,
//! leaves the market as soon as it is told of a fill, and says what it hears, one JSON a line; ends at the end of its input.
//! The first line of the input tells it the client's key and the account.

use std::error::Error;
use std::io::{BufRead, stdin};

use ethers::signers::LocalWallet;
use ethers::types::H160;
use hyperliquid_rust_sdk::{
    BaseUrl, ClientCancelRequestCloid, ClientLimit, ClientOrder, ClientOrderRequest, ExchangeClient, ExchangeDataStatus,
    ExchangeResponseStatus, InfoClient, Message, Subscription,
};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use uuid::Uuid;

const COIN: &str = "BTC";

fn say(what: &str, data: Value) {
    println!("{}", json!({ "what": what, "data": data }));
}

/// The outcome of the only order of a request.
fn outcome(answer: ExchangeResponseStatus) -> Value {
    let response = match answer {
        ExchangeResponseStatus::Ok(response) => response,
        ExchangeResponseStatus::Err(text) => return json!({ "refused": text }),
    };
    match response.data.and_then(|data| data.statuses.into_iter().next()) {
        Some(ExchangeDataStatus::Filled(filled)) => json!({ "filled": filled.total_sz }),
        Some(ExchangeDataStatus::Resting(_)) => json!("resting"),
        Some(ExchangeDataStatus::Success) => json!("success"),
        other => json!({ "other": format!("{other:?}") }),
    }
}

/// What a message says, in short.
fn told(message: Message) -> Option<(&'static str, Value)> {
    Some(match message {
        Message::AllMids(told) => ("allMids", json!(told.data.mids.get(COIN))),
        Message::Trades(told) => ("trades", json!(told.data.last().map(|trade| trade.tid))),
        Message::L2Book(told) => ("l2Book", json!(told.data.coin)),
        Message::Candle(told) => ("candle", json!(told.data.high)),
        Message::User(told) => ("userEvents", json!(format!("{:?}", told.data))),
        Message::OrderUpdates(told) => (
            "orderUpdates",
            json!(told.data.last().map(|update| json!([update.status, update.order.limit_px]))),
        ),
        Message::UserFundings(told) => ("userFundings", json!([told.data.is_snapshot, told.data.fundings.len()])),
        Message::UserNonFundingLedgerUpdates(told) => (
            "userNonFundingLedgerUpdates",
            json!([told.data.is_snapshot, told.data.non_funding_ledger_updates.len()]),
        ),
        Message::ActiveAssetCtx(told) => ("activeAssetCtx", json!(told.data.coin)),
        Message::Notification(told) => ("notification", json!(told.data.notification)),
        Message::UserFills(told) => {
            let is_snapshot = told.data.is_snapshot.unwrap_or_default();
            let fill = told.data.fills.first();
            let fill = fill.map(|fill| json!({ "coin": fill.coin, "sz": fill.sz, "dir": fill.dir, "tid": fill.tid }));
            (if is_snapshot { "userFills" } else { "fill" }, json!(fill))
        }
        Message::HyperliquidError(text) => ("error", json!(text)),
        _ => return None,
    })
}

/// Says what is heard, to the first fill that is news.
async fn listen(feeds: &mut UnboundedReceiver<Message>) -> Option<()> {
    loop {
        let Some((what, data)) = told(feeds.recv().await?) else { continue };
        say(what, data);
        if what == "fill" {
            return Some(());
        }
    }
}

/// Says what is heard until the input ends.
async fn listen_on(feeds: &mut UnboundedReceiver<Message>) {
    let mut end = tokio::task::spawn_blocking(|| stdin().lock().lines().for_each(drop));
    loop {
        tokio::select! {
            _ = &mut end => return,
            message = feeds.recv() => match message {
                Some(message) => told(message).into_iter().for_each(|(what, data)| say(what, data)),
                None => return,
            },
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let told: Value = serde_json::from_str(&stdin().lock().lines().next().ok_or("nothing was told")??)?;
    let text = |name: &str| told.get(name).and_then(Value::as_str).ok_or("something was not told");
    let (wallet, user): (LocalWallet, H160) = (text("key")?.parse()?, text("user")?.parse()?);

    let exchange = ExchangeClient::new(None, wallet, Some(BaseUrl::Localhost), None, None).await?;
    let mut info = InfoClient::new(None, Some(BaseUrl::Localhost)).await?;
    say("mids", json!(info.all_mids().await?.get(COIN)));
    say("value", json!(info.user_state(user).await?.margin_summary.account_value));
    let coin = || COIN.to_owned();
    let (sender, mut feeds) = unbounded_channel();
    let wanted = [
        Subscription::AllMids,
        Subscription::Candle { coin: coin(), interval: "1m".to_owned() },
        Subscription::L2Book { coin: coin() },
        Subscription::Trades { coin: coin() },
        Subscription::ActiveAssetCtx { coin: coin() },
        Subscription::OrderUpdates { user },
        Subscription::UserEvents { user },
        Subscription::UserFills { user },
        Subscription::UserFundings { user },
        Subscription::UserNonFundingLedgerUpdates { user },
        Subscription::Notification { user },
    ];
    let mut held = Vec::new();
    for subscription in wanted {
        held.push(info.subscribe(subscription, sender.clone()).await?);
    }
    say("subscribed", json!(held.len()));

    listen(&mut feeds).await.ok_or("the feeds ended")?;
    // Its market orders refuse the local address.
    let order = |is_buy: bool, limit_px: f64, sz: f64, tif: &str, cloid: Option<Uuid>| ClientOrderRequest {
        asset: coin(),
        is_buy,
        reduce_only: !is_buy,
        limit_px,
        sz,
        cloid,
        order_type: ClientOrder::Limit(ClientLimit { tif: tif.to_owned() }),
    };
    say("close", outcome(exchange.order(order(false, 59_000.0, 0.05, "Ioc", None), None).await?));
    say("open", outcome(exchange.order(order(true, 60_500.0, 0.001, "Ioc", None), None).await?));
    let cloid = Uuid::new_v4();
    say("order", outcome(exchange.order(order(true, 59_000.0, 0.001, "Gtc", Some(cloid)), None).await?));
    say("cancel", outcome(exchange.cancel_by_cloid(ClientCancelRequestCloid { asset: coin(), cloid }, None).await?));
    say("close", outcome(exchange.order(order(false, 59_000.0, 0.001, "Ioc", None), None).await?));
    listen_on(&mut feeds).await;
    for subscription in held {
        info.unsubscribe(subscription).await?;
    }
    say("unsubscribed", Value::Null);
    Ok(())
}
