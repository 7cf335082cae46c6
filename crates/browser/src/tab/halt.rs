//! What keeps a page from answering.

use std::time::Duration;

use toolgate_core::{Error, Kind};

use super::Dialog;
use crate::devtools::Unanswered;

/// What keeps a page from answering.
#[derive(Debug)]
pub(crate) enum Halt {
    /// A dialog is open.
    Dialog(Dialog),
    /// The tab was closed.
    Closed,
    /// The page crashed.
    Crashed,
    /// The page was left, and with it what was to answer.
    Left,
    /// The browser refused, or something else went wrong.
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Halt> for Error {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Dialog(dialog) => Self::new(
                Kind::InvalidInput,
                format!("a dialog is open: {} {:?}", dialog.kind, dialog.message),
            )
            .hint("answer it with `handle_dialog` first"),
            Halt::Closed => Self::new(Kind::NotFound, "the tab was closed")
                .hint("call `manage_tabs` to see which tabs there are"),
            Halt::Crashed => Self::new(Kind::ConnectionFailed, "the page crashed")
                .hint("call `navigate_to_url` to load one anew"),
            Halt::Left => Self::new(Kind::NotFound, "the page went away meanwhile")
                .hint("call `get_page_snapshot` to see what is there now"),
            Halt::Failed(error) => error,
        }
    }
}

/// What it means that there is no answer.
pub(crate) fn halt(why: Unanswered, limit: Duration) -> Halt {
    match why {
        Unanswered::Over => Halt::Failed(
            Error::new(Kind::ConnectionFailed, "the browser has ended")
                .hint("call `navigate_to_url`: it is started anew, without its pages, cookies and storage"),
        ),
        Unanswered::Late(method) => Halt::Failed(
            Error::new(Kind::Timeout, format!("the page did not answer within {} ms", limit.as_millis()))
                .hint("a script may keep it busy: wait, navigate elsewhere, or close the browser")
                .because(format!("`{method}` was not answered")),
        ),
        Unanswered::Refused(words) if is_left(&words) => Halt::Left,
        Unanswered::Refused(words) if words.contains("Session with given id not found") => Halt::Closed,
        Unanswered::Refused(words) => {
            Halt::Failed(Error::new(Kind::ConnectionFailed, format!("Chromium refused: {words}")))
        }
    }
}

/// Whether the page that was to answer is not there any more.
fn is_left(words: &str) -> bool {
    let gone = [
        "Cannot find context with specified id",
        "Execution context was destroyed",
        "Inspected target navigated or closed",
        "No frame for given id found",
        "Cannot find execution context",
        "uniqueContextId not found",
        "Frame with the given frameId is not found",
    ];
    gone.iter().any(|text| words.contains(text))
}
