//! Entries taken out of clients' files, and put back.

use std::path::{Path, PathBuf};

use super::Origin;
use super::place::format;
use crate::client::Client;
use crate::disk;
use crate::format::{Fault, Format};
use crate::plan::{Action, Backup, Plan};
use crate::problem::Problem;
use crate::text::{self, Text};

/// What the copy of a file is called, after the file's own name.
const ENDING: &str = ".import-backup";

/// What was, or will be, taken out of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    /// Whose file it is.
    pub client: Client,
    /// The file.
    pub file: PathBuf,
    /// Where the file as it was is kept.
    pub backup: PathBuf,
    /// The entries: the keys that lead to their list, and their names.
    pub entries: Vec<(Vec<String>, String)>,
}

impl Withdrawal {
    /// Entries by file.
    #[must_use]
    pub fn of<'a>(origins: impl IntoIterator<Item = &'a Origin>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for origin in origins {
            let entry = (origin.container.clone(), origin.name.clone());
            match all.iter_mut().find(|known| known.file == origin.file) {
                Some(known) => known.entries.push(entry),
                None => all.push(Self {
                    client: origin.client,
                    file: origin.file.clone(),
                    backup: free(&origin.file),
                    entries: vec![entry],
                }),
            }
        }
        all
    }

    fn format(&self) -> Format {
        format(self.client, &self.file)
    }
}

/// A name beside a file that no earlier copy has.
fn free(file: &Path) -> PathBuf {
    let named = |count: u32| {
        let mut name = file.to_owned().into_os_string();
        name.push(ENDING);
        if count > 1 {
            name.push(format!("-{count}"));
        }
        PathBuf::from(name)
    };
    let mut names = (1..=u32::MAX).map(named);
    names.find(|name| name.symlink_metadata().is_err()).unwrap_or_else(|| named(1))
}

/// The plan to take entries out of a file; a copy of it is kept beside it.
///
/// # Errors
/// The file cannot be read, or is written in a manner that cannot be changed safely.
pub fn withdraw(what: &Withdrawal) -> Result<Plan, Problem> {
    let before = disk::read(&what.file)?;
    let content = decode(&what.file, before.as_deref().unwrap_or_default())?;
    let after = without(what, &content)?;
    let changed = before.as_ref().is_some_and(|before| *before != after);
    let backup = before.clone().filter(|_| changed).map_or(Backup::Keep, Backup::Write);
    let action = if changed { Action::Remove } else { Action::Nothing };
    let after = if changed { Some(after) } else { before.clone() };
    Ok(Plan { path: what.file.clone(), backup_path: what.backup.clone(), action, before, after, backup })
}

/// The plan to put them back: the file as it was, or, if it has changed since, with the entries that it lacks.
///
/// # Errors
/// There is no copy, or the file is written in a manner that cannot be changed safely.
pub fn put_back(what: &Withdrawal) -> Result<Plan, Problem> {
    let kept = disk::read(&what.backup)?.ok_or_else(|| {
        Problem::new(&what.backup, "is not there, so nothing can be put back")
            .hint("write the entries again by hand")
    })?;
    let old = decode(&what.backup, &kept)?;
    let before = disk::read(&what.file)?;
    let content = decode(&what.file, before.as_deref().unwrap_or_default())?;
    let is_ours = before.is_none() || before == Some(without(what, &old)?);
    let (action, after) =
        if is_ours { (Action::Restore, kept) } else { (Action::Add, with(what, &old, &content)?) };
    let (path, backup_path) = (what.file.clone(), what.backup.clone());
    Ok(Plan { path, backup_path, action, before, after: Some(after), backup: Backup::Remove })
}

fn without(what: &Withdrawal, content: &Text) -> Result<Vec<u8>, Problem> {
    let mut text = content.text.clone();
    for (container, name) in &what.entries {
        let path: Vec<&str> = container.iter().map(String::as_str).collect();
        text =
            what.format().remove(&text, &path, name, false).map_err(|fault| located(what, &text, fault))?;
    }
    Ok(content.with(text))
}

fn with(what: &Withdrawal, old: &Text, content: &Text) -> Result<Vec<u8>, Problem> {
    let mut text = content.text.clone();
    for (container, name) in &what.entries {
        let path: Vec<&str> = container.iter().map(String::as_str).collect();
        let format = what.format();
        let find = |text: &str| {
            let entries = format.entries(text, &path).map_err(|fault| located(what, text, fault))?;
            Ok(entries.into_iter().find(|(known, _)| known == name))
        };
        // Whoever has written one of that name since means the new one.
        if let (Some((_, entry)), None) = (find(&old.text)?, find(&text)?) {
            text = format.set(&text, &path, name, &entry).map_err(|fault| located(what, &text, fault))?;
        }
    }
    Ok(content.with(text))
}

fn decode(path: &Path, bytes: &[u8]) -> Result<Text, Problem> {
    Text::read(bytes).map_err(|place| Problem::new(path, "is not a text in UTF-8").at(place))
}

fn located(what: &Withdrawal, text: &str, fault: Fault) -> Problem {
    let Fault { offset, message, hint } = fault;
    Problem::new(&what.file, message).at(text::place(text, offset)).hint(hint)
}
