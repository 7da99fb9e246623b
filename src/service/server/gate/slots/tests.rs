//! Who gets a place, who gives way, and what each client may hold.

use std::io::Read;
use std::net::TcpListener;

use super::*;

const ONE: Address = Address([1; 20]);
const OTHER: Address = Address([2; 20]);

/// Places, and how a test takes one: with the other end of its connection.
struct Places {
    slots: Arc<Slots>,
    listener: TcpListener,
}

impl Places {
    fn new(connections: usize, asking: usize, signed: usize, clients: usize) -> Self {
        let limits = Limits { connections, asking, signed, ..Limits::default() };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self { slots: Arc::new(Slots::new(&limits, clients)), listener }
    }

    /// Takes one, of which the first bytes have been read.
    fn enter(&self) -> Option<(Slot, TcpStream)> {
        self.sit_down().inspect(|(slot, _)| slot.receive())
    }

    fn sit_down(&self) -> Option<(Slot, TcpStream)> {
        let _client = TcpStream::connect(self.listener.local_addr().unwrap()).unwrap();
        let (socket, _) = self.listener.accept().unwrap();
        let slot = self.slots.enter(socket.try_clone().unwrap()).ok()?;
        Some((slot, socket))
    }
}

#[test]
fn a_newcomer_takes_the_place_that_was_idle_longest_and_is_nobodys() {
    let places = Places::new(4, 1, 4, 1);
    let [(signed, _a), (first, mut socket), (second, _b), (third, _c)] = [0; 4].map(|_| places.enter().unwrap());
    signed.vouch(ONE).unwrap();
    [&signed, &first, &second].into_iter().for_each(Slot::wait);
    second.wait();
    let (fifth, _d) = places.enter().unwrap();
    assert_eq!([&signed, &first, &second, &third].map(Slot::is_lost), [false, true, false, false]);
    assert_eq!(socket.read(&mut [0]).unwrap(), 0, "its thread is woken");
    // One that is idle goes before one whose request comes in.
    let (_sixth, _e) = places.enter().unwrap();
    assert!(second.is_lost() && !third.is_lost());
    let at_work = [third.begin(Work::Here).unwrap(), fifth.begin(Work::Here).unwrap()];
    let (_seventh, _f) = places.enter().unwrap();
    assert_eq!([&signed, &third, &fifth].map(Slot::is_lost), [false; 3]);
    drop(at_work);
}

/// However many come after it: what made it ask for its place is read first.
#[test]
fn a_newcomer_that_was_not_read_yet_gives_way_to_none() {
    let places = Places::new(2, 1, 0, 1);
    let [(first, _a), (second, _b)] = [0; 2].map(|_| places.sit_down().unwrap());
    assert!(places.sit_down().is_none());
    first.receive();
    let (third, _c) = places.sit_down().unwrap();
    assert_eq!([&first, &second, &third].map(Slot::is_lost), [true, false, false]);
}

#[test]
fn an_upgraded_connection_on_which_frames_go_is_not_idle() {
    let places = Places::new(3, 1, 2, 1);
    let [(first, _a), (second, _b), (third, _c)] = [0; 3].map(|_| places.enter().unwrap());
    [&first, &second, &third].into_iter().for_each(Slot::upgrade);
    first.stay();
    let (_fourth, _d) = places.enter().unwrap();
    assert_eq!([&first, &second, &third].map(Slot::is_lost), [false, true, false]);
    let (_fifth, _e) = places.enter().unwrap();
    assert_eq!([&first, &third].map(Slot::is_lost), [false, true]);
}

#[test]
fn nobody_gives_way_who_is_at_work_or_a_clients() {
    let places = Places::new(2, 1, 2, 1);
    let ((signed, _a), (other, _b)) = (places.enter().unwrap(), places.enter().unwrap());
    signed.vouch(ONE).unwrap();
    signed.wait();
    let at_work = other.begin(Work::Here).unwrap();
    assert!(places.enter().is_none());
    drop(at_work);
    assert!(places.enter().is_some() && other.is_lost() && !signed.is_lost());
    assert_eq!(other.begin(Work::Here).unwrap_err(), NotBegun::Busy);
}

#[test]
fn a_client_has_its_share_of_places_and_no_more() {
    let places = Places::new(8, 1, 4, 2);
    let [(first, _a), (second, _b), (third, _c), (fourth, _d)] = [0; 4].map(|_| places.enter().unwrap());
    first.vouch(ONE).unwrap();
    second.vouch(ONE).unwrap();
    let at_work = [first.begin(Work::Here).unwrap(), second.begin(Work::Here).unwrap()];
    assert_eq!(third.vouch(ONE), Err(2));
    assert_eq!((first.vouch(ONE), fourth.vouch(OTHER)), (Ok(()), Ok(())));
    drop(at_work);
    first.wait();
    third.vouch(ONE).unwrap();
    assert_eq!([&first, &second, &third, &fourth].map(Slot::is_lost), [true, false, false, false]);
}

#[test]
fn questions_leave_places_for_orders() {
    let places = Places::new(3, 2, 1, 1);
    let [(first, _a), (second, _b), (third, _c)] = [0; 3].map(|_| places.enter().unwrap());
    let asking = [first.begin(Work::Workers).unwrap(), second.begin(Work::Workers).unwrap()];
    assert_eq!(third.begin(Work::Workers).unwrap_err(), NotBegun::Busy);
    assert!(third.begin(Work::Here).is_ok());
    drop(asking);
    assert!(third.begin(Work::Workers).is_ok());
}

#[test]
fn threads_that_have_yet_to_end_are_bounded() {
    let places = Places::new(1, 1, 1, 1);
    let held: Vec<_> = std::iter::from_fn(|| places.enter()).take(100).collect();
    assert_eq!(held.len(), 1 + MOST_ENDING);
    drop(held);
    assert!(places.enter().is_some());
}

#[test]
fn a_shutdown_lets_nothing_begin_and_waits_for_what_has() {
    let places = Places::new(1, 1, 1, 1);
    let (slot, _socket) = places.enter().unwrap();
    let at_work = slot.begin(Work::Here).unwrap();
    assert!(!places.slots.shut_down(Duration::from_millis(1)));
    assert_eq!(slot.begin(Work::Here).unwrap_err(), NotBegun::ShuttingDown);
    let waiting = Arc::clone(&places.slots);
    let shutdown = std::thread::spawn(move || waiting.shut_down(Duration::from_secs(60)));
    drop(at_work);
    assert!(shutdown.join().unwrap());
}

#[test]
fn who_keeps_most_gives_way_where_all_that_is_nobodys_keeps_too_much() {
    let limits = Limits { connections: 8, unsigned_bytes: 100, ..Limits::default() };
    let slots = Arc::new(Slots::new(&limits, 1));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut sockets = Vec::new();
    let [signed, working, small, large, other] = [0; 5].map(|_| {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let socket = listener.accept().unwrap().0;
        let slot = slots.enter(socket.try_clone().unwrap()).unwrap();
        slot.receive();
        sockets.push((client, socket));
        slot
    });
    signed.vouch(ONE).unwrap();
    assert!(signed.hold(1_000), "a client that signed is none of them");
    assert!(working.hold(20) && small.hold(10) && large.hold(60) && other.hold(10));
    let at_work = working.begin(Work::Here).unwrap();
    assert!(working.hold(20) && !large.is_lost(), "as much as they may");
    assert!(small.hold(11), "who keeps little stays");
    assert!(large.is_lost() && !large.hold(1));
    assert_eq!(sockets[3].1.read(&mut [0]).unwrap(), 0, "its thread is woken");
    // Who is at work is left alone; of two that keep as much the first goes.
    assert!(small.hold(35) && other.hold(35));
    assert!(working.hold(31) && !working.is_lost());
    assert_eq!((small.is_lost(), other.is_lost()), (true, false));
    assert!(!other.hold(1_000), "the last one that keeps anything");
    drop(at_work);
    // With its answer taken it keeps nothing.
    working.wait();
    assert!(working.hold(0) && !signed.is_lost());
}
