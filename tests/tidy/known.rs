//! The breaches that are known. These lists only shrink: a breach that is not in them fails, and so does an entry that
//! is no breach any more.

/// Arrows between rooms that the table does not have.
pub(crate) const ARROWS: &[&str] = &[];
/// Files that use what their room must do without.
pub(crate) const OUTSIDE: &[&str] = &[];
/// Files that stand in a circle.
pub(crate) const CIRCLES: &[&str] = &[];
/// Functions over the limit of lines.
pub(crate) const LONG_FUNCTIONS: &[&str] = &[];
/// Functions over the limit of parameters.
pub(crate) const MANY_PARAMETERS: &[&str] = &[];
/// Files over the limit of lines.
pub(crate) const LONG_FILES: &[&str] = &[];
/// Files that open with no documentation.
pub(crate) const WITHOUT_MODULE_DOC: &[&str] = &[];
/// Texts that should not stand where they do.
pub(crate) const BANNED: &[&str] = &[];
/// Files of rules without one code of their own, or without a test named alike.
pub(crate) const RULE_FILES: &[&str] = &[];
