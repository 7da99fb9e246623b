//! One minute, and its bytes on disk: fixed in size, exact in its amounts, and worth nothing without their checksum.

use rust_decimal::Decimal;

/// A minute, in milliseconds.
pub const MINUTE_MS: u64 = 60_000;
/// Bytes of an amount.
const AMOUNT: usize = 16;
/// Bytes of a point: its minute, three amounts and the checksum.
pub(super) const SIZE: usize = 8 + 3 * AMOUNT + 8;

/// What one minute was measured as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Minutes since 1970.
    pub minute: u64,
    /// The last equity measured in it.
    pub last: Decimal,
    /// The lowest one.
    pub low: Decimal,
    /// The highest one.
    pub high: Decimal,
}

impl Point {
    /// A minute of which one equity is known.
    #[must_use]
    pub fn of(at_ms: u64, equity: Decimal) -> Self {
        Self { minute: at_ms / MINUTE_MS, last: equity, low: equity, high: equity }
    }

    /// Takes in what was measured after it.
    pub fn take(&mut self, later: &Point) {
        self.last = later.last;
        self.low = self.low.min(later.low);
        self.high = self.high.max(later.high);
    }

    /// The point as it stands on disk.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let amounts = [self.last, self.low, self.high].map(|amount| amount.serialize()).concat();
        let fields = [self.minute.to_le_bytes().as_slice(), &amounts].concat();
        let sum = checksum(&fields).to_le_bytes();
        [fields.as_slice(), &sum].concat()
    }

    /// The point that stands there; `None` where there is none, or none that can be believed.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (fields, sum) = bytes.split_last_chunk()?;
        if bytes.len() != SIZE || checksum(fields) != u64::from_le_bytes(*sum) {
            return None;
        }
        let (minute, rest) = fields.split_first_chunk()?;
        let (last, rest) = rest.split_first_chunk::<AMOUNT>()?;
        let (low, high) = rest.split_first_chunk::<AMOUNT>()?;
        let [last, low, high] = [*last, *low, high.try_into().ok()?].map(Decimal::deserialize);
        Some(Self { minute: u64::from_le_bytes(*minute), last, low, high })
    }
}

/// FNV-1a: whatever one byte is changed to, the sum is another, and no sum of zeros is zero.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
