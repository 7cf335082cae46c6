//! What a failed file operation means to the caller.
//!
//! A path that leads out is `denied`: asking again in other words will not help. A text that cannot be a path,
//! `..` included, is `invalidInput`: the caller can correct it. No message names a place on the host.

use toolgate_core::{Error, Kind};
use toolgate_host::FileError;

/// What to try next, in the words of the tool that failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Advice {
    /// When nothing is at the path.
    pub(crate) missing: &'static str,
    /// When there are more bytes than allowed.
    pub(crate) large: &'static str,
}

/// The error of a file operation as the error of a call.
pub(crate) fn failure(error: FileError, advice: Advice) -> Error {
    let (kind, hint) = sort(&error, advice);
    let failed = Error::new(kind, error.to_string());
    let failed = match hint {
        Some(hint) => failed.hint(hint),
        None => failed,
    };
    failed.because(error)
}

fn sort(error: &FileError, advice: Advice) -> (Kind, Option<&'static str>) {
    match error {
        FileError::NotFound { .. } => (Kind::FileNotFound, Some(advice.missing)),
        FileError::Outside { .. } | FileError::Permission { .. } => (Kind::Denied, error.hint()),
        FileError::Protected { .. } => {
            (Kind::Denied, Some("ask a person to change it: what is written there is run or obeyed"))
        }
        FileError::InvalidPath { .. } => {
            (Kind::InvalidInput, Some("give a path from the root, without `..`"))
        }
        FileError::NotAFile { .. } => (Kind::InvalidInput, Some("give the path of a regular file")),
        FileError::NotADirectory { .. } => {
            (Kind::InvalidInput, Some("list the folder above it to see what exists"))
        }
        FileError::TooLarge { .. } => (Kind::InvalidInput, Some(advice.large)),
        FileError::AlreadyExists { .. } => {
            (Kind::InvalidInput, Some("choose another path, or replace what is there"))
        }
        // The one kind that tells the caller to try the same again.
        FileError::Busy { .. } => (Kind::Timeout, error.hint()),
        FileError::NoSpace { .. } | FileError::Io { .. } => (Kind::Internal, error.hint()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADVICE: Advice = Advice { missing: "look", large: "less" };

    #[track_caller]
    fn check(error: FileError, kind: Kind, hint: Option<&str>) {
        let failed = failure(error, ADVICE);
        assert_eq!((failed.kind(), failed.next_step()), (kind, hint));
        assert!(failed.message().contains("`a.md`"), "{failed}");
        assert!(!failed.message().contains("/home"), "{failed}");
    }

    #[test]
    fn each_failure_asks_for_its_own_reaction() {
        let path = || "a.md".to_owned();
        check(FileError::NotFound { path: path() }, Kind::FileNotFound, Some("look"));
        check(FileError::TooLarge { path: path(), size: 9, limit: 3 }, Kind::InvalidInput, Some("less"));
        check(FileError::Busy { path: path() }, Kind::Timeout, Some("try again in a moment"));
        check(FileError::Permission { path: path() }, Kind::Denied, None);
        let obeyed = "ask a person to change it: what is written there is run or obeyed";
        check(FileError::Protected { path: path() }, Kind::Denied, Some(obeyed));
        let source = std::io::Error::other("/home/someone/a.md: bad disk");
        check(FileError::Io { path: path(), source }, Kind::Internal, None);
    }
}
