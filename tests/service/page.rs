//! The monitor page as it is served: its files, the headers that confine it, and what it may not name.

use std::collections::BTreeSet;
use std::fs;

use svc_guard::monitor::ASSETS;

use crate::http::{Connection, bare, post};
use crate::stand::{Mode, Stand};

/// The page needs no account read.
fn listening() -> Stand {
    let mut stand = Stand::set_up(Mode::Paper, "");
    stand.launch();
    stand
}

/// The sources that one directive of the policy allows.
fn directive<'a>(policy: &'a str, name: &str) -> Vec<&'a str> {
    let all: Vec<Vec<&str>> = policy.split(';').map(|part| part.split_whitespace().collect()).collect();
    let found: Vec<_> = all.iter().filter(|words| words.first() == Some(&name)).collect();
    assert_eq!(found.len(), 1, "{name} in {policy}");
    found[0][1..].to_vec()
}

#[test]
fn every_file_comes_whole_and_confined() {
    let stand = listening();
    for asset in ASSETS {
        let answer = stand.get(asset.path);
        assert_eq!((answer.status, answer.body.as_str()), (200, asset.body), "{}", asset.path);
        let kind = answer.header("content-type").unwrap();
        let expected = match asset.path.rsplit_once('.').map(|(_, ending)| ending) {
            None => "text/html; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("svg") => "image/svg+xml; charset=utf-8",
            Some(other) => panic!("a file of the kind {other}"),
        };
        assert_eq!(kind, expected, "{}", asset.path);
        let policy = answer.header("content-security-policy").unwrap();
        for (name, sources) in [
            ("default-src", vec!["'none'"]),
            ("script-src", vec!["'self'"]),
            ("style-src", vec!["'self'"]),
            ("img-src", vec!["'self'"]),
            ("connect-src", vec!["'self'"]),
            ("base-uri", vec!["'none'"]),
            ("form-action", vec!["'none'"]),
            ("frame-ancestors", vec!["'none'"]),
            ("require-trusted-types-for", vec!["'script'"]),
            ("trusted-types", vec!["'none'"]),
        ] {
            assert_eq!(directive(policy, name), sources, "{}", asset.path);
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[test]
fn it_is_asked_by_get_and_head_alone_and_by_this_guards_names() {
    let stand = listening();
    for asset in ASSETS {
        let mut got = stand.get(asset.path);
        let mut head = stand.connect().exchange(&bare("HEAD", asset.path), false).unwrap();
        // The one may be asked for in another second than the other.
        for answer in [&mut got, &mut head] {
            answer.headers.retain(|(name, _)| name != "date");
        }
        assert_eq!((head.status, &head.headers), (200, &got.headers), "{}", asset.path);
        for method in ["PUT", "DELETE", "OPTIONS"] {
            let refused = stand.connect().exchange(&bare(method, asset.path), true).unwrap();
            assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")), "{method} {}", asset.path);
        }
        let posted = stand.connect().exchange(&post(asset.path, "application/json", b"{}"), true).unwrap();
        assert_eq!((posted.status, posted.header("allow")), (405, Some("GET, HEAD")), "{}", asset.path);
        assert_eq!(posted.json()["code"], "method_not_allowed");
        let other = format!("GET {} HTTP/1.1\r\nHost: evil.example\r\n\r\n", asset.path);
        let refused = Connection::open(stand.address()).exchange(other.as_bytes(), true).unwrap();
        assert_eq!(
            (refused.status, refused.json()["code"].as_str()),
            (403, Some("host_not_allowed")),
            "{}",
            asset.path
        );
    }
    for path in ["/index.html", "/monitor", "/monitor/", "/monitor/mod.rs", "/monitor/../page.html"] {
        assert_eq!(stand.get(path).status, 404, "{path}");
    }
}

/// What a file loads, by the attributes and words that load something.
fn loads(text: &str) -> BTreeSet<&str> {
    let marks =
        ["src=\"", "href=\"", "from \"", "import \"", "import(\"", "url(", "fetch(\"", "ask(\"", "ask(`", "beside(`"];
    let begun = marks.iter().flat_map(|mark| text.split(mark).skip(1));
    begun.map(|rest| rest.split(['"', '`', ')', '?']).next().unwrap()).collect()
}

#[test]
fn its_files_name_nothing_outside_and_each_file_is_used() {
    let mut used = BTreeSet::from(["/".to_owned()]);
    for asset in ASSETS {
        // A name space, and where a person may go to look the account up: nothing is loaded from either.
        let named =
            ["http://www.w3.org/2000/svg", "https://app.hyperliquid.xyz", "https://app.hyperliquid-testnet.xyz"];
        let text = named.iter().fold(asset.body.to_owned(), |text, name| text.replace(name, ""));
        assert!(!text.contains("//") || asset.path.ends_with(".js"), "{}: an address", asset.path);
        for outside in ["http:", "https:", "ws://", "wss://", "data:", "blob:", "\"//", "`//", "@import", "url("] {
            assert!(!text.contains(outside), "{} has {outside}", asset.path);
        }
        for dangerous in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "import("]
        {
            assert!(!text.contains(dangerous), "{} has {dangerous}", asset.path);
        }
        for loaded in loads(&text) {
            let path = loaded.strip_prefix("./").map_or_else(|| loaded.to_owned(), |name| format!("/monitor/{name}"));
            let is_own = ASSETS.iter().any(|asset| asset.path == path);
            let read = ["/guard/status", "/guard/events", "/guard/equity", "/guard/report", "/healthz", "#decisions"];
            let is_read = read.contains(&path.as_str());
            assert!(is_own || is_read, "{} loads {loaded}", asset.path);
            used.insert(path);
        }
    }
    for asset in ASSETS {
        assert!(used.contains(asset.path), "{} is used by nothing", asset.path);
    }
}

/// The policy would block what stands in the markup itself, and nothing on the page may act.
#[test]
fn its_markup_has_no_code_no_style_and_nothing_that_acts() {
    let page = ASSETS[0].body;
    for banned in ["<style", "style=", "<form", "<button", "<iframe", "javascript:", " onclick", " onload", " onerror"]
    {
        assert!(!page.contains(banned), "{banned}");
    }
    for script in page.split("<script").skip(1) {
        assert!(script.split_once('>').unwrap().1.starts_with("</script>"), "code in the markup");
    }
    let scripts = ASSETS.iter().filter(|asset| asset.path.ends_with(".js"));
    for asset in scripts {
        for banned in ["method:", "POST", "WebSocket", "sendBeacon", "XMLHttpRequest", "/exchange", "/guard/kill"] {
            assert!(!asset.body.contains(banned), "{} has {banned}", asset.path);
        }
    }
}

#[test]
fn it_is_small() {
    let bytes: usize = ASSETS.iter().map(|asset| asset.body.len()).sum();
    assert!(bytes <= 72 * 1024, "{bytes} bytes");
    for asset in ASSETS {
        let name = asset.path.strip_prefix("/monitor/").unwrap_or("page.html");
        let written = fs::read_to_string(format!("{}/src/monitor/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(written.lines().count() < 400, "{name}");
    }
}
