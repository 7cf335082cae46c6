//! What an administrator said of a script, kept in the store.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use toolgate_core::{Collection, Document, Error, Kind, PrincipalId, Result, SharedStore, Write, Written};
use toolgate_host::Clock;

use crate::hash::Hash;
use crate::shelf::Script;

/// What the ids of code begin with that is no file.
const CODE: &str = "exec:";

/// How much code may wait for an administrator at once, in all and of one principal, and how long.
const WAITING: usize = 100;
const WAITING_EACH: usize = 20;
const WAITING_MS: u64 = 7 * 24 * 3600 * 1000;

/// How often a change is tried when others change the same.
const TRIES: usize = 8;

/// What was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Word {
    /// Nothing yet: it is code that waits to be looked at.
    Waiting,
    /// It may run.
    Approved,
    /// It may not.
    Rejected,
}

/// What an administrator said of exactly these bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decision {
    /// What was said.
    pub(crate) word: Word,
    /// Of which bytes.
    pub(crate) hash: Hash,
    /// These bytes, to show what has changed since.
    pub(crate) source: String,
    /// By whom; of code that waits, who wants to run it.
    pub(crate) by: String,
    /// When, in milliseconds since 1970.
    pub(crate) at_ms: u64,
    /// Why.
    pub(crate) reason: Option<String>,
    /// Those that were approved last, where these were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
}

impl Decision {
    /// The bytes that were approved last.
    pub(crate) fn approved(&self) -> Option<&str> {
        match self.word {
            Word::Approved => Some(&self.source),
            Word::Waiting | Word::Rejected => self.before.as_deref(),
        }
    }
}

/// All that administrators said.
#[derive(Clone)]
pub(crate) struct Decisions {
    store: SharedStore,
    clock: Clock,
}

impl Decisions {
    pub(crate) fn new(store: SharedStore, clock: Clock) -> Self {
        Self { store, clock }
    }

    /// What was said of a script; asked of the store each time, so that it counts at once.
    pub(crate) async fn of(&self, name: &str) -> Result<Option<Decision>> {
        let document = self.store.get(Collection::Scripts, name).await?;
        document.as_ref().map(read).transpose()
    }

    /// What was said of all scripts, by name.
    pub(crate) async fn all(&self) -> Result<HashMap<String, Decision>> {
        let documents = self.store.list(Collection::Scripts).await?;
        documents.iter().map(|document| Ok((document.id.clone(), read(document)?))).collect()
    }

    /// Who wants to run each code that waits to be looked at.
    async fn waiting(&self) -> Result<Vec<String>> {
        let all = self.all().await?.into_iter();
        let waiting = all.filter(|(name, said)| is_code(name) && said.word == Word::Waiting);
        Ok(waiting.map(|(_, said)| said.by).collect())
    }

    /// Says something of exactly these bytes.
    pub(crate) async fn say(
        &self,
        script: &Script,
        word: Word,
        by: &str,
        reason: Option<&str>,
    ) -> Result<()> {
        let mut decision = Decision {
            word,
            hash: script.hash.clone(),
            source: script.source.clone(),
            by: by.to_owned(),
            at_ms: self.clock.unix_ms(),
            reason: reason.map(str::to_owned),
            before: None,
        };
        for _ in 0..TRIES {
            let (collection, id) = (Collection::Scripts, script.name.clone());
            let old = self.store.get(collection, &id).await?;
            decision.before = old.as_ref().filter(|_| word != Word::Approved).and_then(|old| {
                let before = read(old).ok()?.approved()?.to_owned();
                Some(before).filter(|before| *before != script.source)
            });
            let body = written(&decision)?;
            let write = match old {
                Some(old) => {
                    Write::Replace { collection, id, revision: old.revision, body, expires_ms: None }
                }
                None => Write::Insert { collection, id, body, expires_ms: None },
            };
            if self.store.write(vec![write]).await? == Written::Done {
                return Ok(());
            }
        }
        Err(Error::new(Kind::Internal, "others decide on the same script right now").hint("try again"))
    }

    /// Keeps code for an administrator to look at, if not too much waits already.
    pub(crate) async fn keep_waiting(&self, script: &Script, by: &PrincipalId) -> Result<bool> {
        let waiting = self.waiting().await?;
        let own = waiting.iter().filter(|other| **other == by.as_str()).count();
        if waiting.len() >= WAITING || own >= WAITING_EACH {
            return Ok(false);
        }
        let now = self.clock.unix_ms();
        let decision = Decision {
            word: Word::Waiting,
            hash: script.hash.clone(),
            source: script.source.clone(),
            by: by.to_string(),
            at_ms: now,
            reason: None,
            before: None,
        };
        let body = written(&decision)?;
        let (collection, id) = (Collection::Scripts, script.name.clone());
        let insert = Write::Insert { collection, id, body, expires_ms: Some(now.saturating_add(WAITING_MS)) };
        // Whoever was faster kept the same.
        let (Written::Done | Written::Conflict) = self.store.write(vec![insert]).await?;
        Ok(true)
    }
}

fn written(decision: &Decision) -> Result<String> {
    serde_json::to_string(decision)
        .map_err(|error| Error::new(Kind::Internal, "the decision cannot be written").because(error))
}

fn read(document: &Document) -> Result<Decision> {
    serde_json::from_str(&document.body).map_err(|error| {
        Error::new(Kind::Internal, format!("what was decided on `{}` cannot be read", document.id))
            .because(error)
    })
}

/// What code is called that is no file.
pub(crate) fn code_name(hash: &Hash) -> String {
    format!("{CODE}{}", hash.short())
}

/// Whether a name is that of code that is no file.
pub(crate) fn is_code(name: &str) -> bool {
    name.starts_with(CODE)
}
