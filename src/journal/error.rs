//! The journal's errors, in words that a person can act on.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use super::chain::LineFault;
use super::space::no_space;
use crate::base::denied::denied;
use crate::base::disk_fault::with_disk_fault;
use crate::base::shell::word;

/// In a command, a journal's mode: the journal itself does not know it.
const ANY: &str = "MODE";

/// A place in a journal that is not as it was written. Nothing is changed when one is found.
#[derive(Debug)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// The line in it, counted from 1.
    pub line: u64,
    /// Where that line starts (bytes from the file's start).
    pub byte: u64,
    /// The kind of damage.
    pub what: What,
}

/// The kind of damage at a place.
#[derive(Debug)]
pub enum What {
    /// The line itself.
    Line(LineFault),
    /// The file ends before a byte that is known to have been written.
    Short {
        /// The byte the file reached.
        reached: u64,
        /// Who knows it.
        says: &'static str,
    },
    /// A file that another one names is not there.
    Missing(String),
    /// The value here is not the one that the risk journal recorded.
    NotTheCheckpoint,
    /// The value here is not the one that the event journal recorded.
    NotWhatEventsSaw,
    /// The file does not begin with the record that a journal is started with.
    NoBeginning,
    /// The risk journal is gone from beside its events.
    Gone {
        /// The last file of events.
        beside: String,
    },
    /// The redo file is gone, and only it could say whether lines are missing at the end.
    NoRedo,
    /// The bytes are not those of the batch that was being written.
    NotTheBatch,
    /// The record is of another journal.
    Foreign {
        /// The member that names its owner.
        key: &'static str,
        /// Its value in the record.
        stated: String,
        /// Its value in a record of this journal.
        wanted: String,
    },
    /// The same file stands in the journal's folder and in its fallback folder.
    Twice,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}, byte {}: ", self.file.display(), self.line, self.byte)?;
        match &self.what {
            What::Line(fault) => write!(f, "{fault}")?,
            What::Short { reached, says } => {
                write!(f, "lines are missing: {says} says that the file reached byte {reached}")?;
            }
            What::Missing(name) => write!(f, "this line names the file {name}, which is not there")?,
            What::NotTheCheckpoint => {
                f.write_str("the chain here is not the one that the risk journal recorded")?;
            }
            What::NotWhatEventsSaw => f.write_str("the chain here is not the one that the event journal recorded")?,
            What::NoBeginning => {
                f.write_str("the file does not begin with the record that journal-init starts a journal with")?;
            }
            What::Gone { beside } => write!(f, "the risk journal is gone, and its events stand in {beside}")?,
            What::NoRedo => f.write_str(
                "the file is gone or empty, and the service was not ended in order, so nobody can tell whether lines are \
                 missing at the journal's end",
            )?,
            What::NotTheBatch => {
                f.write_str("these bytes are not those of the batch that tail.redo says was written")?;
            }
            What::Foreign { key, stated, wanted } => {
                write!(f, "this is the journal of another: its {key} is {stated}, not {wanted}")?;
            }
            What::Twice => f.write_str("the same file stands in the fallback folder too")?,
        }
        f.write_str(
            ". Nothing was changed. Look at that place; bring the file back from a copy, or set the whole journal folder \
             aside and start a new journal, which forgets the day's loss, the peak and any halt of this one: \
             `svc-guard journal-init --mode MODE --note TEXT`",
        )
    }
}

impl std::error::Error for Damage {}

/// Why a journal was not opened or started. Every variant is a refusal: nothing was changed.
#[derive(Debug)]
pub enum OpenError {
    /// There is no risk journal in this folder.
    NoRiskJournal(PathBuf),
    /// There is none in this folder, and a service has written one there before.
    Lost(PathBuf),
    /// There already is one.
    Exists(PathBuf),
    /// Another process holds the journal.
    Locked {
        /// The lock file.
        file: PathBuf,
        /// The holder's process id, where it can be seen from here.
        pid: Option<u32>,
    },
    /// A file or folder that the journal cannot trust.
    NotOurs {
        /// It.
        path: PathBuf,
        /// Why: a symbolic link, another owner, not a plain file.
        why: &'static str,
    },
    /// A file or folder that others can write.
    Writable {
        /// It.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// An older copy of the whole journal.
    OlderCopy {
        /// The file outside the journal that says so.
        witness: PathBuf,
        /// The file that once reached farther.
        file: PathBuf,
        /// The byte that it reached.
        reached: u64,
    },
    /// The journal's other part may stand in a fallback folder that cannot be read, or that another folder stands in the place of.
    FallbackAway {
        /// The folder.
        folder: PathBuf,
        /// Why it cannot be read.
        why: String,
    },
    /// The journal is not as it was written.
    Damaged(Box<Damage>),
    /// Reading or writing failed.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        error: io::Error,
    },
}

impl OpenError {
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> OpenError + '_ {
        |error| OpenError::Io { path: path.to_owned(), error }
    }

    /// The text, with the mode of the journal in the command that it names.
    #[must_use]
    pub fn told(&self, mode: &str) -> String {
        self.to_string().replace(&format!("--mode {ANY}"), &format!("--mode {mode}"))
    }

    /// Whether nothing but room on a disk is missing: once there is some, the journal can be opened.
    #[must_use]
    pub fn is_for_want_of_room(&self) -> bool {
        matches!(self, OpenError::Io { error, .. } if no_space(error))
    }
}

impl From<Damage> for OpenError {
    fn from(damage: Damage) -> OpenError {
        OpenError::Damaged(Box::new(damage))
    }
}

/// What a journal does that is begun anew in the place of another.
pub const FORGETS: &str = "forgets the day's loss, the peak and any halt of that one";

/// The process that holds a lock, and how it is ended, in words.
fn holder(pid: Option<u32>) -> (String, String) {
    match pid {
        Some(pid) => {
            (format!("pid {pid}"), format!("`kill {pid}` ends it in order, and where it hangs `kill -9 {pid}`, or"))
        }
        None => {
            let unseen = "its process cannot be seen from here: it may be another container's";
            (unseen.to_owned(), "in its container, or by".to_owned())
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::NoRiskJournal(folder) => {
                let folder = folder.display();
                write!(
                    f,
                    "there is no risk journal in {folder}: `svc-guard journal-init --mode {ANY} --note TEXT` starts one"
                )
            }
            OpenError::Lost(folder) => {
                let folder = folder.display();
                write!(
                    f,
                    "the journal is gone that a guard of this home wrote in {folder}: bring that folder back. \
                     `svc-guard journal-init --mode {ANY} --note TEXT` starts a new one, which {FORGETS}"
                )
            }
            OpenError::Exists(file) => {
                write!(
                    f,
                    "{} already exists, and a journal is never replaced: to start anew, set its folder aside first",
                    file.display()
                )
            }
            OpenError::Locked { file, pid } => {
                let (whose, ends) = holder(*pid);
                let file = file.display();
                write!(
                    f,
                    "the journal is locked by another running service ({whose}, lock {file}): stop it first: {ends} `systemctl stop \
                     svc-guard` where that unit runs it"
                )
            }
            OpenError::NotOurs { path, why } => {
                write!(
                    f,
                    "{} is refused: it is {why}; put a plain file or folder of the journal's owner there",
                    path.display()
                )
            }
            OpenError::Writable { path, mode } => {
                let (shown, word) = (path.display(), word(path));
                write!(f, "{shown} has mode {mode:04o}, so others can write it; run `chmod go-w {word}`")
            }
            OpenError::OlderCopy { witness, file, reached } => {
                let witness = witness.display();
                write!(
                    f,
                    "this is an older copy of the journal: {witness} says that {} reached byte {reached}. Bring the newer one \
                     back; where there is none, check at the venue what is open, remove {witness} and start again: halts, \
                     fills and used nonces since then are not known",
                    file.display()
                )
            }
            OpenError::FallbackAway { folder, why } => write!(
                f,
                "a part of this journal may stand in the fallback folder {}, which cannot be used ({why}): make it readable again, \
                 or move its files into the journal's folder and remove the file `fallback` there. Where it is lost, look at the \
                 venue what is open before that file is removed: halts, fills and used nonces that stood only there are not known",
                folder.display()
            ),
            OpenError::Damaged(damage) => write!(f, "damaged journal: {damage}"),
            OpenError::Io { path, error } if error.kind() == io::ErrorKind::PermissionDenied => {
                write!(f, "{}: {}", path.display(), denied(path, error))
            }
            OpenError::Io { path, error } => write!(f, "{}: {}", path.display(), with_disk_fault(error, path)),
        }
    }
}

impl std::error::Error for OpenError {}

/// Why a batch is not on disk.
#[derive(Debug)]
pub enum JournalError {
    /// A write, sync or creation failed, also when tried again.
    Disk {
        /// The file.
        path: PathBuf,
        /// The system's answer to the last try.
        error: io::Error,
    },
    /// The disk is full, and what is left of it is kept for records that are worth more. It is let go.
    NoRoom(PathBuf),
    /// A text that cannot be a line. The batch is dropped whole.
    Line(LineFault),
    /// The batch is larger than one write may be. It is dropped whole.
    TooLarge {
        /// The largest batch (bytes).
        limit: usize,
        /// This one (bytes).
        size: usize,
    },
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JournalError::Disk { path, error } => {
                write!(f, "the journal cannot be written: {}: {error}; make space or repair the disk", path.display())
            }
            JournalError::NoRoom(path) => {
                write!(f, "the disk of {} is full, and its reserve is kept for closing: make space", path.display())
            }
            JournalError::Line(fault) => write!(f, "a journal record was refused: {fault}"),
            JournalError::TooLarge { limit, size } => {
                write!(f, "a batch of {size} bytes was refused: the journal writes at most {limit} bytes at once")
            }
        }
    }
}

impl std::error::Error for JournalError {}

/// Why a look-up gave no answer.
#[derive(Debug)]
pub enum LookupError {
    /// The index does not reach over the whole journal yet; ask again later.
    Rebuilding,
    /// Not `0x` and 32 hex digits.
    NotACloid,
    /// The event that the index names could not be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LookupError::Rebuilding => f.write_str("the index of the journal is being rebuilt: ask again in a moment"),
            LookupError::NotACloid => f.write_str("a client order id is 0x and 32 hex digits"),
            LookupError::Unreadable { path, why } => write!(f, "{}: {why}", path.display()),
        }
    }
}

impl std::error::Error for LookupError {}
