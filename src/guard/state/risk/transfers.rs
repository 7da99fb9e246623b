//! Transfers: what moves the equity without being profit or loss. Deposits, withdrawals and transfers, from the venue's
//! ledger.

use crate::base::address::Address;
use crate::base::amount::parse_info;
use crate::venue::info::{AccountMode, LedgerUpdate};
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::BTreeMap;

/// Entries are remembered for this long behind the newest read, to know them again.
const REMEMBERED_MS: u64 = 4 * 3_600_000;

/// The name of what a change of the account's mode moved. It is no ledger's.
pub(crate) const MODE_CHANGE: &str = "modeChange";

/// A flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// When the balance moved, UTC ms.
    pub(crate) time_ms: u64,
    /// USDC, negative for what left.
    pub(crate) usd: Decimal,
    /// Of a change of the account's mode: the time of the last read before it. What flowed since then is in it.
    pub(crate) since_ms: Option<u64>,
    /// What the account was worth just before; `None` where that is not known.
    pub(crate) before: Option<Decimal>,
    /// The ledger's name for it.
    pub(crate) kind: String,
    /// The transaction.
    pub(crate) hash: String,
    /// Whether the ledger's name for it is one that is known here.
    pub(crate) is_known: bool,
    /// Whether it surely moved the equity; otherwise a read of the account must show that.
    pub(crate) is_sure: bool,
}

/// OrderOwner equity, and where it is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BalanceScope {
    pub(crate) account: Address,
    pub(crate) mode: AccountMode,
}

/// When, by which transaction, of which kind, and how much.
type Key = (u64, String, String, Decimal);

/// How often an entry was seen, and whether it surely moved the equity.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    count: usize,
    is_sure: bool,
}

/// The ledger entries taken in so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeenTransfers(BTreeMap<Key, Seen>);

impl SeenTransfers {
    /// The flows of an answer that were not taken in before. Several entries may be the same in everything, so they
    /// are counted. `purse_at` tells the purse that one of a time moved, and what `is_counted` holds of a time is that another
    /// flow has what moved then in it.
    pub(crate) fn new_ones(
        &mut self,
        updates: &[LedgerUpdate],
        purse_at: impl Fn(u64) -> BalanceScope,
        is_counted: impl Fn(u64) -> bool,
    ) -> Vec<Transfer> {
        let mut counts: BTreeMap<Key, (usize, Transfer)> = BTreeMap::new();
        for flow in updates.iter().filter_map(|update| moved_by(update, purse_at(update.time))) {
            counts.entry(key(&flow)).or_insert_with(|| (0, flow)).0 += 1;
        }
        let mut new = Vec::new();
        for (key, (count, flow)) in counts {
            let is_sure = flow.is_sure && !is_counted(flow.time_ms);
            let seen = self.0.entry(key).or_insert(Seen { count: 0, is_sure });
            new.extend(std::iter::repeat_n(flow, count.saturating_sub(seen.count)));
            seen.count = seen.count.max(count);
        }
        new.sort_by_key(|flow| flow.time_ms);
        new
    }

    /// Remembers a flow of an earlier life.
    pub(crate) fn remember(&mut self, flow: &Transfer) {
        let seen = self.0.entry(key(flow)).or_default();
        (seen.count, seen.is_sure) = (seen.count.saturating_add(1), true);
    }

    /// The flows that are sure, by time: what moved.
    fn sure(&self) -> impl Iterator<Item = (u64, &str, Decimal)> {
        let sure = self.0.iter().filter(|(_, seen)| seen.is_sure);
        sure.map(|((time_ms, _, kind, usd), seen)| {
            (*time_ms, kind.as_str(), usd.saturating_mul(Decimal::from(seen.count)))
        })
    }

    /// What came in after this time, less what went out, and when the last of it moved. A change of the mode has no such
    /// time: a read from before it is looked for where the equity is kept now.
    pub(crate) fn after(&self, at_ms: u64) -> Option<(Decimal, u64)> {
        let later = self.sure().filter(|(time_ms, kind, _)| *time_ms > at_ms && *kind != MODE_CHANGE);
        later.fold(None, |sum, (time_ms, _, moved)| {
            let (sum, newest_ms) = sum.unwrap_or((Decimal::ZERO, time_ms));
            Some((sum.saturating_add(moved), newest_ms.max(time_ms)))
        })
    }

    /// What came in from the first of these times on and before the second, less what went out.
    pub(crate) fn between(&self, from_ms: u64, before_ms: u64) -> Decimal {
        let moved = self.sure().filter(|(time_ms, ..)| (from_ms..before_ms).contains(time_ms));
        moved.fold(Decimal::ZERO, |sum, (_, _, moved)| sum.saturating_add(moved))
    }

    /// Forgets what no later answer will hold.
    pub(crate) fn forget_before(&mut self, read_ms: u64) {
        let oldest_ms = read_ms.saturating_sub(REMEMBERED_MS);
        self.0.retain(|(time_ms, ..), _| *time_ms >= oldest_ms);
    }
}

fn key(flow: &Transfer) -> Key {
    (flow.time_ms, flow.hash.clone(), flow.kind.clone(), flow.usd)
}

/// The ledger's name for an entry.
pub(crate) fn kind_of(update: &LedgerUpdate) -> String {
    update.delta.get("type").and_then(Value::as_str).unwrap_or("unnamed").to_owned()
}

/// What a ledger entry moved; `None` where the equity did not move by it. Most types of entries:
/// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/nodes/l1-data-schemas>, `LedgerDelta`; others observed.
pub(crate) fn moved_by(update: &LedgerUpdate, purse: BalanceScope) -> Option<Transfer> {
    let delta = &update.delta;
    let kind = kind_of(update);
    let (usd, is_known, is_sure) = match (moved(&kind, delta, purse), perhaps_moved(&kind, delta)) {
        (Some(usd), _) => (usd, true, true),
        (None, Some(usd)) => (usd, true, false),
        (None, None) => (unknown(delta, purse), false, false),
    };
    let (time_ms, hash) = (update.time, update.hash.clone());
    (!usd.is_zero() || !is_known).then_some(Transfer {
        time_ms,
        usd,
        since_ms: None,
        before: None,
        kind,
        hash,
        is_known,
        is_sure,
    })
}

/// What an entry of a known type moved.
fn moved(kind: &str, delta: &Value, purse: BalanceScope) -> Option<Decimal> {
    let is_unified = purse.mode == AccountMode::Unified;
    let usdc = amount(delta, "usdc");
    let with_fee = |amount: Option<Decimal>| {
        let amount = amount?;
        // A fee is paid in USDC unless another token is named.
        let in_usdc = matches!(delta.get("feeToken").and_then(Value::as_str), None | Some("" | "USDC"));
        let fee = self::amount(delta, "fee").filter(|_| in_usdc).unwrap_or_default();
        Some((amount, fee))
    };
    match kind {
        "deposit" | "vaultLeaderCommission" => usdc,
        "vaultDistribution" => usdc.map(|usdc| if is(delta, "vault", purse) { -usdc } else { usdc }),
        "withdraw" => with_fee(usdc).map(|(amount, fee)| -amount.saturating_add(fee)),
        "internalTransfer" | "subAccountTransfer" => {
            with_fee(usdc).map(|(amount, fee)| between(delta, purse, amount, fee))
        }
        "accountClassTransfer" if is_unified => Some(Decimal::ZERO),
        "accountClassTransfer" => {
            let to_perp = delta.get("toPerp").and_then(Value::as_bool)?;
            usdc.map(|usdc| if to_perp { usdc } else { -usdc })
        }
        "spotTransfer" if !is_unified => Some(Decimal::ZERO),
        // Of another token the fee alone is USDC; where all is one purse it goes from that.
        "spotTransfer" | "send" if is_unified && !is_usdc(delta) => {
            let is_paid = delta.get("feeToken").and_then(Value::as_str) == Some("USDC") && is(delta, "user", purse);
            Some(if is_paid { -self::amount(delta, "fee").unwrap_or_default() } else { Decimal::ZERO })
        }
        "spotTransfer" => with_fee(amount(delta, "amount")).map(|(amount, fee)| between(delta, purse, amount, fee)),
        "send" if !is_usdc(delta) => Some(Decimal::ZERO),
        "send" if is_unified => with_fee(amount(delta, "amount")).map(|(sum, fee)| between(delta, purse, sum, fee)),
        "send" => with_fee(amount(delta, "amount")).map(|(sum, fee)| between_purses(delta, purse, sum, fee)),
        // Who creates one pays for it besides; the vault has the deposit alone.
        "vaultCreate" | "vaultDeposit" if is(delta, "vault", purse) => usdc,
        "vaultCreate" | "vaultDeposit" => with_fee(usdc).map(|(amount, fee)| -amount.saturating_add(fee)),
        "vaultWithdraw" => {
            let net = amount(delta, "netWithdrawnUsd")?;
            Some(if is(delta, "vault", purse) { -net } else { net })
        }
        // Rewards are spot: where all is one purse, and they are in USDC, they are part of it.
        "rewardsClaim" if is_unified && is_usdc(delta) => amount(delta, "amount"),
        // A loss like any other, and tokens that are not part of the equity.
        "liquidation" | "spotGenesis" | "rewardsClaim" | "cStakingTransfer" => Some(Decimal::ZERO),
        _ => None,
    }
}

/// What went out of or came into the account; within it, only the fee.
fn between(delta: &Value, purse: BalanceScope, amount: Decimal, fee: Decimal) -> Decimal {
    match (is(delta, "user", purse), is(delta, "destination", purse)) {
        (true, true) => -fee,
        (true, false) => -amount.saturating_add(fee),
        (false, _) => amount,
    }
}

/// As [`between`], where only the core perps' purse (named by an empty dex) is the equity.
fn between_purses(delta: &Value, purse: BalanceScope, amount: Decimal, fee: Decimal) -> Decimal {
    let is_ours = |who: &str, dex: &str| is(delta, who, purse) && delta.get(dex).and_then(Value::as_str) == Some("");
    let out = if is_ours("user", "sourceDex") { amount.saturating_add(fee) } else { Decimal::ZERO };
    let into = if is_ours("destination", "destinationDex") { amount } else { Decimal::ZERO };
    into.saturating_sub(out)
}

/// What an entry of a known type may have moved: in USDC, out of a purse that it does not name.
fn perhaps_moved(kind: &str, delta: &Value) -> Option<Decimal> {
    let comes = match kind {
        "borrowLend" => matches!(delta.get("operation").and_then(Value::as_str), Some("withdraw" | "borrow")),
        "activateDexAbstraction" | "deployGasAuction" | "accountActivationGas" | "gossipPriorityGasAuction" => false,
        _ => return None,
    };
    let usd = stated_usd(delta);
    Some(if comes { usd } else { -usd })
}

/// An entry of an unknown type, by the USDC and the direction that it names.
fn unknown(delta: &Value, purse: BalanceScope) -> Decimal {
    let usd = stated_usd(delta);
    let leaves = is(delta, "user", purse)
        && delta.get("destination").and_then(Value::as_str).is_some_and(|_| !is(delta, "destination", purse));
    if leaves { -usd } else { usd }
}

/// The USDC, or their value, that an entry names. An amount of another token says nothing of them.
fn stated_usd(delta: &Value) -> Decimal {
    let amount_of_usdc = || amount(delta, "amount").filter(|_| is_usdc(delta));
    ["usdc", "usdcValue"].into_iter().find_map(|key| amount(delta, key)).or_else(amount_of_usdc).unwrap_or_default()
}

fn amount(delta: &Value, key: &str) -> Option<Decimal> {
    delta.get(key).and_then(Value::as_str).and_then(|text| parse_info(text).ok())
}

fn is(delta: &Value, key: &str, purse: BalanceScope) -> bool {
    let named = delta.get(key).and_then(Value::as_str).and_then(|text| Address::parse_lenient(text).ok());
    named == Some(purse.account)
}

fn is_usdc(delta: &Value) -> bool {
    delta.get("token").and_then(Value::as_str).is_some_and(|token| token == "USDC" || token.starts_with("USDC:"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;
    use serde_json::json;

    const OURS: &str = "0x1111111111111111111111111111111111111111";
    const OTHER: &str = "0x2222222222222222222222222222222222222222";

    /// What moves in an account of two purses, and in one where all is one purse.
    #[test]
    fn entries_move_what_is_usdc_in_the_guarded_purse() {
        let sent = |user: &str, fee_token: Value| {
            let destination = if user == OURS { OTHER } else { OURS };
            json!({"type": "spotTransfer", "token": "HYPE", "amount": "9.0", "user": user, "destination": destination,
                "fee": "1.0", "feeToken": fee_token})
        };
        let vault = |kind: &str, vault: &str| json!({"type": kind, "vault": vault, "usdc": "100.0", "fee": "10.0"});
        for (delta, standard, unified) in [
            (json!({"type": "rewardsClaim", "token": "USDC", "amount": "12.5"}), dec!(0), dec!(12.5)),
            (json!({"type": "rewardsClaim", "token": "HYPE", "amount": "12.5"}), dec!(0), dec!(0)),
            (json!({"type": "rewardsClaim", "amount": "12.5"}), dec!(0), dec!(0)),
            (sent(OURS, json!("USDC")), dec!(0), dec!(-1)),
            (sent(OURS, json!("HYPE")), dec!(0), dec!(0)),
            (sent(OURS, json!("")), dec!(0), dec!(0)),
            (sent(OTHER, json!("USDC")), dec!(0), dec!(0)),
            (vault("vaultCreate", OTHER), dec!(-110), dec!(-110)),
            (vault("vaultCreate", OURS), dec!(100), dec!(100)),
            (vault("vaultDistribution", OTHER), dec!(100), dec!(100)),
            (vault("vaultDistribution", OURS), dec!(-100), dec!(-100)),
        ] {
            let account = Address::parse_lenient(OURS).unwrap();
            let update: LedgerUpdate =
                serde_json::from_value(json!({"time": 1, "hash": "0x0", "delta": delta})).unwrap();
            let moved = [AccountMode::Standard, AccountMode::Unified]
                .map(|mode| moved_by(&update, BalanceScope { account, mode }).map_or(Decimal::ZERO, |moved| moved.usd));
            assert_eq!(moved, [standard, unified], "{delta}");
        }
    }
}
