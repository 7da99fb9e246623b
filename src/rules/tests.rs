//! The rules' own tests: ranges at the limit and one step past, the code both ways, looser-than key by key.

use super::table::ROWS;
use crate::base::sealed::CodeError;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;
use rust_decimal::Decimal;
use sha3::{Digest, Keccak256};

use super::*;

/// The default rules' code: pinned, since owners keep codes.
const DEFAULT_JSON: &str = concat!(
    r#"{"collar":"0.5","daily_loss":"5","drawdown":"15","duplicate_window":"1","exposure":"300","leverage":5,"#,
    r#""loss_per_trade":"2","markets":"all","max_stop":"5","open_orders":50,"open_risk":"6","order_value":null,"#,
    r#""orders_per_minute":60,"position":"100","stop":"2"}"#
);

fn code_of(json: &str) -> String {
    let sum: [u8; 32] = Keccak256::digest(json.as_bytes()).into();
    let mut payload = sum[..4].to_vec();
    payload.extend_from_slice(json.as_bytes());
    format!("sr1_{}", URL_SAFE_NO_PAD.encode(payload))
}

fn problems(result: Result<Rules, RulesError>) -> Vec<String> {
    match result {
        Err(RulesError::Problems(Problems(list))) => list.iter().map(ToString::to_string).collect(),
        other => panic!("expected problems, got {other:?}"),
    }
}

#[test]
fn the_default_rules_have_one_code() {
    let rules = Rules::default();
    assert_eq!(rules.to_json(), DEFAULT_JSON);
    assert_eq!(rules.to_code(), code_of(DEFAULT_JSON));
    assert_eq!(Rules::from_code(&rules.to_code()), Ok(rules));
}

#[test]
fn rows_are_sorted_and_unique() {
    assert!(ROWS.windows(2).all(|pair| pair[0].key < pair[1].key));
}

/// Each numeric key: lowest, one step below, highest, one step above, as TOML.
#[test]
fn each_range_holds_at_its_limit_and_ends_one_step_past() {
    let cases: &[(&str, &str, &str, &str, &str)] = &[
        ("collar", "'0.01'", "'0'", "'50'", "'50.01'"),
        ("daily_loss", "'0.01'", "'0'", "'100'", "'100.01'"),
        ("drawdown", "'0.01'", "'0'", "'100'", "'100.01'"),
        ("duplicate_window", "'0'", "-1", "'3600'", "'3600.001'"),
        ("exposure", "'1'", "'0.99'", "'10000'", "'10000.01'"),
        ("leverage", "1", "0", "100", "101"),
        ("loss_per_trade", "'0.01'", "'0'", "'100'", "'100.01'"),
        ("max_stop", "'0.05'\nstop = '0.05'", "'0.04'", "'50'", "'50.01'"),
        ("open_orders", "1", "0", "1000", "1001"),
        ("open_risk", "'0.01'", "'0'", "'100'", "'100.01'"),
        ("order_value", "'10'", "'9.99'", "'1000000000'", "'1000000000.01'"),
        ("orders_per_minute", "1", "0", "1200", "1201"),
        ("position", "'1'", "'0.99'", "'10000'", "'10000.01'"),
        ("stop", "'0.05'", "'0.04'", "'50'\nmax_stop = '50'", "'50.01'\nmax_stop = '50'"),
    ];
    assert_eq!(cases.len(), ROWS.len() - 1, "every key but markets");
    for (key, lowest, below, highest, above) in cases {
        for good in [lowest, highest] {
            let rules = Rules::from_toml(&format!("{key} = {good}")).unwrap();
            assert_eq!(Rules::from_code(&rules.to_code()), Ok(rules), "{key} = {good}");
        }
        for bad in [below, above] {
            let found = problems(Rules::from_toml(&format!("{key} = {bad}")));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with(&format!("{key} = ")), "{found:?}");
            assert!(found[0].contains("from") && found[0].contains(" to "), "{found:?}");
        }
    }
}

#[test]
fn one_digit_too_many_is_refused() {
    for text in ["collar = '0.501'", "duplicate_window = '0.0001'", "order_value = '10.001'"] {
        assert_eq!(problems(Rules::from_toml(text)).len(), 1, "{text}");
    }
    assert!(Rules::from_toml("collar = '0.500'").is_ok(), "trailing zeros change nothing");
}

#[test]
fn every_problem_is_reported_at_once() {
    let found =
        problems(Rules::from_toml("collar = 0.5\nleverage = '5'\nlosses = 1\nmarkets = ['BTC', 'BTC']\nstop = true"));
    let keys: Vec<&str> = found.iter().filter_map(|text| text.split([' ', ':']).next()).collect();
    assert_eq!(keys, ["collar", "leverage", "losses", "markets", "stop"]);
    assert!(matches!(Rules::from_toml("collar = "), Err(RulesError::Toml(_))));
    assert!(matches!(Rules::from_toml("stop = 1\nstop = 2"), Err(RulesError::Toml(_))));
}

#[test]
fn a_stop_wider_than_the_widest_is_refused() {
    let found = problems(Rules::from_toml("stop = '5.01'"));
    assert_eq!(found, ["stop = 5.01: must not be wider than max_stop (5)"]);
    assert!(Rules::from_toml("stop = 5").is_ok());
}

#[test]
fn markets_are_core_perps_only() {
    let rules = Rules::from_toml("markets = ['kPEPE', 'BTC']").unwrap();
    assert!(rules.to_json().contains(r#""markets":["BTC","kPEPE"]"#));
    assert!(rules.markets.allows("BTC") && !rules.markets.allows("btc") && Markets::All.allows("ETH"));
    let most =
        |count: usize| format!("markets = {:?}", (0..count).map(|place| format!("C{place}")).collect::<Vec<_>>());
    assert!(Rules::from_toml(&most(MAX_COINS)).is_ok());
    assert_eq!(problems(Rules::from_toml(&most(MAX_COINS + 1))).len(), 1);
    for bad in [
        "[]",
        "['all', 'ETH']",
        "'BTC'",
        "['xyz:GOLD']",
        "['@107']",
        "['PURR/USDC']",
        "[1]",
        "['']",
        "['ABCDEFGHIJKLMNOPQ']",
    ] {
        assert_eq!(problems(Rules::from_toml(&format!("markets = {bad}"))).len(), 1, "{bad}");
    }
}

#[test]
fn the_longest_rules_fit_a_code() {
    let coins = (0..MAX_COINS).map(|place| Coin::parse(&format!("LONGESTCOIN{place:05}")).unwrap()).collect();
    let rules = Rules { markets: Markets::List(coins), ..Rules::default() };
    assert_eq!(Rules::from_code(&rules.to_code()), Ok(rules));
}

#[test]
fn only_the_canonical_payload_is_read() {
    let code = |json: &str| Rules::from_code(&code_of(json));
    let not_canonical =
        |json: String| assert_eq!(code(&json), Err(RulesError::Code(CodeError::NotCanonical)), "{json}");
    not_canonical(DEFAULT_JSON.replace(r#""0.5""#, r#""0.50""#));
    not_canonical(DEFAULT_JSON.replace(r#""300""#, "300"));
    not_canonical(DEFAULT_JSON.replace(r#":"5""#, r#": "5""#));
    not_canonical(DEFAULT_JSON.replace(r#""stop":"2""#, r#""stop":"3","stop":"2""#));
    not_canonical(DEFAULT_JSON.replace(r#","stop":"2""#, "").replacen('{', r#"{"stop":"2","#, 1));
    not_canonical(DEFAULT_JSON.replace(r#""all""#, r#"["ETH","BTC"]"#));
    assert_eq!(problems(code(&DEFAULT_JSON.replace(r#","stop":"2""#, "")))[0], "stop: missing from the rules code");
    assert!(
        problems(code(&DEFAULT_JSON.replace(r#""stop":"2""#, r#""stop":"2","x":1"#)))[0]
            .starts_with("x: is not a rule")
    );
    assert_eq!(code("[]"), Err(RulesError::Code(CodeError::Content)));
    assert_eq!(code(&"[".repeat(5_000)), Err(RulesError::Code(CodeError::Content)));
}

#[test]
fn a_code_that_is_no_code_is_refused() {
    let refused = |code: &str, error| assert_eq!(Rules::from_code(code), Err(RulesError::Code(error)), "{code:.20}");
    refused("", CodeError::Prefix("sr1_"));
    refused("SR1_AAAA", CodeError::Prefix("sr1_"));
    refused("sr1_", CodeError::Checksum);
    refused("sr1_AAA", CodeError::Checksum);
    refused("sr1_A", CodeError::Text);
    refused("sr1_AA AA", CodeError::Broken);
    refused(&format!("sr1_{}", "A".repeat(10_000)), CodeError::Length(10_004, 10_000));
}

/// Every substitution, deletion, doubling and swap of one character of a code is refused.
#[test]
fn any_single_typing_error_is_refused() {
    let code = Rules::default().to_code();
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_= +/";
    let refused = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        assert!(text == code || Rules::from_code(&text).is_err(), "{text}");
    };
    for place in 0..code.len() {
        for &letter in alphabet {
            let mut typed = code.clone().into_bytes();
            typed[place] = letter;
            refused(&typed);
        }
        let mut typed = code.clone().into_bytes();
        let letter = typed.remove(place);
        refused(&typed);
        typed.splice(place..place, [letter, letter]);
        refused(&typed);
        let mut typed = code.clone().into_bytes();
        if place + 1 < typed.len() {
            typed.swap(place, place + 1);
            refused(&typed);
        }
    }
}

#[test]
fn looser_is_said_key_by_key() {
    let looser = |text: &str| Rules::from_toml(text).unwrap().looser_than_default();
    assert!(Rules::default().looser_than_default().is_empty());
    for (key, strict, loose) in [
        ("collar", "'0.49'", "'0.51'"),
        ("daily_loss", "'4.99'", "'5.01'"),
        ("drawdown", "'14.99'", "'15.01'"),
        ("duplicate_window", "'1.001'", "'0.999'"),
        ("exposure", "'299.99'", "'300.01'"),
        ("leverage", "4", "6"),
        ("loss_per_trade", "'1.99'", "'2.01'"),
        ("max_stop", "'4.99'", "'5.01'"),
        ("open_orders", "49", "51"),
        ("open_risk", "'5.99'", "'6.01'"),
        ("orders_per_minute", "59", "61"),
        ("position", "'99.99'", "'100.01'"),
        ("stop", "'1.99'", "'2.01'"),
    ] {
        assert!(looser(&format!("{key} = {strict}")).is_empty(), "{key}");
        assert_eq!(looser(&format!("{key} = {loose}")), [key]);
    }
    // The defaults of these two are the loosest there is.
    assert!(looser("order_value = '1000000000'\nmarkets = ['BTC']").is_empty());
    let narrow = Rules::from_toml("order_value = '100'\nmarkets = ['BTC']").unwrap();
    assert_eq!(Rules::default().looser_than(&narrow), ["markets", "order_value"]);
    let other = Rules::from_toml("order_value = '100.01'\nmarkets = ['ETH']").unwrap();
    assert_eq!(other.looser_than(&narrow), ["markets", "order_value"]);
}

#[test]
fn rules_are_said_in_words() {
    let lines = Rules::from_toml("loss_per_trade = '2.5'").unwrap().describe();
    assert_eq!(lines.len(), ROWS.len());
    let line = lines.iter().find(|line| line.key == "loss_per_trade").unwrap();
    assert_eq!((line.value.as_str(), line.looser), ("\"2.5\"", true));
    assert_eq!(line.words, "a market's stop loses at most 2.5% of equity");
    assert!(lines.iter().all(|line| !line.words.contains("{}")));
}

#[test]
fn the_duplicate_window_is_given_in_milliseconds() {
    for (seconds, ms) in [("0", 0), ("0.001", 1), ("1", 1_000), ("3600", 3_600_000)] {
        assert_eq!(Rules::from_toml(&format!("duplicate_window = '{seconds}'")).unwrap().duplicate_window_ms(), ms);
    }
}

fn percent(min: u32, max: u32) -> impl Strategy<Value = Decimal> {
    (min..=max).prop_map(|hundredths| Decimal::from_parts(hundredths, 0, 0, false, 2))
}

prop_compose! {
    fn any_rules()(
        losses in (percent(1, 10_000), percent(1, 10_000), percent(1, 10_000), percent(1, 10_000)),
        collar in percent(1, 5_000), stops in (percent(5, 5_000), percent(5, 5_000)),
        sizes in (percent(100, 1_000_000), percent(100, 1_000_000), proptest::option::of(percent(1_000, 100_000_000))),
        counts in (1_u32..=100, 1_u32..=1_200, 1_u32..=1_000), window_ms in 0_u32..=3_600_000,
        coins in proptest::collection::btree_set("[A-Za-z0-9]{1,16}", 0..8),
    ) -> Rules {
        let coins: std::collections::BTreeSet<Coin> = coins.iter().filter_map(|coin| Coin::parse(coin)).collect();
        Rules {
            markets: if coins.is_empty() { Markets::All } else { Markets::List(coins) },
            loss_per_trade: losses.0, open_risk: losses.1, daily_loss: losses.2, drawdown: losses.3,
            collar, stop: stops.0.min(stops.1), max_stop: stops.0.max(stops.1),
            leverage: counts.0, position: sizes.0, exposure: sizes.1, order_value: sizes.2,
            orders_per_minute: counts.1, open_orders: counts.2,
            duplicate_window: Decimal::from_parts(window_ms, 0, 0, false, 3),
        }
    }
}

proptest! {
    #[test]
    fn a_code_brings_back_its_rules(rules in any_rules()) {
        prop_assert_eq!(Rules::from_code(&rules.to_code()), Ok(rules));
    }

    #[test]
    fn looser_is_a_strict_order_on_each_key(a in any_rules(), b in any_rules()) {
        prop_assert!(a.looser_than(&a).is_empty());
        for key in a.looser_than(&b) {
            // Two lists may each allow what the other does not; every other key goes one way only.
            prop_assert!(key == "markets" || !b.looser_than(&a).contains(&key));
        }
    }

    #[test]
    fn no_text_makes_the_reader_fall(text in ".{0,200}", bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Rules::from_code(&text);
        let _ = Rules::from_toml(&text);
        let _ = Rules::from_code(&code_of(&String::from_utf8_lossy(&bytes)));
    }
}

/// The worst losses that the texts state are those of the default rules, of an equity of 10,000 USDC.
#[test]
fn the_worst_losses_that_are_stated_are_those_of_the_default_rules() {
    let (rules, equity) = (Rules::default(), Decimal::from(10_000));
    let usdc = |percent: Decimal| {
        let amount = equity * percent / Decimal::ONE_HUNDRED;
        let digits = amount.normalize().to_string();
        match digits.split_at_checked(digits.len().saturating_sub(3)) {
            Some((thousands, rest)) if !thousands.is_empty() => format!("{thousands},{rest}"),
            _ => digits,
        }
    };
    let of_exposure = |percent: Decimal| usdc(rules.exposure * percent / Decimal::ONE_HUNDRED);
    let (day, days) = (rules.daily_loss + rules.open_risk, rules.drawdown + rules.open_risk);
    // A tenth of the price, in a book that is empty for as long.
    let thin = (usdc(rules.position / Decimal::TEN), usdc(rules.exposure / Decimal::TEN));
    let mut left = Decimal::ONE;
    let full_days = (1..).take_while(|_| {
        left *= Decimal::ONE - rules.daily_loss / Decimal::ONE_HUNDRED;
        left > Decimal::ONE - rules.drawdown / Decimal::ONE_HUNDRED
    });
    let ordinal = ["first", "second", "third", "fourth", "fifth", "sixth"][full_days.count()];
    let told = |page: &str| {
        let path = format!("{}/{page}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let manual = told("man/svc-guard-codes.7");
    for figure in [
        format!("fires at {}%, {} USDC", rules.daily_loss, usdc(rules.daily_loss)),
        format!("exposure, {} USDC: {} USDC for each percent", usdc(rules.exposure), of_exposure(Decimal::ONE)),
        format!("Open risk of {}% bounds what stops", rules.open_risk),
        format!("{} + {} = {} USDC", usdc(rules.daily_loss), usdc(rules.open_risk), usdc(day)),
        format!("up to 0.2% between them, {} USDC", of_exposure(Decimal::new(2, 1))),
        format!("fires at {}%, {} USDC", rules.drawdown, usdc(rules.drawdown)),
        format!("{} + {} = {} USDC", usdc(rules.drawdown), usdc(rules.open_risk), usdc(days)),
        format!("on the {ordinal} day"),
        format!("largest position, {} USDC, loses {} USDC", usdc(rules.position), thin.0),
        format!("of the largest exposure {} USDC", thin.1),
    ] {
        assert!(manual.contains(&figure), "{figure}");
    }
    let stated = format!("at most {} in a day and {} until the drawdown halt", usdc(day), usdc(days));
    let architecture = told("ARCHITECTURE.md");
    assert!(architecture.contains(&stated) && architecture.contains(&format!("{} where it is empty for 10%", thin.1)));
}
