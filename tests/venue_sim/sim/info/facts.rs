//! Reads of facts about a user: role, agents, allowances, mode.

use super::super::show::{num, usd};
use super::{Reader, account};
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// The answer; none when `kind` is no read of the venue.
pub(super) fn answer(reader: &Reader<'_>, kind: &str) -> Option<Value> {
    let settings = &reader.engine.settings;
    Some(match kind {
        "userRole" => role(reader),
        "extraAgents" => agents(reader),
        "userRateLimit" => rate_limit(reader),
        "subAccounts" => sub_accounts(reader),
        "userToMultiSigSigners" => Value::Null,
        "userFees" => fees(reader),
        "maxBuilderFee" => json!(0),
        "userAbstraction" if reader.known => settings.show().get("abstraction").cloned().unwrap_or_default(),
        "userAbstraction" => json!("default"),
        "userDexAbstraction" => Value::Null,
        "referral" => json!({"referredBy": null, "cumVlm": "0.0", "unclaimedRewards": "0.0", "claimedRewards": "0.0",
            "builderRewards": "0.0", "referrerState": null, "rewardHistory": []}),
        "preTransferCheck" => json!({"isSanctioned": false, "userExists": reader.known, "fee": "0.0",
            "userHasSentTx": reader.known}),
        "userVaultEquities" | "delegations" => json!([]),
        _ => return None,
    })
}

fn role(reader: &Reader<'_>) -> Value {
    let identity = &reader.venue.identity;
    let master = reader.venue.master();
    let owner = master.unwrap_or(identity.account);
    if reader.known && reader.engine.settings.is_vault {
        return json!({"role": "vault"});
    }
    if reader.known {
        return match identity.master {
            Some(master) => json!({"role": "subAccount", "data": {"master": master}}),
            None => json!({"role": "user"}),
        };
    }
    if Some(reader.user) == identity.master {
        return json!({"role": "user"});
    }
    if reader.engine.settings.agent_registered && identity.agents.contains(&reader.user) {
        return json!({"role": "agent", "data": {"user": owner}});
    }
    json!({"role": "missing"})
}

/// The account, when this is its owner.
fn sub_accounts(reader: &Reader<'_>) -> Value {
    let identity = &reader.venue.identity;
    if identity.master != Some(reader.user) {
        return Value::Null;
    }
    let sub = Reader { user: identity.account, known: true, ..*reader };
    json!([{"name": "sub", "subAccountUser": identity.account, "master": reader.user,
        "clearinghouseState": account::clearinghouse(&sub, &Value::Null), "spotState": account::spot(&sub)}])
}

/// Named agents; one without a date is unnamed and not listed.
fn agents(reader: &Reader<'_>) -> Value {
    let (settings, identity) = (&reader.engine.settings, &reader.venue.identity);
    let owner = identity.master.unwrap_or(identity.account);
    let Some(valid_until_ms) = settings.agent_valid_until_ms else { return json!([]) };
    if reader.user != owner || !settings.agent_registered {
        return json!([]);
    }
    let named = identity.agents.iter().enumerate();
    named
        .map(|(index, agent)| json!({"name": format!("agent{index}"), "address": agent, "validUntil": valid_until_ms}))
        .collect()
}

fn rate_limit(reader: &Reader<'_>) -> Value {
    if !reader.known {
        return json!({"cumVlm": "0.0", "nRequestsUsed": 0, "nRequestsCap": 10_000, "nRequestsSurplus": 0});
    }
    json!({"cumVlm": usd(reader.engine.volume()), "nRequestsUsed": reader.venue.requests_used(),
        "nRequestsCap": reader.venue.requests_cap(), "nRequestsSurplus": 0})
}

fn fees(reader: &Reader<'_>) -> Value {
    let settings = &reader.engine.settings;
    let (cross, add) = (num(settings.taker_fee), num(settings.maker_fee));
    let (spot_cross, spot_add) = (num(Decimal::new(7, 4)), num(Decimal::new(4, 4)));
    json!({
        "dailyUserVlm": [], "feeSchedule": {"cross": cross, "add": add, "spotCross": spot_cross, "spotAdd": spot_add,
            "tiers": {"vip": [], "mm": []}, "referralDiscount": "0.04", "stakingDiscountTiers": []},
        "userCrossRate": cross, "userAddRate": add, "userSpotCrossRate": spot_cross, "userSpotAddRate": spot_add,
        "activeReferralDiscount": "0.0", "trial": null, "feeTrialReward": "0.0", "nextTrialAvailableTimestamp": null,
        "stakingLink": null, "activeStakingDiscount": {"bpsOfMaxSupply": "0.0", "discount": "0.0"},
    })
}
