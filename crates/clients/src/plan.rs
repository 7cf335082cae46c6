//! A change that is worked out and shown before it is made.

use std::path::{Path, PathBuf};

use crate::disk;
use crate::problem::Problem;

/// What a plan does to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing: all is as it should be.
    Nothing,
    /// Makes the file, with the entry alone.
    Create,
    /// Adds the entry.
    Add,
    /// Changes the entry.
    Update,
    /// Brings back the file as it was before the entry.
    Restore,
    /// Takes the entry out of a file that has changed since, or that had it before.
    Remove,
    /// Deletes a file that holds nothing else.
    Delete,
}

/// What becomes of the backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Backup {
    Keep,
    Write(Vec<u8>),
    Remove,
}

/// A change to a client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub(crate) path: PathBuf,
    pub(crate) backup_path: PathBuf,
    pub(crate) action: Action,
    pub(crate) before: Option<Vec<u8>>,
    pub(crate) after: Option<Vec<u8>>,
    pub(crate) backup: Backup,
}

impl Plan {
    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it does.
    #[must_use]
    pub fn action(&self) -> Action {
        self.action
    }

    /// What the file holds now; nothing if there is none.
    #[must_use]
    pub fn before(&self) -> &[u8] {
        self.before.as_deref().unwrap_or_default()
    }

    /// What it will hold; nothing if it will be gone.
    #[must_use]
    pub fn after(&self) -> &[u8] {
        self.after.as_deref().unwrap_or_default()
    }

    /// The copy of the old file that this plan leaves, if it leaves one.
    #[must_use]
    pub fn backup(&self) -> Option<&Path> {
        matches!(self.backup, Backup::Write(_)).then_some(&self.backup_path)
    }

    /// Makes the change.
    ///
    /// # Errors
    /// The file is not as it was when the plan was made, or cannot be written; then it is untouched.
    pub fn apply(&self) -> Result<(), Problem> {
        if self.action == Action::Nothing {
            return Ok(());
        }
        if disk::read(&self.path)? != self.before {
            let problem = Problem::new(&self.path, "has just been changed by another program");
            return Err(problem.hint("run this again"));
        }
        disk::check_writable(&self.path)?;
        if let Backup::Write(bytes) = &self.backup {
            disk::write_like(&self.backup_path, bytes, &self.path)?;
        }
        match &self.after {
            Some(after) => disk::write(&self.path, after)?,
            None => disk::remove(&self.path)?,
        }
        if self.backup == Backup::Remove {
            disk::remove(&self.backup_path)?;
        }
        Ok(())
    }
}
