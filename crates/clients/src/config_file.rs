//! A client's file: what it lists, and the plans to change it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::client::Client;
use crate::disk;
use crate::folders::{Folders, Scope};
use crate::format::Fault;
use crate::plan::{Action, Backup, Plan};
use crate::problem::Problem;
use crate::server::{Entry, Server};
use crate::shape;
use crate::text::{self, Text};

/// A client's file as it is now, or the place where it would be.
#[derive(Debug, Clone)]
pub struct ConfigFile {
    client: Client,
    path: PathBuf,
    bytes: Option<Vec<u8>>,
    content: Text,
    entries: Vec<Entry>,
}

impl ConfigFile {
    /// Reads the file of a client in which an entry of this name is, or belongs; none if the client has no such scope.
    ///
    /// # Errors
    /// There is a file that cannot be read.
    pub fn find(
        client: Client,
        folders: &Folders,
        scope: &Scope,
        name: &str,
    ) -> Result<Option<Self>, Problem> {
        crate::choice::file(client, &folders.files(client, scope), name)
    }

    /// Reads a client's file; one that is not there lists nothing.
    ///
    /// # Errors
    /// It is not a text in the client's language, or its list of servers is not a list.
    pub fn read(client: Client, path: &Path) -> Result<Self, Problem> {
        let bytes = disk::read(path)?;
        let content = decode(path, bytes.as_deref().unwrap_or_default())?;
        let entries = listed(client, &content).map_err(|fault| located(path, &content, fault))?;
        Ok(Self { client, path: path.to_owned(), bytes, content, entries })
    }

    /// The client.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is there.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.bytes.is_some()
    }

    /// All servers that it lists.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The server of this name.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The plan to list a server under this name; none if the client's file cannot name such a server.
    ///
    /// # Errors
    /// The file is written in a manner that cannot be changed safely.
    pub fn set(&self, name: &str, server: &Server) -> Result<Option<Plan>, Problem> {
        let old = self.entry(name).map(|entry| &entry.written);
        let Some(entry) = self.client.about().shape.write(server, old) else { return Ok(None) };
        if old == Some(&entry) {
            return Ok(Some(self.plan(name, Action::Nothing, self.bytes.clone(), Backup::Keep)));
        }
        let baseline = self.baseline(name)?;
        let after = self.with(&baseline.text, name, &entry)?;
        let action = match old {
            _ if self.bytes.is_none() => Action::Create,
            None => Action::Add,
            Some(_) => Action::Update,
        };
        let backup = baseline.bytes.map_or(Backup::Keep, Backup::Write);
        Ok(Some(self.plan(name, action, Some(after), backup)))
    }

    /// The plan to undo [`ConfigFile::set`]: the file as it was, or, if it has changed since, without the entry.
    ///
    /// # Errors
    /// The file is written in a manner that cannot be changed safely.
    pub fn undo(&self, name: &str) -> Result<Plan, Problem> {
        let Undone { bytes, action } = self.undone(name)?;
        let backup = if action == Action::Nothing { Backup::Keep } else { Backup::Remove };
        Ok(self.plan(name, action, bytes, backup))
    }

    /// What the file would be without our doing.
    fn undone(&self, name: &str) -> Result<Undone, Problem> {
        let Some(entry) = self.entry(name) else {
            return Ok(Undone { bytes: self.bytes.clone(), action: Action::Nothing });
        };
        let Some((old, backup)) = self.older(name)? else {
            if self.is_created(name, entry)? {
                return Ok(Undone { bytes: None, action: Action::Delete });
            }
            return Ok(Undone {
                bytes: Some(self.without(&self.content, name, false)?),
                action: Action::Remove,
            });
        };
        if self.is_only_change(&old, name, &entry.written) {
            return Ok(Undone { bytes: Some(backup), action: Action::Restore });
        }
        let listed = listed(self.client, &old).unwrap_or_default();
        let bytes = match listed.iter().find(|entry| entry.name == name) {
            Some(own) => self.with(&self.content, name, &own.written)?,
            None => self.without(&self.content, name, !self.has_container(&old))?,
        };
        Ok(Undone { bytes: Some(bytes), action: Action::Remove })
    }

    /// What to write the entry into, and what the next undo should bring back.
    fn baseline(&self, name: &str) -> Result<Baseline, Problem> {
        let now = |bytes| Baseline { text: self.content.clone(), bytes };
        let Some(entry) = self.entry(name) else { return Ok(now(self.bytes.clone())) };
        let is_ours = self.older(name)?.is_some() || self.is_created(name, entry)?;
        if !is_ours {
            return Ok(now(self.bytes.clone()));
        }
        let Undone { bytes, action } = self.undone(name)?;
        if action == Action::Remove {
            return Ok(now(bytes));
        }
        // All that is there is our doing: writing anew from what was before gives what a first write would.
        let text = decode(&self.path, bytes.as_deref().unwrap_or_default())?;
        Ok(Baseline { text, bytes })
    }

    /// The file as it was before the entry, if we have kept it.
    fn older(&self, name: &str) -> Result<Option<(Text, Vec<u8>)>, Problem> {
        let bytes = disk::read(&self.backup_path(name))?;
        // One that is no text is none of ours.
        Ok(bytes.and_then(|bytes| Some((Text::read(&bytes).ok()?, bytes))))
    }

    /// Whether the file is just as we make it where there is none.
    fn is_created(&self, name: &str, entry: &Entry) -> Result<bool, Problem> {
        Ok(self.bytes.as_ref() == Some(&self.created(name, &entry.written)?))
    }

    fn has_container(&self, text: &Text) -> bool {
        let about = self.client.about();
        about.format.has(&text.text, &[about.container])
    }

    /// Whether the entry is all that distinguishes the file from an older one.
    fn is_only_change(&self, old: &Text, name: &str, entry: &Value) -> bool {
        let again = self.with(old, name, entry).ok();
        if again.is_some() && again == self.bytes {
            return true;
        }
        // The client may have written the entry anew in its own manner.
        let new = self.without(&self.content, name, !self.has_container(old)).ok();
        new.is_some() && new == self.without(old, name, false).ok()
    }

    fn plan(&self, name: &str, action: Action, after: Option<Vec<u8>>, backup: Backup) -> Plan {
        let backup_path = self.backup_path(name);
        Plan { path: self.path.clone(), backup_path, action, before: self.bytes.clone(), after, backup }
    }

    /// Beside the file, by the entry's name, so that two entries do not share one.
    fn backup_path(&self, name: &str) -> PathBuf {
        let mut file = self.path.clone().into_os_string();
        file.push(format!(".{name}-backup"));
        file.into()
    }

    /// A file that holds this entry and nothing else.
    fn created(&self, name: &str, entry: &Value) -> Result<Vec<u8>, Problem> {
        let empty = Text::default();
        self.with(&empty, name, entry)
    }

    fn with(&self, text: &Text, name: &str, entry: &Value) -> Result<Vec<u8>, Problem> {
        let about = self.client.about();
        let after = about.format.set(&text.text, &[about.container], name, entry);
        after.map(|after| text.with(after)).map_err(|fault| located(&self.path, text, fault))
    }

    fn without(&self, text: &Text, name: &str, prune: bool) -> Result<Vec<u8>, Problem> {
        let about = self.client.about();
        let after = about.format.remove(&text.text, &[about.container], name, prune);
        after.map(|after| text.with(after)).map_err(|fault| located(&self.path, text, fault))
    }
}

struct Baseline {
    text: Text,
    bytes: Option<Vec<u8>>,
}

struct Undone {
    bytes: Option<Vec<u8>>,
    action: Action,
}

fn decode(path: &Path, bytes: &[u8]) -> Result<Text, Problem> {
    Text::read(bytes).map_err(|place| {
        Problem::new(path, "is not a text in UTF-8").at(place).hint("save it as UTF-8 in an editor")
    })
}

fn listed(client: Client, content: &Text) -> Result<Vec<Entry>, Fault> {
    let about = client.about();
    let entries = about.format.entries(&content.text, &[about.container])?;
    Ok(entries.into_iter().map(|(name, written)| shape::entry(&name, written)).collect())
}

fn located(path: &Path, content: &Text, fault: Fault) -> Problem {
    let Fault { offset, message, hint } = fault;
    Problem::new(path, message).at(text::place(&content.text, offset)).hint(hint)
}
