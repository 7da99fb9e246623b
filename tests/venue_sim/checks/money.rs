//! Account value, margin, liquidation price and liquidation, against numbers of live accounts.

use super::*;
use crate::sim::engine::AmendError;
use crate::sim::engine::account::Leverage;
use crate::sim::engine::market::listings;
use crate::sim::engine::settings::Settings;
use proptest::prelude::*;
use serde_json::json;

#[test]
fn a_live_cross_position_comes_out_exactly() {
    let mut engine = Engine::new(Source::Mainnet, dec("26368.2"), 0);
    engine.account.leverage.insert(BTC, Leverage { is_cross: true, value: 10 });
    price(&mut engine, "83926");
    engine.trade_by_hand(BTC, dec("4.5"), dec("81285"));
    let all = engine.summary(false);
    assert_eq!(all.account_value, dec("38252.7"));
    assert_eq!((all.notional, all.margin_used), (dec("377667"), dec("37766.7")));
    assert_eq!(all.raw_usd, dec("-339414.3"));
    assert_eq!(engine.cross_maintenance(), dec("4720.8375"));
    assert_eq!(engine.withdrawable(), dec("486"));
}

#[test]
fn at_the_liquidation_price_the_equity_is_the_maintenance_margin() {
    for (szi, is_cross) in [("1.5", true), ("-1.5", true), ("0.4", false), ("-0.4", false)] {
        let mut engine = engine();
        engine.account.leverage.insert(BTC, Leverage { is_cross, value: 10 });
        engine.trade_by_hand(BTC, dec(szi), dec("60000"));
        engine.trade_by_hand(ETH, dec("3"), dec("2500"));
        let px = engine.liquidation_px(BTC, &engine.account.positions[&BTC]).unwrap();
        engine.market_mut(BTC).unwrap().mark = px;
        let position = &engine.account.positions[&BTC];
        let equity = match position.isolated_usd {
            None => engine.summary(true).account_value - engine.cross_maintenance(),
            Some(usd) => usd + position.szi * px - engine.maintenance(BTC, position),
        };
        assert_eq!(equity.round_dp(9), dec("0"), "{szi} at {px}");
    }
}

#[test]
fn a_live_isolated_position_comes_out_exactly() {
    let mut engine = engine();
    engine.account.leverage.insert(BTC, Leverage { is_cross: false, value: 4 });
    price(&mut engine, "83974");
    engine.trade_by_hand(BTC, dec("0.06075"), dec("83985.7"));
    engine.account.positions.get_mut(&BTC).unwrap().isolated_usd = Some(dec("-3828.81778"));
    let position = &engine.account.positions[&BTC];
    assert_eq!(engine.margin_used(BTC, position), dec("1272.60272"));
    assert_eq!(engine.liquidation_px(BTC, position).unwrap().round_dp(10), dec("63823.6021044955"));
}

#[test]
fn a_live_short_comes_out_exactly() {
    let mut engine = engine();
    engine.market_mut(BTC).unwrap().mark = dec("80870");
    engine.account.cross_usd = dec("1279260.79987858");
    engine.trade_by_hand(BTC, dec("-22"), dec("80870"));
    // The live account held other positions: its whole maintenance margin was this much.
    let others = dec("44258.806876") - engine.cross_maintenance();
    engine.account.cross_usd -= others;
    let position = &engine.account.positions[&BTC];
    // Reported as …4115825814 from numbers that had been rounded.
    assert_eq!(engine.liquidation_px(BTC, position).unwrap().round_dp(6), dec("136313.411583"));
}

#[test]
fn maintenance_has_no_jump_where_tiers_meet() {
    let btc = &listings(Source::Mainnet)[0];
    assert_eq!(btc.maintenance(dec("150000000")), dec("1875000"));
    assert_eq!(btc.maintenance(dec("160000000")), dec("1875000") + dec("10000000") / dec("40"));
}

#[test]
fn the_tick_follows_five_figures_and_the_market() {
    let markets = listings(Source::Mainnet);
    for (index, px, valid) in [
        (0, "60000", true),
        (0, "60000.1", false),
        (0, "9999.1", true),
        (0, "123456", true),
        (1, "2500.1", true),
        (1, "2500.12", false),
        (1, "0.12345", false),
        (4, "0.20001", true),
        (4, "0.200011", false),
        (4, "0.020001", true),
    ] {
        assert_eq!(markets[index].px_valid(dec(px)), valid, "{} {px}", markets[index].name);
    }
    assert_eq!(markets[0].bbo(), Some((dec("59999"), dec("60001"))));
    assert_eq!(markets[4].bbo(), Some((dec("0.19999"), dec("0.20001"))));
}

#[test]
fn closing_realises_and_flipping_starts_anew() {
    let mut engine = engine();
    engine.trade_by_hand(BTC, dec("0.1"), dec("60000"));
    engine.trade_by_hand(BTC, dec("0.2"), dec("61000"));
    assert_eq!(engine.account.positions[&BTC].entry_px, dec("60500"));
    engine.trade_by_hand(BTC, dec("-0.1"), dec("61500"));
    let fill = engine.fills.back().unwrap();
    assert_eq!((fill.dir, fill.closed_pnl, fill.start_position), ("Long > Short", dec("200"), dec("0.2")));
    assert_eq!(engine.account.positions[&BTC].entry_px, dec("61500"));
    engine.trade_by_hand(BTC, dec("0"), dec("60500"));
    assert_eq!(engine.fills.back().unwrap().dir, "Close Short");
    assert_eq!(engine.account.cross_usd, dec("10300"));
}

#[test]
fn an_isolated_position_risks_its_own_margin_only() {
    let mut engine = engine();
    assert_eq!(engine.update_leverage(BTC, false, 10), Ok(()));
    engine.trade_by_hand(BTC, dec("0.1"), dec("60000"));
    assert_eq!(engine.account.cross_usd, dec("9400"));
    assert_eq!(engine.update_leverage(BTC, true, 10), Err(AmendError::SwitchWithPosition));
    assert_eq!(engine.update_isolated_margin(BTC, dec("100")), Ok(()));
    assert_eq!(engine.update_isolated_margin(BTC, dec("-101")), Err(AmendError::MarginRoom));
    assert_eq!(engine.account.cross_usd, dec("9300"));
    price(&mut engine, "50000");
    assert_eq!(engine.szi(BTC), dec("0"), "liquidated");
    assert!(engine.fills.back().unwrap().liquidation_mark.is_some());
    // What the sunk position owed beyond its margin came out of nobody else's pocket but the account's.
    assert!(engine.account.cross_usd < dec("9300"));
}

#[test]
fn a_cross_account_below_maintenance_is_liquidated_with_its_orders() {
    let mut engine = engine();
    engine.trade_by_hand(BTC, dec("3"), dec("60000"));
    let order = oid(&place(&mut engine, limit(ETH, true, "0.01", "2000", Tif::Gtc)));
    let px = engine.liquidation_px(BTC, &engine.account.positions[&BTC]).unwrap();
    price(&mut engine, &px.round_dp(0).checked_add(dec("1")).unwrap().to_string());
    assert_eq!(engine.szi(BTC), dec("3"), "one step before");
    price(&mut engine, &px.round_dp(0).checked_sub(dec("1")).unwrap().to_string());
    assert_eq!(engine.szi(BTC), dec("0"));
    assert_eq!(engine.records[&order].status, "liquidatedCanceled");
    assert!(engine.summary(false).account_value > dec("0"), "the margin left over stays");
}

#[test]
fn leverage_has_its_bounds() {
    let mut engine = engine();
    assert_eq!(engine.update_leverage(BTC, true, 41), Err(AmendError::Leverage));
    assert_eq!(engine.update_leverage(BTC, true, 0), Err(AmendError::Leverage));
    assert_eq!(engine.update_leverage(BTC, true, 40), Ok(()));
    engine.trade_by_hand(BTC, dec("6"), dec("60000"));
    assert_eq!(engine.update_leverage(BTC, true, 20), Err(AmendError::MarginRoom), "18000 needed, 10000 there");
}

#[test]
fn funding_moves_cash_each_hour_when_asked_for() {
    let mut engine = engine();
    engine.settings.funding_rate = dec("0.0001");
    engine.trade_by_hand(BTC, dec("-1"), dec("60000"));
    engine.advance_to(engine.now_ms + 3_600_000);
    assert_eq!(engine.summary(false).account_value, dec("10006"));
    assert_eq!(engine.funding[0].usd, dec("6"));
}

#[test]
fn every_setting_takes_back_what_it_shows() {
    let mut settings = Settings::default();
    let shown = settings.show();
    for (name, value) in shown.as_object().unwrap() {
        settings.set(name, value).unwrap();
    }
    assert_eq!(settings.show(), shown);
    assert_eq!(
        settings.set("nothing", &json!(1)).unwrap_err().to_string(),
        "no setting `nothing`; GET /sim lists them"
    );
    assert!(settings.set("bad_price", &json!("sometimes")).is_err());
    settings.set("weight_limit", &json!(null)).unwrap();
    assert_eq!(settings.weight_limit, None);
}

#[test]
fn an_isolated_position_closed_in_part_keeps_its_share_of_the_margin() {
    let mut engine = engine();
    engine.account.leverage.insert(BTC, Leverage { is_cross: false, value: 10 });
    engine.trade_by_hand(BTC, dec("0.4"), dec("60000"));
    engine.trade_by_hand(BTC, dec("0.1"), dec("61000"));
    let position = &engine.account.positions[&BTC];
    assert_eq!(position.isolated_usd, Some(dec("-5400")), "a quarter of 2400 - 24000");
    assert_eq!(engine.account.cross_usd, dec("10000") - dec("2400") + dec("18300") - dec("16200"));
}

proptest! {
    /// Whatever is traded, at whatever prices and in either margin mode: what the account is worth is what it started
    /// with, and the profits, realised and not, less the fees.
    #[test]
    fn no_money_appears_or_vanishes(
        steps in prop::collection::vec((-20i64..=20, 55_000i64..65_000, any::<bool>()), 1..40)
    ) {
        let mut engine = engine();
        for (lots, px, is_cross) in steps {
            // Small enough that no price here liquidates anything.
            let (szi, px) = (Decimal::new(lots, 3), Decimal::from(px));
            let _ = engine.update_leverage(BTC, is_cross, 4);
            engine.set_price("BTC", px, px);
            engine.trade_by_hand(BTC, szi, px);
            let order = limit(BTC, lots > 0, "0.001", if lots > 0 { "66000" } else { "54000" }, Tif::Ioc);
            place(&mut engine, order);

            let booked: Decimal = engine.fills.iter().map(|fill| fill.closed_pnl - fill.fee).sum();
            let open: Decimal = engine.account.positions.values().map(|held| held.unrealized_pnl(px)).sum();
            let value = engine.summary(false).account_value;
            prop_assert_eq!((value - dec("10000") - booked - open).round_dp(9), dec("0"));
        }
        prop_assert!(engine.fills.iter().all(|fill| fill.liquidation_mark.is_none()));
    }
}
