//! Silence of the guard, and another one where it should answer: each told once.

use super::*;

#[test]
fn half_a_minute_of_silence_is_told_and_less_is_not() {
    let mut watch = watch();
    let away = Seen::Away("it hangs".to_owned());
    watch.seen(&Seen::Well, (0, 0), NOW);
    watch.seen(&away, (1_000, 1_000), NOW);
    watch.seen(&away, (30_999, 30_999), NOW);
    assert_eq!(told(&mut watch), [""; 0]);
    watch.seen(&away, (31_000, 31_000), NOW);
    watch.seen(&away, (99_000, 99_000), NOW);
    assert_eq!(told(&mut watch), ["unreachable begins"]);
    // It answers, and is not well; then it is.
    let unwell = Seen::Unwell(vec!["the account: not read".to_owned()]);
    watch.seen(&unwell, (100_000, 100_000), NOW);
    assert_eq!(told(&mut watch), ["unreachable over", "unwell begins"]);
    watch.seen(&Seen::Well, (101_000, 101_000), NOW);
    assert_eq!(told(&mut watch), ["unwell over"]);
    // A look that fails now and then is no silence.
    for turn in 0..100 {
        watch.seen(
            if turn % 2 == 0 { &away } else { &Seen::Well },
            (200_000 + turn * 5_000, 200_000 + turn * 5_000),
            NOW,
        );
    }
    assert_eq!(told(&mut watch), [""; 0]);
}

/// Whoever's guard answers there instead is named, with how this one comes to an address of its own.
#[test]
fn a_guard_whose_address_another_one_has_is_told_not_to_answer() {
    let mut watch = watch();
    let who = "the guard of /home/me/h, account 0x2222222222222222222222222222222222222222 on testnet".to_owned();
    let taken = Seen::Taken { who, url: "http://127.0.0.1:8547".to_owned() };
    watch.seen(&taken, (1_000, 1_000), NOW);
    watch.seen(&Seen::Away("refused".to_owned()), (20_000, 20_000), NOW);
    watch.seen(&taken, (31_000, 31_000), NOW);
    let notices = watch.take();
    assert_eq!(notices.iter().map(|notice| notice.code.as_str()).collect::<Vec<_>>(), ["unreachable"]);
    let Notice { happened, todo, .. } = &notices[0];
    let answers = "half a minute: what answers at http://127.0.0.1:8547 is the guard of /home/me/h, account 0x2222222222222222222222222222222222222222 on testnet.";
    assert!(happened.contains(answers), "{happened}");
    for way in [
        "(svc-guard --home /home/me/g health)",
        "`svc-guard --home /home/me/g config set listen 127.0.0.1:PORT`",
        "`svc-guard --home /home/me/g run --network testnet`",
        "the one that answers is meant, name its URL in notify.toml: guard = \"http://127.0.0.1:8547\"",
    ] {
        assert!(todo.contains(way), "{way} in {todo}");
    }
    watch.seen(&Seen::Well, (40_000, 40_000), NOW);
    assert_eq!(told(&mut watch), ["unreachable over"]);
}

/// Who has the address of a guard that is silent is told as well, once: whether that one answers or nobody, time and again.
#[test]
fn another_guard_at_the_address_of_one_that_is_silent_is_told_once() {
    let mut watch = watch();
    let away = Seen::Away("refused".to_owned());
    let taken = |who: &str| Seen::Taken { who: who.to_owned(), url: "http://127.0.0.1:8547".to_owned() };
    watch.seen(&away, (1_000, 1_000), NOW);
    watch.seen(&away, (31_000, 31_000), NOW);
    assert_eq!(told(&mut watch), ["unreachable begins"]);
    // The notifier may have been started again since.
    let kept = serde_json::to_string(&watch).unwrap();
    let mut watch: Watch = serde_json::from_str(&kept).unwrap();
    watch.seen(&taken("the guard of /a"), (1_000, 1_000), NOW + 60_000);
    watch.seen(&taken("the guard of /a"), (31_000, 31_000), NOW + 90_000);
    let notices = watch.take();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].happened.contains("what answers at http://127.0.0.1:8547 is the guard of /a"), "{notices:?}");
    for turn in 2..9 {
        let seen = if turn % 2 == 0 { away.clone() } else { taken("the guard of /a") };
        watch.seen(&seen, (turn * 31_000, turn * 31_000), NOW);
    }
    assert_eq!(told(&mut watch), [""; 0]);
    watch.seen(&Seen::Well, (400_000, 400_000), NOW + 120_000);
    let notices = watch.take();
    assert!(notices.len() == 1 && notices[0].happened.contains("lasted 120 s"), "{notices:?}");
}

/// A look at a guard that does not answer takes a while itself: what it came to is of its end.
#[test]
fn silence_is_told_at_the_end_of_the_look_that_is_half_a_minute_long() {
    let mut watch = watch();
    let away = Seen::Away("it hangs".to_owned());
    watch.seen(&away, (0, 4_000), NOW);
    watch.seen(&away, (18_000, 29_999), NOW);
    assert_eq!(told(&mut watch), [""; 0]);
    watch.seen(&Seen::Well, (29_999, 40_000), NOW);
    watch.seen(&away, (50_000, 54_000), NOW);
    watch.seen(&away, (70_000, 79_999), NOW);
    assert_eq!(told(&mut watch), [""; 0]);
    watch.seen(&away, (76_000, 80_000), NOW);
    assert_eq!(told(&mut watch), ["unreachable begins"]);
}
