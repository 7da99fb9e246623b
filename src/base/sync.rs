//! Locks that outlive a panic: a thread's death ends the service by itself, so the others may go on reading meanwhile.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, also when a thread died while it held it.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
