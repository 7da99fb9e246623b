//! The least that a service behind a socket can take for a decision on this machine: the same recovery and sync, with nothing
//! read, judged or told, on the connection's own thread or handed to one that serializes all of them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

use crate::reference::Reference;
use crate::samples::{Nanos, Samples};

/// As long as a signed order over HTTP.
const QUESTION: usize = 700;
/// As long as its answer.
const ANSWER: usize = 600;
const TIMES: u32 = 1_000;

/// Who does the work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// The thread that reads the socket.
    Here,
    /// Recovery there, the sync on a thread that all connections share.
    Shared,
}

/// How long one question and its answer take.
pub(crate) fn measure(folder: &Path, line: usize, work: Work) -> Result<Samples, String> {
    let said = |error: std::io::Error| error.to_string();
    let listener = TcpListener::bind("127.0.0.1:0").map_err(said)?;
    let mut client = TcpStream::connect(listener.local_addr().map_err(said)?).map_err(said)?;
    client.set_nodelay(true).map_err(said)?;
    let (socket, _) = listener.accept().map_err(said)?;
    socket.set_nodelay(true).map_err(said)?;
    let (mut own, mut shared) = (Reference::new(folder, line)?, Reference::new(folder, line)?);
    let (asked, questions) = channel();
    let (answered, answers) = channel();
    let serializer = thread::spawn(move || serialize(&mut shared, &questions, &answered));
    let server = thread::spawn(move || serve(socket, &mut own, work, (&asked, &answers)));

    let mut samples = Samples::default();
    let mut answer = [0; ANSWER];
    for _ in 0..TIMES {
        let begun = Instant::now();
        client.write_all(&[b'7'; QUESTION]).and_then(|()| client.read_exact(&mut answer)).map_err(said)?;
        samples.add(Nanos::of(begun.elapsed()));
    }
    drop(client);
    let ended =
        |thread: thread::JoinHandle<Result<(), String>>| thread.join().map_err(|_| "a thread died".to_owned())?;
    ended(server)?;
    ended(serializer)?;
    Ok(samples)
}

/// Answers each question until the client goes.
fn serve(
    mut socket: TcpStream,
    own: &mut Reference,
    work: Work,
    (asked, answers): (&Sender<()>, &Receiver<()>),
) -> Result<(), String> {
    let mut question = [0; QUESTION];
    while socket.read_exact(&mut question).is_ok() {
        own.recover()?;
        if work == Work::Here {
            own.append()?;
        } else {
            asked.send(()).map_err(|error| error.to_string())?;
            answers.recv().map_err(|error| error.to_string())?;
        }
        socket.write_all(&[b'7'; ANSWER]).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn serialize(shared: &mut Reference, questions: &Receiver<()>, answered: &Sender<()>) -> Result<(), String> {
    while questions.recv().is_ok() {
        shared.append()?;
        answered.send(()).map_err(|error| error.to_string())?;
    }
    Ok(())
}
