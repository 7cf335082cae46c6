//! Approvals: questions to a person that wait in the store, and answers that are remembered.

mod document;
mod remember;
mod wait;

use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::TryRecvError;
use toolgate_host::Clock;

use crate::consents::Consent;
use crate::store::{Collection, Document, SharedStore, StoreError, Write, Written};
use crate::{Error, Kind, Result};

pub use document::{Approval, ApprovalState, Decision, Lasting, Remembered};

/// How often a change by someone faster is read again before giving up.
const TRIES: usize = 8;

/// The inbox of questions, shared through the store by all processes that use it. Clones are the same inbox.
#[derive(Clone)]
pub struct Approvals {
    inner: Arc<Inner>,
}

struct Inner {
    store: SharedStore,
    clock: Clock,
    known: Mutex<Known>,
    /// Whoever puts a question into the inbox holds it, so that no two fill the same place.
    putting: tokio::sync::Mutex<()>,
}

/// What is remembered, as of the last change that was noticed.
struct Known {
    all: Option<Arc<[Remembered]>>,
    /// How many changes were noticed.
    noticed: u64,
    changes: broadcast::Receiver<Collection>,
}

/// What became of a question in the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Waited {
    /// This call may run, once.
    Approved(Consent),
    /// It may not.
    Rejected { by: String, reason: Option<String> },
    /// Nobody has answered yet.
    Pending,
}

impl Approvals {
    /// The inbox in this store. Nothing is read before something is asked.
    pub fn new(store: SharedStore, clock: Clock) -> Self {
        let known = Mutex::new(Known { all: None, noticed: 0, changes: store.changes() });
        Self { inner: Arc::new(Inner { store, clock, known, putting: tokio::sync::Mutex::default() }) }
    }

    /// All questions that have not expired, oldest first.
    pub async fn list(&self) -> Result<Vec<Approval>> {
        let documents = self.inner.store.list(Collection::Approvals).await?;
        let mut all: Vec<Approval> = documents.iter().filter_map(read).collect();
        all.sort_by(|a, b| (a.asked_ms, &a.id).cmp(&(b.asked_ms, &b.id)));
        Ok(all)
    }

    /// A question by id, or by the beginning of one that no other has.
    pub async fn find(&self, id: &str) -> Result<Approval> {
        let mut found: Vec<Approval> = self.list().await?;
        found.retain(|approval| approval.id.starts_with(id) && !id.is_empty());
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(Error::new(Kind::NotFound, format!("no approval `{}`", crate::view::shown(id)))
                .hint("`toolgate approvals list` shows them; they expire")),
            _ => Err(Error::new(
                Kind::InvalidInput,
                format!("`{}` is the beginning of several approvals", crate::view::shown(id)),
            )
            .hint("write more of it")),
        }
    }

    /// Answers a question that nobody has answered yet.
    pub async fn decide(&self, id: &str, decision: &Decision, by: &str) -> Result<Approval> {
        let id = self.find(id).await?.id;
        for _ in 0..TRIES {
            let (document, mut approval) = self.get(&id).await?.ok_or_else(|| gone(&id))?;
            if approval.state != ApprovalState::Pending {
                let word = approval.state.as_str();
                return Err(Error::new(Kind::InvalidInput, format!("approval `{id}` is {word} already")));
            }
            let at_ms = self.inner.clock.unix_ms();
            let mut writes = Vec::new();
            approval.state = match decision {
                Decision::Approve(lasting) => {
                    writes.extend(self.remember(&approval, *lasting, by).await?);
                    ApprovalState::Approved { by: by.into(), at_ms }
                }
                Decision::Reject(reason) => {
                    ApprovalState::Rejected { by: by.into(), at_ms, reason: reason.clone() }
                }
            };
            writes.push(replace(&document, &approval));
            if self.inner.store.write(writes).await? == Written::Done {
                return Ok(approval);
            }
        }
        Err(busy())
    }

    /// All answers that hold for more than one call, oldest first.
    pub async fn remembered(&self) -> Result<Vec<Remembered>> {
        let documents = self.inner.store.list(Collection::Remembered).await?;
        let mut all: Vec<Remembered> = documents.iter().filter_map(read).collect();
        all.sort_by(|a, b| (a.at_ms, &a.id).cmp(&(b.at_ms, &b.id)));
        Ok(all)
    }

    /// Forgets an answer; its rule asks again.
    pub async fn forget(&self, id: &str) -> Result<()> {
        let document = self.inner.store.get(Collection::Remembered, id).await?;
        let Some(document) = document else {
            return Err(Error::new(
                Kind::NotFound,
                format!("nothing is remembered as `{}`", crate::view::shown(id)),
            )
            .hint("`toolgate approvals remembered` shows what is"));
        };
        let remove = Write::Remove {
            collection: Collection::Remembered,
            id: document.id,
            revision: document.revision,
        };
        match self.inner.store.write(vec![remove]).await? {
            Written::Done => Ok(()),
            Written::Conflict => Err(busy()),
        }
    }

    /// What someone said, once for many calls, that lets this one go on.
    pub(crate) async fn standing(&self, asked: &Approval) -> Result<Option<Consent>> {
        let all = match self.fresh() {
            Ok(all) => all,
            Err(noticed) => self.reload(noticed).await?,
        };
        let holds = |rule: &&Remembered| {
            rule.principal == asked.principal
                && rule.target == asked.target
                && rule.rule == asked.rule
                && (rule.session.is_none() || rule.session == asked.session)
        };
        Ok(all.iter().find(holds).map(|rule| asked.consent(rule.by.clone())))
    }

    /// Uses up an answer, if there is one: of all who ask at once, one gets it.
    pub(crate) async fn redeem(&self, asked: &Approval) -> Result<Waited> {
        for _ in 0..TRIES {
            let Some((document, mut approval)) = self.get(&asked.id).await? else {
                return Ok(Waited::Pending);
            };
            // An id is short; what was approved is this call to the last argument, or it is not approved.
            if !approval.is_for(asked) {
                return Err(busy());
            }
            match approval.state.clone() {
                ApprovalState::Pending | ApprovalState::Used { .. } => return Ok(Waited::Pending),
                ApprovalState::Rejected { by, reason, .. } => return Ok(Waited::Rejected { by, reason }),
                ApprovalState::Approved { by, .. } => {
                    approval.state =
                        ApprovalState::Used { by: by.clone(), at_ms: self.inner.clock.unix_ms() };
                    let write = replace(&document, &approval);
                    if self.inner.store.write(vec![write]).await? == Written::Done {
                        return Ok(Waited::Approved(approval.consent(by)));
                    }
                }
            }
        }
        Err(busy())
    }

    async fn get(&self, id: &str) -> Result<Option<(Document, Approval)>, StoreError> {
        let document = self.inner.store.get(Collection::Approvals, id).await?;
        let now = self.inner.clock.unix_ms();
        let live = document.filter(|document| document.expires_ms.is_none_or(|expires| expires > now));
        Ok(live.and_then(|document| read(&document).map(|approval| (document, approval))))
    }

    /// What is remembered, if nothing has changed since it was read; else how many changes were noticed so far.
    fn fresh(&self) -> Result<Arc<[Remembered]>, u64> {
        let mut known = self.inner.known.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match known.changes.try_recv() {
                Ok(Collection::Remembered) | Err(TryRecvError::Lagged(_)) => {
                    known.all = None;
                    known.noticed += 1;
                }
                Ok(_) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => {
                    return known.all.clone().ok_or(known.noticed);
                }
            }
        }
    }

    async fn reload(&self, noticed: u64) -> Result<Arc<[Remembered]>> {
        let all: Arc<[Remembered]> = self.remembered().await?.into();
        let mut known = self.inner.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Someone else may have noticed meanwhile that this is no longer so.
        if known.noticed == noticed {
            known.all = Some(all.clone());
        }
        Ok(all)
    }
}

/// A short id for what all these parts name together.
pub(crate) fn short_id(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

fn body(value: &impl serde::Serialize) -> String {
    // Structs of strings and numbers always can be written.
    serde_json::to_string(value).unwrap_or_default()
}

/// What a document says; one that a later version wrote otherwise is passed over.
fn read<T: serde::de::DeserializeOwned>(document: &Document) -> Option<T> {
    serde_json::from_str(&document.body)
        .inspect_err(|error| tracing::warn!(id = document.id, %error, "a document cannot be read"))
        .ok()
}

fn replace(document: &Document, approval: &Approval) -> Write {
    Write::Replace {
        collection: Collection::Approvals,
        id: approval.id.clone(),
        revision: document.revision,
        body: body(approval),
        expires_ms: Some(approval.expires_ms),
    }
}

fn gone(id: &str) -> Error {
    Error::new(Kind::NotFound, format!("approval `{id}` has expired"))
}

fn busy() -> Error {
    Error::new(Kind::Internal, "the store is busy with the same approval").hint("try again")
}
