//! Configs that can stand, and what is said of those that cannot.

use super::deaf::TOLD;
use super::*;

mod deaf;

fn problems(text: &str) -> String {
    Config::parse(text, &[]).unwrap_err().join("\n")
}

#[test]
fn every_form_has_its_keys_and_no_other() {
    let good = "
        utc_offset = '+02:00'
        summary = '07:00'
        heartbeat = 'https://beat.example/abc'
        [[target]]
        name = 'hook'
        form = 'json'
        url = 'http://127.0.0.1:9/x?y=1'
        token = { file = '/etc/token' }
        [[target]]
        name = 'phone'
        form = 'ntfy'
        url = 'https://ntfy.example'
        topic = 'guard'
        quiet = '22:00-07:00'
        cooldown = { default = '10m', kill = '0s' }
        [[target]]
        name = 'mail'
        form = 'smtp'
        server = 'mail.example:465'
        from = 'guard@mail.example'
        to = ['me@mail.example']
        user = 'guard'
        password = { credential = 'mail' }
    ";
    assert_eq!(Config::parse(good, &[]).unwrap().target.len(), 3);
    let said = problems("[[target]]\nname = 'a'\nform = 'ntfy'\nchat = '7'\n[[target]]\nname = 'a'\nform = 'command'");
    for why in ["ntfy needs url", "ntfy needs topic", "chat is no key of ntfy", "command needs run", "two targets"] {
        assert!(said.contains(why), "{why}: {said}");
    }
}

#[test]
fn no_secret_stands_in_the_file_and_none_is_repeated() {
    let slack = "[[target]]\nname = 'a'\nform = 'slack'\nurl = 'https://hooks.example/T0/B0/hunter22'";
    assert!(problems(slack).contains("url is a secret"));
    assert!(!problems(slack).contains("hunter22"));
    let bot = "[[target]]\nname = 'a'\nform = 'telegram'\nchat = '7'\ntoken = '12:hunter22'";
    assert!(problems(bot).contains("token is a secret") && !problems(bot).contains("hunter22"));
    let typo = problems("[[target]]\nname = 'a'\nform = 'json'\ntokn = 'hunter22'");
    assert!(typo.contains("tokn") && typo.contains("line") && !typo.contains("hunter22"), "{typo}");
}

#[test]
fn only_what_nobody_can_read_on_the_way_is_called() {
    for url in [
        "https://x.example",
        "https://x.example/a?b=c",
        "http://127.0.0.1:80/a",
        "http://[::1]:8/x",
        "http://localhost/",
    ] {
        assert!(private_url(url).is_ok(), "{url}");
    }
    for url in [
        "http://x.example/a",
        "x.example",
        "https://",
        "https://u:p@x.example/",
        "ftp://x",
        "https://x/ a",
        "https://x/\n",
    ] {
        assert!(private_url(url).is_err(), "{url}");
    }
    assert!(problems("heartbeat = 'http://x.example/a'").contains("heartbeat must be"));
    assert!(problems("").contains("nobody would be told"));
}

#[test]
fn what_cannot_be_read_is_said_all_at_once() {
    let said = problems(
        "utc_offset = '2'\nsummary = '7'\n[[target]]\nname = 'a b'\nform = 'command'\nrun = ['x']\nquiet = 'night'\ncooldown = { kill = 'long' }",
    );
    assert_eq!(said.lines().count(), 5, "{said}");
    for given in
        ["\"+02:00\", not \"2\"", "\"07:00\", not \"7\"", "\"22:00-07:00\", not \"night\"", "\"1h\", not \"long\""]
    {
        assert!(said.contains(given), "{given} in {said}");
    }
}

/// A config that could never tell what it says is refused, with all that is wrong with it.
#[test]
fn what_could_never_be_told_is_said() {
    let said = problems(
        "guard = 'nonsense'
        [[target]]\nname = 'a'\nform = 'ntfy'\nurl = 'https://ntfy.example/guard'\ntopic = 'my guard'\nkinds = ['kil']\ncodes = ['kil']
        without = ['flatt']\ncooldown = { default = '1m', kil = '1m' }\nrepeat = { default = '1h' }\nquiet = '22:00-22:00'
        [[target]]\nname = 'b'\nform = 'ntfy'\nurl = 'https://ntfy.example/'\ntopic = ''
        [[target]]\nname = 'c'\nform = 'command'\nrun = ['']
        [[target]]\nname = 'd'\nform = 'json'\nurl = 'https://x.example'\nencryption = 'tls'",
    );
    for why in [
        "guard must be http://HOST:PORT on loopback",
        "\"a\": url must be the server's alone",
        "\"a\": topic must be",
        "\"a\": kinds: \"kil\" is no kind",
        "\"a\": codes: \"kil\" is no code",
        "\"a\": without: \"flatt\" is no code",
        "\"a\": cooldown: \"kil\" is no code",
        "\"a\": repeat: \"default\" is no code",
        "\"a\": quiet must be",
        "\"b\": topic must be",
        "\"c\": run must begin with a program",
        "\"d\": encryption is no key of json",
    ] {
        assert!(said.contains(why), "{why} in {said}");
    }
    assert_eq!(said.lines().count(), 12, "{said}");
    for url in ["https://example.com", "http://192.0.2.1:8547"] {
        assert!(problems(&format!("guard = '{url}'")).contains("guard must be"), "{url}");
    }
}

/// Every kind and code that stands in the manual is one, and those of refused requests and alerts are.
#[test]
fn what_is_told_can_be_named() {
    let named = |kinds: &str, codes: &str| {
        let text = format!(
            "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\nkinds = [{kinds}]\ncodes = [{codes}]\ncooldown = {{ default = '1m' }}"
        );
        Config::parse(&text, &["price_invalid"])
    };
    assert!(
        named("'decision', 'health', 'kill', 'status'", "'price_invalid', 'feed_down', 'kill', 'uncovered'").is_ok()
    );
    let manual = include_str!("../../../man/notify.toml.5");
    let missing: Vec<&&str> = TOLD.iter().map(|(code, ..)| code).filter(|code| !manual.contains(**code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let (_, codes) = manual.split_once(".SH CODES").unwrap();
    let (codes, _) = codes.split_once(".SH EXAMPLE").unwrap();
    let named = codes.lines().filter(|line| line.starts_with(".B ") || line.starts_with(".BR ")).flat_map(|line| {
        line.split([' ', ',', '"'])
            .filter(|word| word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'))
    });
    let unknown: Vec<&str> = named
        .filter(|code| {
            code.len() > 2 && !["notify", "test"].contains(code) && !TOLD.iter().any(|(known, ..)| known == code)
        })
        .collect();
    assert_eq!(unknown, [""; 0], "a test is for everybody");
}

/// Faults of shape: each in our own words, with its line, all at once, and none with the value that stands there.
#[test]
fn what_has_the_wrong_shape_is_said_all_at_once_and_never_repeated() {
    let said = problems(
        "summary = 7\nhunter = 'hunter22'\nheartbeat = ['hunter22']\n[[target]]\nname = 'a'\nform = 'carrier pigeon hunter22'
        [[target]]\nname = 'b'\nform = 'json'\nurl = { file = '/hunter22', credential = 'b' }\nleast = 'hunter22'\nto = 'me'\nquiet = 'x'
        [[target]]\nform = 'json'\ncooldown = 'hunter22'\nrun = [1]\nencryption = 'hunter22'",
    );
    for why in [
        "summary must be a text in quotes (line 1)",
        "hunter is no key that can stand there (line 2)",
        "heartbeat must be a text in quotes, { file = \"/whole/path\" } or { credential = \"name\" } (line 3)",
        "target \"a\": form must be one of \"json\", \"ntfy\"",
        "target \"b\": url must name one place",
        "target \"b\": least must be one of \"info\"",
        "target \"b\": to must be a list of texts",
        "target \"b\": quiet must be two times of the day",
        "name is missing (line 1",
        "cooldown must be times by code",
        "run must be a list of texts",
        "encryption must be one of \"tls\"",
    ] {
        assert!(said.contains(why), "{why} in {said}");
    }
    assert!(!said.contains("hunter22") && !said.contains("untagged") && !said.contains("expected"), "{said}");
    for text in ["[target]\nname = 'a'", "target = 'a'", "target = ['a']"] {
        assert!(problems(text).contains("must stand as [[target]]"), "{text}: {}", problems(text));
    }
    let broken = problems("summary = \nheartbeat = \"hunter22\nname = 'a'\nname = 'a'");
    assert!(broken.contains(" cannot be read: a line is") && !broken.contains("hunter22"), "{broken}");
}

#[test]
fn what_is_nearly_a_key_and_what_a_url_must_not_hold_are_named() {
    let said = problems("[[targets]]\nname = 'a'\nform = 'command'\nrun = ['x']");
    assert!(said.contains("targets is no key that can stand there: it is target, as [[target]] (line 1)"), "{said}");
    let said = problems("[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\nkind = ['kill']");
    assert!(said.contains("kind is no key that can stand there: it is kinds (line 5)"), "{said}");
    let said = problems("[[target]]\nname = 'a'\nform = 'json'\nurl = 'http://me:hunter22@127.0.0.1/x'");
    assert!(said.contains("url must not hold user:password before an @"), "{said}");
    assert!(!said.contains("hunter22") && !said.contains("loopback"), "{said}");
    // An @ further on is the path's own.
    assert!(private_url("https://x.example/a@b?c=@").is_ok());
}

/// A token that stands where a key, a name, a code or a time belongs is not repeated: the file's line or place is told instead.
#[test]
fn a_token_in_the_wrong_place_is_never_repeated() {
    let tokens =
        ["123456789:AAFakeFake0123456789fakefakefakefak", "tk_Fake7FakeFake37Fake29FakeFake2", "hunter22hunter22"];
    for token in tokens {
        let end = &token[token.len() - 6..];
        let target = "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\n";
        for (text, told) in [
            (format!("{target}'{token}' = 'x'"), "is no key that can stand there (line 5)"),
            (format!("'{token}' = 'x'\n{target}"), "is no key that can stand there (line 1)"),
            (format!("['{token}']\nx = 'y'\n{target}"), "is no key that can stand there (line 1)"),
            (format!("[[target]]\nname = '{token}'\nform = 'json'"), "target 1 of the file: json needs url"),
            (format!("[[target]]\nname = '{token}'\nform = 'x'"), "the target of line 1: form must be one of"),
            (format!("[[target]]\nname = 'a'\nform = 'json'\nname = '{token}'"), "each key once"),
            (format!("{target}kinds = ['{token}']"), "is no kind of what is told"),
            (format!("{target}codes = ['{token}']"), "is no code of what is told"),
            (format!("{target}without = ['{token}']"), "is no code of what is told"),
            (format!("{target}cooldown = {{ '{token}' = '1h' }}"), "is no code of what is told"),
            (format!("{target}repeat = {{ '{token}' = 'x' }}"), "must be such as"),
            (format!("{target}repeat = {{ kill = '{token}' }}"), "must be such as"),
            (format!("{target}quiet = '{token}'"), "quiet must be two times"),
            (format!("summary = '{token}'\n{target}"), "summary must be a time"),
            (format!("utc_offset = '{token}'\n{target}"), "utc_offset must be"),
            (format!("guard = '{token}'\n{target}"), "guard must be"),
            (format!("heartbeat_every = '{token}'\n{target}"), "heartbeat_every must be"),
            (
                format!("[[target]]\nname = 'a'\nform = 'smtp'\nserver = 'm'\nfrom = '{token}'\nto = ['b@m.example']"),
                "is no mail address",
            ),
        ] {
            let said = problems(&text);
            assert!(said.contains(told) && !said.contains(end), "{text}: {said}");
        }
    }
    let slip = problems("[[target]]\nname = 'a'\nform = 'json'\nurl = 'https://x.example'\ntokn = 'x'");
    assert!(slip.contains("tokn is no key that can stand there: it is token (line 5)"), "{slip}");
}

/// What is wrong is said with its line, or that of its target.
#[test]
fn what_is_wrong_has_its_line() {
    let said = problems(
        "summary = '7'\n[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\nquiet = 'night'\n\n[[target]]\nname = 'b'\nform = \
         'smtp'\nserver = 'm'\nfrom = 'g@m.example'\nto = ['x', '\u{f6}@m.example']\nuser = 'u'\n[target.cooldown]\nkill = 'long'",
    );
    for why in [
        "not \"7\" (line 1)",
        "not \"night\" (line 6)",
        "to: \"x\" is no mail address (line 13)",
        "write a domain as xn--... (line 13)",
        "user and password belong together (line 14)",
        "not \"long\" (line 15)",
    ] {
        assert!(said.lines().any(|line| line.ends_with(why)), "{why}: {said}");
    }
    assert!(problems("[[target]]\nname = 'a'\nform = 'json'").ends_with("json needs url (line 1)"));
}

/// What stands in a mail's head is an address and nothing else.
#[test]
fn an_address_cannot_be_a_line_of_a_mail() {
    for address in [
        "a@m.example\r\nBcc: b@m.example",
        "\"a\r\nBcc: b@m.example\r\n \"@m.example",
        "a\n@m.example",
        "a@m.example\n",
        "a@m.example, b@m.example",
        "<a@m.example>",
        "a@m.example\0",
    ] {
        for (from, to) in [(address, "b@m.example"), ("b@m.example", address)] {
            let said = problems(
                &format!("[[target]]\nname = 'a'\nform = 'smtp'\nserver = 'm'\nfrom = {from:?}\nto = [{to:?}]")
                    .replace("\\0", "\\u0000"),
            );
            assert!(said.contains("is no mail address") && said.lines().count() == 1, "{address:?}: {said}");
        }
    }
}

/// One mistake is one line, with what is right instead.
#[test]
fn a_mistake_is_told_once_with_what_is_meant() {
    let target = "[[target]]\nname = 'a'\n";
    for (text, told) in [
        (format!("{target}form = “json”\n"), "line 3 cannot be read: the quotes are the curly ones".to_owned()),
        (
            format!("{target}form = 'json'\nurl = 'http://127.0.0.1:9'\nsummary = '07:00'"),
            "summary is no key that can stand there: it stands at the top of the file, above the first [[target]] (line 5)".to_owned(),
        ),
        (
            format!("{target}form = 'telegram'\nchat = '7'\ntoken_file = '/etc/token'"),
            "token_file is no key that can stand there: it is token = { file = \"/whole/path\" } (line 5)".to_owned(),
        ),
        (format!("{target}form = 'command'\ncommand = ['/bin/x']"), "command is no key that can stand there: it is run (line 4)".to_owned()),
        (
            format!("{target}form = 'smtp'\nhost = 'mail.example:465'\nfrom = 'g@x.example'\nto = ['m@x.example']"),
            "host is no key that can stand there: it is server (line 4)".to_owned(),
        ),
    ] {
        let said = problems(&text);
        assert!(said.contains(&told), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
