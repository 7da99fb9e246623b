//! Names and texts of records.

use std::borrow::Cow;

/// A name or text that is a constant where it is written, and owned where it was read.
pub type Text = Cow<'static, str>;
