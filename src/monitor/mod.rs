//! The assets of the monitor page.
