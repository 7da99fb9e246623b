//! The steps: each is named here and nowhere else, so that a test can walk them all.

/// Names every step once: a step that is added is in the list.
macro_rules! steps {
    ($($(#[$doc:meta])* $step:ident = $name:literal,)+) => {
        /// A step that can fail.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Step { $($(#[$doc])* $step,)+ }

        impl Step {
            /// All steps: first those of a batch's way to disk, then those of an action's way to the venue, then the threads', and at
            /// last those of the notifier, a process of its own.
            pub const ALL: &'static [Step] = &[$(Step::$step,)+];

            /// The name that scripts know it by.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Step::$step => $name,)+ }
            }
        }
    };
}

steps! {
    /// Writing the batch to `tail.redo`.
    RedoWrite = "redo_write",
    /// Creating a file of events.
    EventsCreate = "events_create",
    /// Writing events.
    EventsWrite = "events_write",
    /// Syncing events.
    EventsSync = "events_sync",
    /// Making a new file of events durable in its folder.
    EventsFolderSync = "events_folder_sync",
    /// Creating a file of the risk journal.
    RiskCreate = "risk_create",
    /// Writing risk records.
    RiskWrite = "risk_write",
    /// Syncing risk records.
    RiskSync = "risk_sync",
    /// Making a new file of the risk journal durable in its folder.
    RiskFolderSync = "risk_folder_sync",
    /// Allocating the reserve file.
    ReserveCreate = "reserve_create",
    /// Writing a file of the index.
    IndexWrite = "index_write",
    /// After the last sync, before anybody is told.
    Release = "release",
    /// Before a waiting client is answered.
    Answer = "answer",
    /// A sender has taken an action; nothing of it has left.
    SendTaken = "send_taken",
    /// The action is signed; nothing of it has left.
    SendSigned = "send_signed",
    /// The action was written to the venue; no answer was read.
    SendWritten = "send_written",
    /// The venue's answer was read; nobody was told.
    SendAnswered = "send_answered",
    /// Before the venue is asked something.
    Ask = "ask",
    /// The question was written to the venue; no answer was read.
    AskWritten = "ask_written",
    /// The kill file is about to be written for a client.
    KillFileWrite = "kill_file_write",
    /// A request came to a worker.
    Request = "request",
    /// The decision loop's next turn.
    Decide = "decide",
    /// The poller's next turn.
    Poll = "poll",
    /// The kill file is looked for.
    KillFileLook = "kill_file_look",
    /// A thread goes on that hears or tells what others have to say: `log`, `signals`, `history`.
    Aside = "aside",
    /// The weight spent is about to be kept for the next life.
    WeightKept = "weight_kept",
    /// The notifier looked at the guard; nothing of it was taken in.
    NotifyLooked = "notify_looked",
    /// What was seen is filed in the notifier's memory; nobody was told.
    NotifyFiled = "notify_filed",
    /// A target is about to be told.
    NotifyTell = "notify_tell",
    /// A target said yes; its place was not moved.
    NotifyTold = "notify_told",
    /// The notifier's state is about to be written.
    NotifyKeep = "notify_keep",
    /// The notifier's state is on disk.
    NotifyKept = "notify_kept",
}
