//! The mark that the journal's folder shares with its fallback folder: nothing else is taken for that.

use super::taken_over::{Desk, Latch, Opens, SOON, copy, found, options};
use super::*;

/// Asked of a start, also one whose config names none, and of a reader.
fn refused(place: &Place, (dir, spare): &(PathBuf, PathBuf)) -> String {
    let configured = Options { fallback: Some(spare.clone()), ..options(place, Faults::default()) };
    let starts = [configured, Options::default()].map(|options| open(dir, &options).map(|_| ()));
    let told = starts.into_iter().chain([read_risk(dir).map(|_| ())]).map(|result| match result {
        Err(error @ OpenError::FallbackAway { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    });
    let told: Vec<String> = told.collect();
    let place = format!("fallback folder {}, ", spare.display());
    assert!(told.iter().all(|text| text.contains(&place) && text.contains("remove the file `fallback`")), "{told:?}");
    told.concat()
}

/// As soon as it was set up, and after it took over: only the folder itself is taken for it.
#[test]
fn a_start_takes_no_other_folder_for_the_fallback() {
    let other = Place::new();
    drop(open(&other.dir, &options(&other, Faults::default())).unwrap());
    for nth in [1, usize::MAX - 1] {
        let place = Place::new();
        let latch = Arc::<Latch>::default();
        let (hangs, at) = (once(Step::EventsSync, nth, Fault::Delay { ms: 0 }), Arc::clone(&latch));
        let mut desk = Desk::new(&place, Arc::new(move |step| hangs(step).inspect(|_| at.wait())));
        let opens = Opens(Arc::clone(&latch));
        (0..3).for_each(|_| desk.write(NOON));
        drop(opens);
        std::thread::sleep(SOON);
        drop(desk);
        let moved = copy(&place, "moved");
        let (dir, spare) = &moved;
        let right = spare.with_file_name("right");
        std::fs::rename(spare, &right).unwrap();
        refused(&place, &moved);
        std::fs::create_dir(spare).unwrap();
        assert!(refused(&place, &moved).contains("is its disk mounted?"));
        assert_eq!(std::fs::read_dir(spare).unwrap().count(), 0, "nothing is made there");
        copy_folder(&other.spare, spare);
        assert!(refused(&place, &moved).contains("another journal"));
        std::fs::remove_dir_all(spare).unwrap();
        std::fs::rename(&right, spare).unwrap();
        assert_eq!(read_risk(dir).unwrap().count(), 4);
        assert_eq!(found(&place, moved.clone()), ((1..=3).collect(), (0..=3).collect()), "{nth}");
    }
}

/// What an earlier version has left has no mark: the folder is known by its redo file, and marked then.
#[test]
fn a_fallback_of_before_the_marks_is_marked() {
    let place = Place::new();
    let configured = options(&place, Faults::default());
    let marks = [&place.dir, &place.spare].map(|dir| dir.join("fallback-mark"));
    let read = || marks.each_ref().map(|path| std::fs::read_to_string(path).ok());
    drop(open(&place.dir, &configured).unwrap());
    marks.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    let away = place.spare.with_file_name("away");
    std::fs::rename(&place.spare, &away).unwrap();
    std::fs::create_dir(&place.spare).unwrap();
    assert!(matches!(place.refusal(), OpenError::FallbackAway { .. }));
    std::fs::remove_dir(&place.spare).unwrap();
    std::fs::rename(&away, &place.spare).unwrap();
    drop(place.open());
    let [main, spare] = read();
    assert!(main.is_some() && main == spare);
    // A start that ended before its own folder had the mark.
    std::fs::remove_file(&marks[0]).unwrap();
    drop(open(&place.dir, &configured).unwrap());
    assert_eq!(read(), [main, spare]);
}

/// One that was never used may be left for another one, and `fallback` be removed by a person who knows that it is lost.
#[test]
fn the_mark_is_of_the_folder_that_is_named() {
    let place = Place::new();
    let with = |name: &str| {
        let fallback = Some(place.spare.with_file_name(name));
        open(&place.dir, &Options { fallback, ..options(&place, Faults::default()) }).map(|_| ())
    };
    for name in ["one", "two", "one"] {
        with(name).unwrap();
        let spare = std::fs::read(place.spare.with_file_name(name).join("fallback-mark")).unwrap();
        assert_eq!(place.read("fallback-mark"), spare, "{name}");
    }
    std::fs::remove_dir_all(place.spare.with_file_name("one")).unwrap();
    std::fs::create_dir(place.spare.with_file_name("one")).unwrap();
    assert!(matches!(with("two"), Err(OpenError::FallbackAway { .. })), "not even for another one");
    std::fs::remove_file(place.file("fallback")).unwrap();
    with("one").unwrap();
    with("one").unwrap();
}
