//! Locks that outlive a panic, since a thread's death ends the service by itself and the others may go on reading meanwhile; and
//! waits without going to sleep, for what is about to come.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Locks `mutex`, also when a thread died while it held it.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks again and again for what comes any moment, for at most so long, without going to sleep: to be woken takes longer than
/// many a piece of work. Whatever else could run goes first, and where there is one core alone it looks once.
pub fn look_out<T>(longest: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
    let begun = Instant::now();
    loop {
        let found = look();
        if found.is_some() || cores < 2 || begun.elapsed() >= longest {
            return found;
        }
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_is_found_and_what_does_not_is_given_up() {
        let mut looks = 0;
        let mut third = || {
            looks += 1;
            (looks == 3).then_some(looks)
        };
        let is_single = std::thread::available_parallelism().is_ok_and(|cores| cores.get() == 1);
        assert_eq!(look_out(Duration::from_secs(60), &mut third), (!is_single).then_some(3));
        assert_eq!(look_out(Duration::from_millis(1), || None::<()>), None);
    }
}
