//! The scenes, in the order they are played. Each says what the bot asks, what became of it, and holds every word of
//! that to the venue's own record.

use rust_decimal::{Decimal, dec};
use serde_json::Value;
use svc_guard::venue::action::{Action, Grouping, OrderAction};
use svc_guard::venue::order::Tif;

use crate::bot::{limit, with_stop};
use crate::guard::get;
use crate::say;
use crate::stage::{Stage, amount, array, text};
use crate::watch;

/// One scene.
pub(crate) struct Scene {
    /// What is shown.
    pub(crate) title: &'static str,
    /// Plays it; the error says what was not as told.
    pub(crate) play: fn(&mut Stage) -> Result<(), String>,
}

/// All of them; later ones play on what earlier ones left.
pub(crate) const SCENES: &[Scene] = &[
    Scene { title: "Allow: an order with its own stop goes through as it came", play: allow },
    Scene { title: "Resize: a market order that would risk too much is cut and gets a stop", play: resize },
    Scene { title: "Veto: a market that is not in the rules", play: veto_market },
    Scene { title: "Veto: money does not leave, whoever holds the bot's key", play: veto_withdrawal },
    Scene { title: "What the venue has now, in its own words", play: rests },
    Scene { title: "Protect: a position that the guard did not open gets a stop as well", play: watch::protect },
    Scene { title: "Kill: everything is closed, and stays so until a person releases it", play: watch::kill },
    Scene { title: "Daily loss stop: the day is over", play: watch::daily_loss },
    Scene { title: "Where to look", play: look },
    Scene { title: "The report of all that", play: report },
];

pub(crate) fn check(holds: bool, what: &str, actual: &Value) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("expected {what}, but there is {actual}")) }
}

pub(crate) fn verdict(reply: &Value, verdict: &str, code: &str) -> Result<(), String> {
    check(text(reply, "/guard/verdict")? == verdict && text(reply, "/guard/code")? == code, code, reply)
}

fn allow(stage: &mut Stage) -> Result<(), String> {
    let asset = stage.asset("BTC")?;
    say("  Bot:   set the leverage for BTC to 5");
    verdict(&stage.post(&Action::UpdateLeverage { asset, is_cross: true, leverage: 5 })?, "allow", "allowed")?;
    say("  Bot:   buy 0.01 BTC at 59900, stop at 59000 (9 USDC lost if stopped; the rule's 2% are 200 USDC)");
    let order = with_stop(limit(asset, true, dec!(0.01), dec!(59900), Tif::Gtc, None), dec!(59000));
    let reply = stage.post(&order)?;
    verdict(&reply, "allow", "allowed")?;
    let oid = reply.pointer("/response/data/statuses/0/resting/oid").and_then(Value::as_u64);
    let oid = oid.ok_or_else(|| format!("the order does not rest: {reply}"))?;

    let truth = stage.venue.truth();
    let order = array(&truth, "/orders").iter().find(|order| order.get("oid").and_then(Value::as_u64) == Some(oid));
    let order = order.ok_or("the venue does not know the order")?;
    let as_asked = amount(order, "/limitPx")? == dec!(59900) && amount(order, "/sz")? == dec!(0.01);
    check(as_asked && amount(order, "/children/0/triggerPx")? == dec!(59000), "the order as it came", order)?;
    let signer = array(&truth, "/requests").last().and_then(|request| request.get("signer"));
    check(signer == truth.pointer("/account/agents/0"), "the API wallet's signature", &truth)?;
    say(format_args!(
        "  Venue: rests as order {oid}, its stop waiting; signed by the API wallet, which the bot never sees"
    ));
    Ok(())
}

fn resize(stage: &mut Stage) -> Result<(), String> {
    let (asset, asked, px) = (stage.asset("BTC")?, dec!(0.5), dec!(63000));
    say("  Bot:   buy 0.5 BTC at the market, as SDKs send it: at once, at 63000 or better (5% over the mid of 60000)");
    let order = limit(asset, true, asked, px, Tif::Ioc, None);
    let reply =
        stage.post(&Action::Order(OrderAction { orders: vec![order], grouping: Grouping::Na, builder: None }))?;
    verdict(&reply, "resize", "resized")?;
    let filled = amount(&reply, "/response/data/statuses/0/filled/totalSz")?;
    let paid = amount(&reply, "/response/data/statuses/0/filled/avgPx")?;
    check(filled < asked, "a smaller size", &reply)?;

    let truth = stage.venue.truth();
    let sent = array(&truth, "/requests")
        .iter()
        .rev()
        .find(|request| request.pointer("/action/orders/0/t/limit/tif").and_then(Value::as_str) == Some("Ioc"));
    let sent = sent.ok_or("the venue was sent no such order")?;
    let (collared, cut) = (amount(sent, "/action/orders/0/p")?, amount(sent, "/action/orders/0/s")?);
    check(collared <= dec!(60300) && cut == filled, "a price within 0.5% of the mid, and the cut size", sent)?;
    let position = array(&truth, "/positions").first().ok_or("the venue shows no position")?;
    check(amount(position, "/szi")? == filled, "a position of what was filled", position)?;
    let stop = cover(&truth, filled)?;
    let trigger = amount(stop, "/triggerPx")?;
    let loss = (paid - trigger) * filled;
    check(loss > Decimal::ZERO && loss <= dec!(200), "a loss within the rule's 2% of equity", stop)?;
    say(format_args!("  Venue: was sent {cut} at {collared}; {filled} filled at {paid}"));
    say(format_args!(
        "  Venue: a stop for all of it rests at {trigger}: {} USDC lost if it is hit",
        loss.round_dp(2).normalize()
    ));
    Ok(())
}

/// The reduce-only market stop that is armed for all of a long position.
pub(crate) fn cover(truth: &Value, size: Decimal) -> Result<&Value, String> {
    let is_cover = |order: &&Value| {
        order.get("stage").and_then(Value::as_str) == Some("armed")
            && order.get("reduceOnly") == Some(&Value::Bool(true))
            && order.get("orderType").and_then(Value::as_str) == Some("Stop Market")
            && amount(order, "/sz").is_ok_and(|covered| covered == size)
    };
    let found = array(truth, "/orders").iter().find(is_cover);
    found.ok_or_else(|| format!("no stop for {size} is armed: {}", truth.get("orders").unwrap_or(&Value::Null)))
}

fn veto_market(stage: &mut Stage) -> Result<(), String> {
    let (asset, before) = (stage.asset("DOGE")?, stage.sent());
    say("  Bot:   buy 1000 DOGE at 0.2");
    let order = limit(asset, true, dec!(1000), dec!(0.2), Tif::Gtc, None);
    let reply =
        stage.post(&Action::Order(OrderAction { orders: vec![order], grouping: Grouping::Na, builder: None }))?;
    verdict(&reply, "veto", "market_not_allowed")?;
    nothing_sent(stage, before)
}

fn veto_withdrawal(stage: &mut Stage) -> Result<(), String> {
    let before = stage.sent();
    say("  Bot:   withdraw 9000 USDC to somebody else");
    verdict(&stage.withdraw("9000")?, "veto", "action_not_allowed")?;
    nothing_sent(stage, before)
}

fn nothing_sent(stage: &Stage, before: usize) -> Result<(), String> {
    if stage.sent() != before {
        return Err("the venue was sent something".to_owned());
    }
    say("  Venue: was sent nothing");
    Ok(())
}

fn rests(stage: &mut Stage) -> Result<(), String> {
    let truth = stage.venue.truth();
    let (positions, orders) = (array(&truth, "/positions"), array(&truth, "/orders"));
    check(positions.len() == 1 && orders.len() == 3, "one position and three orders", &truth)?;
    for held in positions {
        let (coin, size, entry) = (text(held, "/coin")?, text(held, "/szi")?, text(held, "/entry_px")?);
        say(format_args!("  position  {coin} {size} from {entry}"));
    }
    for order in orders {
        let (coin, size, kind) = (text(order, "/coin")?, text(order, "/sz")?, text(order, "/orderType")?);
        let side = if text(order, "/side")? == "B" { "buy" } else { "sell" };
        let at = if kind == "Limit" { text(order, "/limitPx")? } else { text(order, "/triggerPx")? };
        let stage = match text(order, "/stage")? {
            "waiting" => ", waiting for its order to fill",
            "armed" => ", armed",
            _ => "",
        };
        say(format_args!("  order     {coin} {side} {size} {kind} at {at}{stage}"));
    }
    Ok(())
}

fn look(stage: &mut Stage) -> Result<(), String> {
    let truth = stage.venue.truth();
    let held = array(&truth, "/positions").first().map(|position| amount(position, "/szi")).transpose()?;
    // The account, and the open orders that cover it, are read one after the other.
    let position = |status: &Value, pointer: &str| {
        array(status, "/positions").first().and_then(|position| amount(position, pointer).ok())
    };
    let agrees = |status: &Value| position(status, "/size") == held && position(status, "/covered_size") == held;
    let status = stage.status_when(agrees)?;
    let url = &stage.guard.url;
    let risk = |key: &str| text(&status, &format!("/risk/{key}")).map(str::to_owned);
    say(format_args!(
        "  {url}/guard/status  equity, positions, risk: {} of {} USDC at risk now",
        risk("open_risk")?,
        risk("open_risk_limit")?
    ));
    let events = get(&format!("{url}/guard/events"))?;
    let decisions =
        array(&events, "/events").iter().filter(|event| event.get("kind").and_then(Value::as_str) == Some("decision"));
    check(decisions.count() == 7, "seven decisions", &events)?;
    say(format_args!(
        "  {url}/guard/events  every decision with its reasons, {} events so far",
        array(&events, "/events").len()
    ));
    let healthy = get(&format!("{url}/healthz"))?;
    check(healthy.get("ok") == Some(&Value::Bool(true)), "good health", &healthy)?;
    say(format_args!("  {url}/healthz       for a monitor: {healthy}"));
    say(format_args!("  {url}/              all of it in a browser"));
    say(format_args!("  {}/sim           the venue's record; POST there moves its prices:", stage.venue.url()));
    say(format_args!("  curl -d '{{\"op\":\"price\",\"coin\":\"BTC\",\"px\":\"58000\"}}' {}/sim", stage.venue.url()));
    say(format_args!("  {}  the kill file: make it, and everything is closed", text(&status, "/kill_file")?));
    Ok(())
}

fn report(stage: &mut Stage) -> Result<(), String> {
    let told = stage.report_when(|told| {
        let fills = told.pointer("/total/fills").and_then(Value::as_u64);
        fills > Some(0) && fills == u64::try_from(array(&stage.venue.truth(), "/fills").len()).ok()
    })?;
    let truth = stage.venue.truth();
    let fills = array(&truth, "/fills");
    for (figure, of_fill) in [("/total/gross", "/closedPnl"), ("/total/fees", "/fee")] {
        let sum = fills.iter().map(|fill| amount(fill, of_fill)).sum::<Result<Decimal, String>>()?;
        check(amount(&told, figure)? == sum, &format!("{sum} by the venue's record as {figure}"), &told)?;
    }
    let count = |name: &str| told.pointer(&format!("/total/{name}")).and_then(Value::as_u64).unwrap_or(0);
    check(count("allowed") + count("resized") + count("vetoed") == 7, "seven decisions", &told)?;
    let table = stage.guard.command(&["report", "--mode", "testnet"])?;
    say("  svc-guard report --mode testnet:");
    table.lines().for_each(|line| say(format_args!("  {line}")));
    say("  ... --fills lists each fill, --format csv or json, --by market or client, --from and --to days");
    Ok(())
}
