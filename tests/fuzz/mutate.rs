//! Grows inputs: cuts, doubles, mixes and spoils the ones that are there.

/// Longer than any bound of the parsers on small things, and short enough to be quick.
const MAX_INPUT: usize = 20 * 1024;
/// Bytes at which readers of text decide something.
const TELLING: &[u8] = b"\0\t\n\r \"%,-.0159:;?AZ[\\]`az{}\x7f\x80\xc3\xff";
/// Numbers at the ends of what a reader can hold.
pub(super) const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-1",
    "1e3",
    "1.5",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "0.000000001",
    "1e999",
    "79228162514264337593543950336",
];

/// A seeded source of inputs: the same inputs for the same seed, on every machine.
pub(super) struct Mutator<'a> {
    state: u64,
    words: &'a [&'a str],
}

impl<'a> Mutator<'a> {
    pub(super) fn new(seed: u64, words: &'a [&'a str]) -> Self {
        Self { state: seed, words }
    }

    /// The next number of the SplitMix64 sequence, below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A part of `bytes`, by its ends; short ones are likelier.
    fn part(&mut self, bytes: &[u8]) -> (usize, usize) {
        let start = self.below(bytes.len() + 1);
        let most = if self.below(2) == 0 { 8 } else { bytes.len() };
        (start, (start + self.below(most + 1)).min(bytes.len()))
    }

    /// How many changes follow the first: mostly none.
    pub(super) fn few(&mut self) -> usize {
        if self.below(3) == 0 { self.below(6) } else { 0 }
    }

    /// A text that the parser knows.
    pub(super) fn word(&mut self) -> &'a str {
        self.pick(self.words)
    }

    /// An input made from those in the pool.
    pub(super) fn grow(&mut self, pool: &[Vec<u8>]) -> Vec<u8> {
        let chosen = self.below(pool.len());
        let mut input = pool[chosen].clone();
        for _ in 0..=self.few() {
            self.change(&mut input, pool);
            input.truncate(MAX_INPUT);
        }
        input
    }

    /// One change that needs nothing but the bytes themselves.
    pub(super) fn change_bytes(&mut self, bytes: &mut Vec<u8>) {
        self.change(bytes, &[]);
        bytes.truncate(MAX_INPUT);
    }

    fn change(&mut self, input: &mut Vec<u8>, pool: &[Vec<u8>]) {
        let (start, end) = self.part(input);
        match self.below(if pool.is_empty() { 7 } else { 9 }) {
            0 => {
                if let Some(byte) = input.get_mut(start) {
                    *byte ^= 1 << self.below(8);
                }
            }
            1 => drop(input.splice(start..end, [self.pick(TELLING)])),
            2 => drop(input.drain(start..end)),
            3 => input.truncate(start),
            4 => {
                let word = self.word();
                drop(input.splice(start..start, word.bytes()));
            }
            5 => self.replace_number(input),
            6 => {
                let times = if self.below(8) == 0 { 200 } else { 1 + self.below(3) };
                let part = input[start..end].repeat(times);
                drop(input.splice(end..end, part));
            }
            7 => {
                let other = &pool[self.below(pool.len())];
                let (from, to) = self.part(other);
                drop(input.splice(start..end, other[from..to].iter().copied()));
            }
            _ => {
                let other = &pool[self.below(pool.len())];
                let (from, _) = self.part(other);
                input.truncate(start);
                input.extend_from_slice(&other[from..]);
            }
        }
    }

    /// Puts another number in the place of one.
    fn replace_number(&mut self, input: &mut Vec<u8>) {
        let from = self.below(input.len() + 1);
        let Some(start) = (from..input.len()).find(|index| input[*index].is_ascii_digit()) else { return };
        let end = (start..input.len()).find(|index| !input[*index].is_ascii_digit()).unwrap_or(input.len());
        let number = self.pick(NUMBERS);
        drop(input.splice(start..end, number.bytes()));
    }
}
