//! Nonces, weights, TWAP orders and the scheduled cancel.

use super::*;
use crate::sim::engine::AmendError;
use crate::sim::engine::twap::TwapSpec;
use crate::sim::nonces::{NonceError, Nonces};
use crate::sim::weights::{Weights, exchange_weight, info_weight};
use svc_guard::base::address::Address;

const NOW: u64 = 1_700_000_000_000;
const DAY: u64 = 86_400_000;
const MARGIN: u64 = 120_000;

#[test]
fn a_nonce_is_used_once_and_lies_in_the_window() {
    let mut nonces = Nonces::default();
    let signer = Address([1; 20]);
    let mut burn = |nonce| nonces.burn(signer, nonce, NOW, MARGIN);
    assert_eq!(burn(NOW), Ok(()));
    assert_eq!(burn(NOW), Err(NonceError::Duplicate(NOW)));
    let (floor, ceiling) = (NOW - 2 * DAY + MARGIN, NOW + DAY - MARGIN);
    assert_eq!(burn(floor), Ok(()));
    assert_eq!(burn(floor - 1), Err(NonceError::TooLow { nonce: floor - 1, floor }));
    assert_eq!(burn(ceiling), Ok(()));
    assert_eq!(burn(ceiling + 1), Err(NonceError::TooHigh { nonce: ceiling + 1, ceiling }));
    let text = NonceError::TooLow { nonce: 1, floor: 2 }.to_string();
    assert_eq!(text, "Invalid nonce: nonce too low 1 < 2");
}

#[test]
fn a_nonce_lies_above_the_smallest_of_the_hundred_highest() {
    let mut nonces = Nonces::default();
    let signer = Address([1; 20]);
    for step in 0..100 {
        assert_eq!(nonces.burn(signer, NOW + 2 * step, NOW, MARGIN), Ok(()));
    }
    let low = NOW - 1;
    assert_eq!(nonces.burn(signer, low, NOW, MARGIN), Err(NonceError::TooLow { nonce: low, floor: NOW }));
    assert_eq!(nonces.burn(signer, NOW + 1, NOW, MARGIN), Ok(()), "out of order within the window is fine");
    assert_eq!(nonces.burn(signer, NOW, NOW, MARGIN), Err(NonceError::Duplicate(NOW)), "below the floor by now");
    assert_eq!(nonces.burn(Address([2; 20]), low, NOW, MARGIN), Ok(()), "each signer has its own");
}

#[test]
fn a_minute_holds_so_much_weight() {
    let mut weights = Weights::default();
    assert!(weights.spend(NOW, 1_190, Some(1_200)));
    assert!(!weights.spend(NOW + 1, 11, Some(1_200)));
    assert!(weights.spend(NOW + 1, 10, Some(1_200)));
    assert!(weights.spend(NOW + 60_000, 1_190, Some(1_200)));
    assert_eq!(weights.used(NOW + 60_000), 1_200);
    assert!(weights.spend(NOW + 60_000, 1_000_000, None));
    assert_eq!((exchange_weight(39), exchange_weight(40), exchange_weight(80)), (1, 2, 3));
    assert_eq!((info_weight("allMids", 8), info_weight("userFills", 45), info_weight("userRole", 0)), (2, 22, 60));
}

fn twap(minutes: u64) -> TwapSpec {
    TwapSpec { asset: BTC, is_buy: true, sz: dec("0.1"), reduce_only: false, minutes, randomize: false }
}

#[test]
fn a_twap_sends_a_slice_every_half_minute_until_it_is_done() {
    let mut engine = engine();
    assert_eq!(engine.start_twap(twap(1)), Err("Invalid TWAP duration: 1 min(s)".into()));
    let id = engine.start_twap(twap(5)).unwrap();
    assert_eq!(engine.szi(BTC), dec("0.01"));
    engine.advance_to(engine.now_ms + 29_999);
    assert_eq!(engine.szi(BTC), dec("0.01"));
    engine.advance_to(engine.now_ms + 1);
    assert_eq!(engine.szi(BTC), dec("0.02"));
    engine.advance_to(engine.now_ms + 600_000);
    assert_eq!((engine.szi(BTC), engine.twaps[&id].status), (dec("0.1"), "finished"));
    assert!(engine.fills.iter().all(|fill| fill.twap_id == Some(id)));
}

#[test]
fn a_cancelled_twap_sends_no_more() {
    let mut engine = engine();
    let id = engine.start_twap(twap(5)).unwrap();
    assert_eq!(engine.cancel_twap(BTC, id), Ok(()));
    assert!(engine.cancel_twap(BTC, id).is_err());
    engine.advance_to(engine.now_ms + 600_000);
    assert_eq!(engine.szi(BTC), dec("0.01"));
}

#[test]
fn a_scheduled_cancel_needs_volume_and_then_takes_everything() {
    let mut engine = engine();
    let at_ms = engine.now_ms + 10_000;
    assert!(matches!(engine.schedule_cancel(Some(at_ms)), Err(AmendError::ScheduleVolume(_))));
    engine.settings.prior_volume = dec("1000000");
    assert_eq!(engine.schedule_cancel(Some(engine.now_ms + 1)), Err(AmendError::ScheduleTooSoon));
    engine.schedule_cancel(Some(at_ms)).unwrap();
    place(&mut engine, limit(BTC, true, "0.1", "59000", Tif::Gtc));
    engine.advance_to(at_ms - 1);
    assert_eq!(engine.orders.len(), 1);
    engine.advance_to(at_ms);
    assert_eq!(fates(&engine), ["scheduledCancel"]);
}
