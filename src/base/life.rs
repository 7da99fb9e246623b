//! A number for the life of this process: which of several answers is this one's.

use std::sync::OnceLock;

use super::files::fill_random;
use super::hex;

/// The same as long as this process lives, and no other one's; empty where the system gives no random bytes.
#[must_use]
pub fn of_process() -> &'static str {
    static LIFE: OnceLock<String> = OnceLock::new();
    LIFE.get_or_init(|| {
        let mut bytes = [0_u8; 8];
        fill_random(&mut bytes).map_or_else(|_| String::new(), |()| hex::to_hex(&bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::of_process;

    #[test]
    fn it_is_one_number() {
        assert_eq!((of_process().len(), of_process()), (18, of_process()));
    }
}
