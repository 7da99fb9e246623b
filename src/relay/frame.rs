//! A frame on its way to clients: one text however many they are. A text that is kept for who comes late. And how much memory all
//! such texts take.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// A frame that goes to clients.
#[derive(Debug, Clone)]
pub struct Frame(Arc<Text>);

#[derive(Debug)]
struct Text {
    text: Box<str>,
    beside: usize,
    memory: Memory,
}

/// A frame that is there as long as some client has it.
#[derive(Debug, Default)]
pub(super) struct Lent(Weak<Text>);

/// A text that is kept for who comes late: a copy, which nobody waits for.
#[derive(Debug)]
pub(super) struct Kept(Text);

/// What a text that is kept takes beside its letters.
const BESIDE: usize = 64;

/// The bytes of all frames that somebody has, or of all texts that are kept, each counted once.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory(Arc<AtomicUsize>);

impl Memory {
    pub(super) fn keep(&self, text: &str) -> Kept {
        self.0.fetch_add(text.len().saturating_add(BESIDE), Ordering::Relaxed);
        Kept(Text { text: text.into(), beside: BESIDE, memory: self.clone() })
    }

    pub(super) fn frame(&self, text: impl Into<Box<str>>) -> Frame {
        let text = text.into();
        self.0.fetch_add(text.len(), Ordering::Relaxed);
        Frame(Arc::new(Text { text, beside: 0, memory: self.clone() }))
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// How frames begin that answer what a client sent.
const ANSWERS: [&str; 2] = [r#"{"channel":"subscriptionResponse""#, r#"{"channel":"error""#];

impl Frame {
    /// Whether it answers something that the client sent, and is nothing that it subscribed to.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        ANSWERS.iter().any(|head| self.0.text.starts_with(head))
    }

    pub(super) fn lent(&self) -> Lent {
        Lent(Arc::downgrade(&self.0))
    }
}

impl Lent {
    pub(super) fn frame(&self) -> Option<Frame> {
        self.0.upgrade().map(Frame)
    }
}

impl Deref for Frame {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.text
    }
}

impl Kept {
    pub(super) fn text(&self) -> &str {
        &self.0.text
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl Text {
    fn bytes(&self) -> usize {
        self.text.len().saturating_add(self.beside)
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        self.memory.0.fetch_sub(self.bytes(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_counts_once_and_as_long_as_somebody_has_it() {
        let memory = Memory::default();
        let (frame, other) = (memory.frame("twelve bytes"), memory.frame("four"));
        let (again, lent) = (frame.clone(), frame.lent());
        assert_eq!((memory.bytes(), &*again), (16, "twelve bytes"));
        drop(frame);
        assert_eq!((memory.bytes(), lent.frame().is_some()), (16, true));
        drop((again, other));
        assert_eq!((memory.bytes(), lent.frame().is_some()), (0, false));
        let kept = memory.keep("kept");
        assert_eq!((memory.bytes(), kept.bytes(), kept.text()), (4 + BESIDE, 4 + BESIDE, "kept"));
        drop(kept);
        assert_eq!(memory.bytes(), 0);
    }
}
