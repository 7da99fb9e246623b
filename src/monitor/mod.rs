//! The monitor page: its files, and the headers that confine it.
//!
//! The page reads `/guard/status`, `/guard/events`, `/guard/equity`, `/guard/report` and `/healthz` as any program may, and has
//! nothing that acts. Its files are part of the program, without their comments, indentation and other blanks; it asks no other
//! host for anything. How it is served, the service knows.

/// A file of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Where it is served.
    pub path: &'static str,
    /// Value of `Content-Type`.
    pub content_type: &'static str,
    /// The file.
    pub body: &'static str,
}

/// What a text is.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Page,
    Script,
    Style,
}

/// A text without what only its authors read, in so many bytes, and how many it needs: indentation, empty lines, lines that are a
/// comment, and what parts nothing.
#[expect(
    clippy::indexing_slicing,
    reason = "of two that could be had while the program is built, the one that can be read"
)]
const fn lean<const N: usize>(text: &str, kind: Kind) -> ([u8; N], usize) {
    let (mut lean, mut count, mut last) = ([0; N], 0, b'\n');
    let (mut rest, mut is_start, mut is_comment) = (text.as_bytes(), true, false);
    while let [byte, after @ ..] = rest {
        if !is_start || !matches!(byte, b' ' | b'\n') {
            is_comment = if is_start { matches!(rest, [b'/', b'/' | b'*', ..]) } else { is_comment };
            is_start = *byte == b'\n';
            if !is_comment && !parts_nothing(last, *byte, after, kind) {
                if count < N {
                    lean[count] = *byte;
                }
                count += 1;
                last = *byte;
            }
        }
        rest = after;
    }
    (lean, count)
}

/// Whether a byte is a blank between two others, or the end of a style's last declaration, that no reader of the language needs.
const fn parts_nothing(last: u8, byte: u8, after: &[u8], kind: Kind) -> bool {
    let is_style = matches!(kind, Kind::Style);
    match byte {
        _ if after.is_empty() => false,
        b'\n' => matches!(last, b';' | b',' | b'{' | b'(' | b'[') || (is_style && last == b'}'),
        // The style's texts have none at these places.
        b' ' if is_style => matches!(last, b';' | b',' | b'{' | b':') || matches!(after, [b'{' | b'}', ..]),
        b';' if is_style => matches!(after, [b' ', b'}', ..]),
        // No text of the scripts has one at these places, and it would say as much without.
        b' ' if matches!(kind, Kind::Script) => {
            matches!(last, b'=' | b'{' | b'<' | b'>' | b'&')
                || matches!(after, [b'=' | b'{' | b'}' | b'<' | b'>' | b'&' | b'?' | b':' | b'|', ..])
        }
        _ => false,
    }
}

/// A file of the page as it is served.
macro_rules! lean {
    ($file:literal, $kind:ident) => {{
        const TEXT: &str = include_str!($file);
        const LEAN: &[u8] = &lean::<{ lean::<0>(TEXT, Kind::$kind).1 }>(TEXT, Kind::$kind).0;
        match str::from_utf8(LEAN) {
            Ok(text) => text,
            Err(_) => TEXT,
        }
    }};
}

const SVG: &str = "image/svg+xml; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Every file of the page, the page itself first.
pub const ASSETS: &[Asset] = &[
    Asset { path: "/", content_type: "text/html; charset=utf-8", body: lean!("page.html", Page) },
    Asset { path: "/monitor/style.css", content_type: "text/css; charset=utf-8", body: lean!("style.css", Style) },
    Asset { path: "/monitor/icon.svg", content_type: SVG, body: include_str!("icon.svg") },
    Asset { path: "/monitor/icon-warn.svg", content_type: SVG, body: include_str!("icon-warn.svg") },
    Asset { path: "/monitor/icon-bad.svg", content_type: SVG, body: include_str!("icon-bad.svg") },
    Asset { path: "/monitor/book.js", content_type: SCRIPT, body: lean!("book.js", Script) },
    Asset { path: "/monitor/script.js", content_type: SCRIPT, body: lean!("script.js", Script) },
    Asset { path: "/monitor/dom.js", content_type: SCRIPT, body: lean!("dom.js", Script) },
    Asset { path: "/monitor/feed.js", content_type: SCRIPT, body: lean!("feed.js", Script) },
    Asset { path: "/monitor/panels.js", content_type: SCRIPT, body: lean!("panels.js", Script) },
    Asset { path: "/monitor/plot.js", content_type: SCRIPT, body: lean!("plot.js", Script) },
    Asset { path: "/monitor/stream.js", content_type: SCRIPT, body: lean!("stream.js", Script) },
    Asset { path: "/monitor/text.js", content_type: SCRIPT, body: lean!("text.js", Script) },
];

/// What a browser lets the page do: run its own scripts, read from its own guard, and nothing else. No text can
/// become markup or a script, even by mistake: the sinks that would take it are closed.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
     trusted-types 'none'";

/// The headers that each file goes with, beside its content type.
pub const HEADERS: &[(&str, &str)] = &[
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    // A new version's files must never meet an old one's.
    ("Cache-Control", "no-store"),
];

/// The file that is served at a path.
#[must_use]
pub fn asset(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_authors_read_is_left_out_and_nothing_else() {
        const TEXT: &str =
            "// Said.\n\n  /** And `more`. */\n  let a = `b  // c`;  // d\n\n* { e: f }\n    /g/.test(a);\n";
        const WANTED: &str = "let a=`b  // c`;  // d\n*{e: f}\n/g/.test(a);\n";
        assert_eq!(lean::<0>(TEXT, Kind::Script).1, WANTED.len());
        assert_eq!(lean::<{ WANTED.len() }>(TEXT, Kind::Script).0, WANTED.as_bytes());
    }

    #[test]
    fn blanks_that_part_nothing_are_left_out() {
        let served = |text, kind| {
            let (bytes, count) = lean::<128>(text, kind);
            String::from_utf8(bytes[..count].to_vec()).unwrap()
        };
        let script =
            "let a = {\n  b: f(\n    c, (d) => { i },\n    [\n      e;\n  }\ng === h && i < j ? k : l || m\n`${n} o`\n";
        assert_eq!(served(script, Kind::Script), "let a={b: f(c, (d)=>{i},[e;}\ng===h&&i<j? k: l|| m\n`${n} o`\n");
        assert_eq!(served("<b>l</b> <b>m</b>\n", Kind::Page), "<b>l</b> <b>m</b>\n");
        let style = "a :is(b, c) > d { e: f(g, h + i); j: k; }\n@media (l: m) {\n  n { content: \"→ \"; }\n}\n";
        assert_eq!(served(style, Kind::Style), "a :is(b,c) > d{e:f(g,h + i);j:k}@media (l:m){n{content:\"→ \"}}\n");
    }

    /// The line of a file as it is served at which something goes on that began on another one: a text would lose what each of its
    /// lines begins with, and of a comment only the first line would be left out.
    fn goes_on(body: &str) -> Option<&str> {
        body.lines().find(|line| line.matches('`').count() % 2 != 0 || line.contains("/*") || line.contains("*/"))
    }

    #[test]
    fn no_text_and_no_comment_goes_on_over_lines() {
        let is_code = |asset: &&Asset| asset.content_type == SCRIPT || asset.path.ends_with(".css");
        let files: Vec<&Asset> = ASSETS.iter().filter(is_code).collect();
        assert_eq!(files.len(), 9, "every script and the style");
        for asset in files {
            assert_eq!(goes_on(asset.body), None, "{}", asset.path);
            // Behind one on the same line the next line would be a comment too.
            assert!(!asset.body.contains(" //"), "{}", asset.path);
        }
    }

    #[test]
    fn what_goes_on_over_lines_is_found() {
        const COMMENT: &str = "/** One\n * and two. */\nlet a = 1;\n";
        const LINES: &str = "/*\nOne\n*/\nlet a = 1;\n";
        const TEXT: &str = "let a = `one\n  two`;\n";
        const WHOLE: &str = "/** One. */\n// And\n// two.\nlet a = `one`;\n";
        let served = |(bytes, count): (&[u8], usize)| String::from_utf8(bytes[..count].to_vec()).unwrap();
        let found = [COMMENT, LINES, TEXT, WHOLE].map(|text| {
            let (bytes, count) = lean::<128>(text, Kind::Script);
            goes_on(&served((&bytes, count))).map(str::to_owned)
        });
        assert_eq!(
            found,
            [Some("* and two. */"), Some("*/"), Some("let a=`one"), None].map(|line| line.map(str::to_owned))
        );
    }
}
