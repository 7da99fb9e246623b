//! The config both ways, and the home's permissions.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use nix::unistd::Uid;
use proptest::prelude::*;
use rust_decimal::Decimal;

use super::parse::{ParseError, parse};
use super::render::render;
use super::*;
use crate::base::address::Address;
use crate::base::files::Why;
use crate::base::ip_share::IpShare;
use crate::base::mode::{Mode, Network};
use crate::base::origin::Origin;
use crate::rules::Rules;

const ACCOUNT: &str = "0x1111111111111111111111111111111111111111";

fn minimal(more: &str) -> String {
    format!("mode = 'paper'\naccount = '{ACCOUNT}'\nrules = '{}'\n{more}", Rules::default().to_code())
}

fn config(text: &str) -> Config {
    match parse(text) {
        Ok(LoadedConfig::SetUp(config)) => *config,
        other => panic!("expected a config, got {other:?}"),
    }
}

fn problems(text: &str) -> Vec<String> {
    match parse(text) {
        Err(ParseError::Problems(list)) => list.0.iter().map(ToString::to_string).collect(),
        other => panic!("expected problems, got {other:?}"),
    }
}

#[test]
fn a_minimal_config_takes_the_defaults() {
    let config = config(&minimal(""));
    assert_eq!(config, Config::new(Mode::Paper, Address([0x11; 20]), Rules::default(), Deployment::default()));
    assert_eq!(config.listen.to_string(), "127.0.0.1:8547");
    assert_eq!(config.account_network, Network::Mainnet);
    assert_eq!(config.venue_url(), "https://api.hyperliquid.xyz");
    assert_eq!(config.ip_share, IpShare::WHOLE);
    let testnet = minimal("").replace("'paper'", "'testnet'");
    assert_eq!(super::tests::config(&testnet).venue_url(), "https://api.hyperliquid-testnet.xyz");
}

#[test]
fn every_key_is_read_and_written() {
    let text = minimal(
        "account_network = 'testnet'\napi_wallet = '0x2222222222222222222222222222222222222222'\n\
         api_wallet_owner = '0x4444444444444444444444444444444444444444'\nlisten = 'localhost:0'\nip_share = '1/3'\nallow_mainnet = true\nrefuse_mainnet = 'not \"yet\"'\n\
         equity_cap = 10000.5\nkey_store = 'host-creds'\njournal_fallback = '/mnt/other'\nallowed_hosts = ['Guard:1']\n\
         [auth]\nclients = ['0x3333333333333333333333333333333333333333']\nrequire_network = true\n\
         [venue]\nurl = 'http://127.0.0.1:9000/'\n[watch]\nprices_ms = 50\naccount_ms = 10000\nopen_orders_ms = 30000\n",
    );
    let read = config(&text);
    assert_eq!(read.listen.to_string(), "127.0.0.1:0");
    assert_eq!(read.ip_share.to_string(), "1/3");
    assert_eq!(read.equity_cap, Some(Decimal::new(100_005, 1)));
    assert_eq!(read.key_store, KeyStore::HostCreds);
    assert_eq!(read.deployment.allowed_hosts, ["guard:1"]);
    assert_eq!(read.venue_url(), "http://127.0.0.1:9000");
    assert_eq!(read.deployment.watch.open_orders_ms, Some(30_000));
    assert_eq!(config(&render(&read)), read);
}

#[test]
fn an_ip_share_may_be_text_or_a_number() {
    for (text, shown) in [("1", "1"), ("1.0", "1"), ("0.25", "1/4"), ("'0.25'", "1/4"), ("'1/3'", "1/3")] {
        assert_eq!(config(&minimal(&format!("ip_share = {text}"))).ip_share.to_string(), shown);
    }
    for text in ["0.1", "'1/9'", "2", "inf", "nan", "true", "-1"] {
        let found = problems(&minimal(&format!("ip_share = {text}")));
        assert!(found.len() == 1 && found[0].starts_with("ip_share = "), "{found:?}");
    }
    assert!(problems(&minimal("ip_share = '1/10'"))[0].contains("leaves 120 of the venue's 1200"));
}

#[test]
fn every_problem_is_named_at_once() {
    let found = problems(
        "mode = 'live'\nlisten = 8547\nallow_mainnet = 'yes'\nspeed = 1\nallowed_hosts = ['a b', 'c', 'c']\n\
         equity_cap = '0'\nrefuse_mainnet = ''\njournal_fallback = 'here'\n\
         [auth]\nclients = [1, '0x12']\nclient = 'x'\n[venue]\nurl = 'x'\n[watch]\nprices_ms = 49\naccount_ms = 10001\n\
         open_orders_ms = '5'\n[other]\n",
    );
    let keys: Vec<&str> = found.iter().map(|text| text.split([' ', ':']).next().unwrap()).collect();
    let expected = [
        "venue.url",
        "watch.prices_ms",
        "watch.account_ms",
        "watch.open_orders_ms",
        "allowed_hosts",
        "allowed_hosts",
        "mode",
        "account",
        "rules",
        "listen",
        "allow_mainnet",
        "refuse_mainnet",
        "equity_cap",
        "journal_fallback",
        "auth.clients",
        "auth.clients",
        "auth.client",
        "other",
        "speed",
    ];
    assert_eq!(keys, expected);
    assert!(matches!(parse("mode = "), Err(ParseError::Toml(_))));
    assert!(problems(&minimal("auth = 1"))[0].starts_with("auth = 1: must be a table"));
}

#[test]
fn keys_that_disagree_are_refused() {
    let mainnet = |more: &str| minimal(more).replace("'paper'", "'mainnet'");
    assert!(problems(&mainnet("[venue]\nurl = 'http://venue.test'"))[0].contains("https or on loopback"));
    config(&mainnet("[venue]\nurl = 'https://venue.test'"));
    config(&mainnet("[venue]\nurl = 'http://127.0.0.1:9'"));
    config(&minimal("[venue]\nurl = 'http://venue.test'"));
    assert!(problems(&mainnet("account_network = 'testnet'"))[0].starts_with("account_network"));
    assert!(problems(&minimal(&format!("api_wallet = '{ACCOUNT}'")))[0].starts_with("api_wallet"));
    // Without the wallet that it is of it says nothing.
    config(&minimal(&format!("api_wallet_owner = '{ACCOUNT}'")));
    assert!(problems(&minimal(&format!("[auth]\nclients = ['{ACCOUNT}']")))[0].starts_with("auth.clients"));
}

#[test]
fn a_file_with_the_deployment_alone_is_an_empty_home() {
    assert_eq!(parse("").unwrap(), LoadedConfig::NotSetUp(Deployment::default()));
    let text = "allowed_hosts = ['guard']\n[venue]\nurl = 'http://127.0.0.1:1'\n[watch]\naccount_ms = 100\n";
    let Ok(LoadedConfig::NotSetUp(deployment)) = parse(text) else { panic!("not empty") };
    assert_eq!(deployment.venue_url.as_ref().map(Origin::as_str), Some("http://127.0.0.1:1"));
    assert_eq!(deployment.watch.account_ms, Some(100));
    let set_up = Config::new(Mode::Paper, Address([0x11; 20]), Rules::default(), deployment.clone());
    assert_eq!(config(&render(&set_up)).deployment, deployment);
    assert!(problems("[auth]\n").iter().any(|text| text.starts_with("mode: is missing")));
    assert_eq!(problems("[venue]\nurl = 'x'\n").len(), 1);
}

fn edited(text: &str, change: impl Fn(&Path, &str) -> Result<(), ConfigError>) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("guard.toml");
    change(&path, text).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o644);
    fs::read_to_string(&path).unwrap()
}

#[test]
fn adding_a_client_leaves_the_rest_as_it_was_written() {
    let client = Address([0x44; 20]);
    let first = "0x3333333333333333333333333333333333333333";
    let kept = format!("# mine\n{}", minimal("# also mine\n"));
    for (auth, comments) in [
        (format!("[auth]\nclients = [ '{first}' ] # bots\n[watch]\n"), 3),
        (format!("auth.clients = ['{first}'] # bots\n"), 3),
        (String::new(), 2),
        ("[auth] # who\n".to_owned(), 3),
        ("[auth] # who".to_owned(), 3),
        ("[ auth ] # who\nrequire_network = true # never off\n".to_owned(), 4),
        ("[auth]\n# never off\nrequire_network = true # or lose\n".to_owned(), 4),
        ("auth.require_network = true # never off\n[watch]\n".to_owned(), 3),
        ("[auth]\nclients = [ # none yet, ask Bob\n  # really\n]\n".to_owned(), 4),
        (format!("[auth]\nclients = [\n  '{first}' # main\n  , # a comma\n]\n"), 4),
        ("auth = { require_network = true } # never off\n".to_owned(), 0),
    ] {
        let before = config(&format!("{kept}{auth}"));
        let text = edited(&format!("{kept}{auth}"), |path, text| add_client(path, text, client));
        let after = config(&text);
        assert_eq!(after.auth.clients, [before.auth.clients.clone(), vec![client]].concat());
        assert_eq!(Config { auth: before.auth.clone(), ..after.clone() }, before);
        // Where there is no list yet inside a table that is, the whole is written anew.
        assert!(text.matches('#').count() >= comments, "{text}");
    }
}

#[test]
fn a_new_client_stands_behind_the_last_one_and_its_words() {
    let (first, second, new) = ("33".repeat(20), "55".repeat(20), Address([0x44; 20]));
    for (list, expected) in [
        (
            format!("[\n  '0x{first}', # scalper\n  '0x{second}' # hedger, of bob's\n  # no more\n] # bots\n"),
            format!("'0x{second}', # hedger, of bob's\n  # no more\n  \"{new}\",\n] # bots\n"),
        ),
        (
            format!("[ # mine\n    '0x{first}',\n    '0x{second}', # hedger\n    ]\n"),
            format!("'0x{second}', # hedger\n    \"{new}\",\n]\n"),
        ),
        (format!("['0x{first}', '0x{second}',] # bots\n"), format!("'0x{second}', \"{new}\",] # bots\n")),
        (format!("['0x{first}', '0x{second}'\n] # bots\n"), format!("'0x{second}',\n    \"{new}\",\n] # bots\n")),
    ] {
        let before = minimal(&format!("[auth]\nclients = {list}"));
        let text = edited(&before, |path, text| add_client(path, text, new));
        assert!(text.ends_with(&expected) && text.matches('#').count() == before.matches('#').count(), "{text}");
        assert_eq!(config(&text).auth.clients.last(), Some(&new));
    }
}

/// Nobody reads a config that was kept from them.
#[test]
fn a_changed_config_is_readable_by_whom_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("guard.toml");
    for (before, after) in [(0o600, 0o600), (0o640, 0o640), (0o644, 0o644), (0o666, 0o644)] {
        fs::write(&path, minimal("")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(before)).unwrap();
        add_client(&path, &minimal(""), Address([0x44; 20])).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, after);
    }
    if Uid::effective().is_root() {
        std::os::unix::fs::chown(&path, None, Some(1234)).unwrap();
        add_client(&path, &minimal(""), Address([0x55; 20])).unwrap();
        assert_eq!(std::os::unix::fs::MetadataExt::gid(&fs::metadata(&path).unwrap()), 1234);
    }
}

#[test]
fn a_client_that_cannot_stand_is_not_added() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("guard.toml");
    let client = Address([0x44; 20]);
    assert!(add_client(&path, &minimal(""), Address([0x11; 20])).is_err());
    assert!(add_client(&path, &minimal(&format!("[auth]\nclients = ['{client}']")), client).is_err());
    assert!(add_client(&path, "", client).is_err());
    assert!(!path.exists());
}

#[test]
fn the_api_wallet_is_recorded_above_everything() {
    let text = edited(&format!("# mine\n{}", minimal("[watch]\n")), |path, text| {
        set_api_wallet(path, text, Address([0x22; 20]), Address([0x33; 20]))
    });
    assert_eq!(config(&text).api_wallet, Some(Address([0x22; 20])));
    assert_eq!(config(&text).api_wallet_owner, Some(Address([0x33; 20])));
    assert!(text.contains("# mine"));
    // One that a person wrote stays where it stands.
    let named = minimal("api_wallet = '0x2222222222222222222222222222222222222222' # mine");
    let text = edited(&named, |path, text| set_api_wallet(path, text, Address([0x22; 20]), Address([0x33; 20])));
    assert_eq!(config(&text).api_wallet_owner, Some(Address([0x33; 20])));
    assert!(text.contains("# mine"));
}

#[test]
fn a_config_of_someone_else_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("guard.toml");
    let mine = [Uid::effective().as_raw()];
    assert_eq!(load(&path, &mine).unwrap(), LoadedConfig::NotSetUp(Deployment::default()));
    fs::write(&path, minimal("")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(load(&path, &mine), Ok(LoadedConfig::SetUp(_))));
    let why = |trusted: &[u32], path: &Path| match load(path, trusted) {
        Err(ConfigError::File(error)) => error.why,
        other => panic!("expected a refused file, got {other:?}"),
    };
    assert!(matches!(why(&[mine[0] + 1], &path), Why::Owner(_)));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    assert!(matches!(why(&mine, &path), Why::Writable(0o664)));
    let link = dir.path().join("link");
    symlink(&path, &link).unwrap();
    assert!(matches!(why(&mine, &link), Why::Link));
    assert!(matches!(why(&mine, dir.path()), Why::NotAFile));
    let large = dir.path().join("large");
    fs::write(&large, "#".repeat(256 * 1024 + 1)).unwrap();
    fs::set_permissions(&large, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(why(&mine, &large), Why::TooLarge(_)));
    for (bytes, line) in [(&b"\xff"[..], 1), (b"a\nb\xc3\n", 2), (b"\n\n\x80", 3)] {
        fs::write(&large, bytes).unwrap();
        assert!(matches!(why(&mine, &large), Why::NotText(told) if told == line), "{line}");
    }
}

#[test]
fn a_home_is_made_with_its_permissions() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(dir.path().join("a/home")), None, false).unwrap();
    assert!(matches!(home.require_own(), Err(HomeError::Missing(_))));
    assert_eq!(home.create().unwrap().len(), 3);
    assert!(home.create().unwrap().is_empty());
    home.require_own().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(home.dir()), mode(&home.run_dir())), (0o1733, 0o700));
    assert_eq!(mode(&home.dir().join("journals")), 0o755);

    fs::set_permissions(home.dir(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(home.require_own(), Err(HomeError::Exposed(_, 0o777))));
    let lock = home.lock().unwrap();
    assert!(matches!(home.lock(), Err(HomeError::Busy(_))));
    drop(lock);
    home.lock().unwrap();

    let other = Home::resolve(Some(dir.path().join("b")), None, false).unwrap();
    fs::write(other.dir(), "").unwrap();
    assert!(matches!(other.create(), Err(HomeError::NotADirectory(_) | HomeError::Io(..))));
}

#[test]
fn a_planted_link_inside_the_home_is_refused_and_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(dir.path().to_owned()), None, false).unwrap();
    symlink("/tmp", home.run_dir()).unwrap();
    assert!(matches!(home.create(), Err(HomeError::NotADirectory(_))));
    assert!(!dir.path().join("journals").exists());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_fall(text in "([a-z_]{1,8} = ?['\\[\\]0-9a-z.\"]{0,9}\n|\\[[a-z]{1,5}\\]\n|.{0,9}){0,6}") {
        let _ = parse(&text);
    }

    #[test]
    fn a_reason_and_a_host_survive_the_file(reason in "[^\\p{C}]{1,200}", share in 1_u32..=8) {
        let mut config = Config::new(Mode::Paper, Address([1; 20]), Rules::default(), Deployment::default());
        config.refuse_mainnet = Some(reason);
        config.ip_share = IpShare::parse(&format!("1/{share}")).unwrap();
        prop_assert_eq!(super::tests::config(&render(&config)), config);
    }
}
