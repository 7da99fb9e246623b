//! How much a line of the log matters.

/// The level of a line; a log that shows one level shows all before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something does not work.
    Error,
    /// Something that a person should look at.
    Warning,
    /// Something that a person wants to know.
    Info,
    /// Everything.
    Detail,
}
