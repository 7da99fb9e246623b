//! A client's stream as the protocol's library sees it. Texts go out beside the library, from where they are: a frame of a
//! subscription is one text however many clients wait for it, and no connection has a copy. What is kept for a connection,
//! unread and untaken, is counted against what its place may hold.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::TcpStream;
use std::rc::Rc;

use crate::relay::Frame;
use crate::service::server::gate::Slot;

/// Its first bytes say that a frame is a whole text.
const WHOLE_TEXT: u8 = 0x81;
/// Texts that are written at once.
const AT_ONCE: usize = 32;
/// What is held is told in steps of so many bytes: short messages and answers need no look at what others hold.
const STEP: usize = 16 * 1024;

/// The stream.
pub(super) struct Wire {
    slot: Rc<Slot>,
    stream: TcpStream,
    texts: VecDeque<Outgoing>,
    /// Bytes of the texts that are this connection's alone.
    own: usize,
    /// Whether what the library writes stands half written: nothing may go between.
    is_amid: bool,
    /// Bytes that came since the last whole message.
    unfinished: usize,
    /// Answers that wait elsewhere.
    beside: usize,
    told: usize,
    /// Its place is another's: nothing more is read.
    is_lost: bool,
}

/// A text to be written.
pub(super) enum Words {
    Own(String),
    Shared(Frame),
}

/// A text with what stands before it, and how much of both is written.
struct Outgoing {
    head: Vec<u8>,
    words: Words,
    written: usize,
}

impl Words {
    fn bytes(&self) -> &[u8] {
        match self {
            Words::Own(text) => text.as_bytes(),
            Words::Shared(frame) => frame.as_bytes(),
        }
    }

    fn own(&self) -> usize {
        if let Words::Own(text) = self { text.len() } else { 0 }
    }
}

impl Outgoing {
    /// Source: RFC 6455, section 5.2.
    fn new(words: Words) -> Self {
        let length = words.bytes().len();
        let mut head = vec![WHOLE_TEXT];
        match (u8::try_from(length), u16::try_from(length)) {
            (Ok(short @ 0..=125), _) => head.push(short),
            (_, Ok(middle)) => {
                head.push(126);
                head.extend(middle.to_be_bytes());
            }
            _ => {
                head.push(127);
                head.extend(u64::try_from(length).unwrap_or(u64::MAX).to_be_bytes());
            }
        }
        Self { head, words, written: 0 }
    }

    fn left(&self) -> [&[u8]; 2] {
        let head = self.head.get(self.written..).unwrap_or_default();
        let text = self.words.bytes();
        [head, text.get(self.written.saturating_sub(self.head.len())..).unwrap_or_default()]
    }
}

impl Wire {
    pub(super) fn new(stream: TcpStream, slot: Rc<Slot>) -> Self {
        let texts = VecDeque::new();
        Self { slot, stream, texts, own: 0, is_amid: false, unfinished: 0, beside: 0, told: 0, is_lost: false }
    }

    pub(super) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Puts a text behind what waits to be written.
    pub(super) fn put(&mut self, words: Words) {
        self.own = self.own.saturating_add(words.own());
        self.texts.push_back(Outgoing::new(words));
    }

    /// Bytes of answers that wait to be written.
    pub(super) fn own(&self) -> usize {
        self.own
    }

    /// What came was a whole message.
    pub(super) fn came_whole(&mut self) {
        self.unfinished = 0;
        self.slot.stay();
    }

    /// Says what is held, with so many bytes of answers that wait elsewhere.
    pub(super) fn hold(&mut self, beside: usize) {
        self.beside = beside;
        let held = self.unfinished.saturating_add(self.own).saturating_add(beside);
        let held = held.div_euclid(STEP).saturating_mul(STEP);
        if held != self.told {
            self.told = held;
            self.is_lost |= !self.slot.hold(held);
        }
    }

    /// Lets go of all that waits; whether a word more can be said.
    pub(super) fn let_go(&mut self) -> bool {
        self.own = 0;
        let is_between = !self.is_amid && self.texts.front().is_none_or(|text| text.written == 0);
        self.texts = VecDeque::new();
        is_between
    }

    fn write_texts(&mut self) -> io::Result<()> {
        while !self.texts.is_empty() {
            let slices: Vec<IoSlice<'_>> =
                self.texts.iter().take(AT_ONCE).flat_map(Outgoing::left).map(IoSlice::new).collect();
            match self.stream.write_vectored(&slices) {
                Ok(0) => return Err(ErrorKind::ConnectionReset.into()),
                Ok(count) => {
                    self.wrote(count);
                    self.slot.stay();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn wrote(&mut self, mut count: usize) {
        while let Some(first) = self.texts.front_mut() {
            let left = first.left().iter().map(|part| part.len()).sum::<usize>();
            if count < left {
                first.written = first.written.saturating_add(count);
                return;
            }
            count = count.saturating_sub(left);
            self.own = self.own.saturating_sub(first.words.own());
            self.texts.pop_front();
        }
    }
}

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_lost {
            return Err(ErrorKind::WouldBlock.into());
        }
        let count = self.stream.read(into)?;
        self.unfinished = self.unfinished.saturating_add(count);
        self.hold(self.beside);
        Ok(count)
    }
}

impl Write for Wire {
    /// What the library says of its own: pongs, and the close.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_amid {
            self.write_texts()?;
        }
        let count = self.stream.write(bytes)?;
        self.is_amid = count < bytes.len();
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_texts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_a_text_says_how_long_it_is() {
        for length in [0, 1, 125, 126, 65_535, 65_536, 1_000_000] {
            let mut outgoing = Outgoing::new(Words::Own("x".repeat(length)));
            let whole = outgoing.left().concat();
            let mut from = tungstenite::WebSocket::from_raw_socket(
                io::Cursor::new(whole.clone()),
                tungstenite::protocol::Role::Client,
                None,
            );
            assert_eq!(from.read().unwrap().into_text().unwrap().len(), length);
            for written in [0, 1, outgoing.head.len(), whole.len() / 2, whole.len()] {
                outgoing.written = written.min(whole.len());
                assert_eq!(outgoing.left().concat(), whole[outgoing.written..], "{length} {written}");
            }
        }
    }
}
