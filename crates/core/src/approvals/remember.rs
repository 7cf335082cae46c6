//! Answers that hold for more than one call: how they come to be kept, and how many are.

use super::{Approvals, TRIES, body, busy, read, short_id};
use crate::store::{Collection, Document, Write, Written};
use crate::{Approval, Error, Kind, Lasting, Remembered, Result};

/// How long what was remembered for a connection is kept at most.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// How many answers are kept for one principal; the oldest goes.
const MOST: usize = 1000;

impl Approvals {
    /// Notes that a person at the client said yes for longer than one call.
    pub(crate) async fn keep(&self, asked: &Approval, lasting: Lasting, by: &str) -> Result<()> {
        for _ in 0..TRIES {
            let writes = self.remember(asked, lasting, by).await?;
            // It is there already when two calls were approved at once.
            if writes.is_empty() || self.inner.store.write(writes).await? == Written::Done {
                return Ok(());
            }
        }
        Err(busy())
    }

    /// The changes that make an answer last, where it does and is not there yet.
    pub(super) async fn remember(&self, asked: &Approval, lasting: Lasting, by: &str) -> Result<Vec<Write>> {
        let at_ms = self.inner.clock.unix_ms();
        let session = match lasting {
            Lasting::Once => return Ok(Vec::new()),
            Lasting::Always => None,
            Lasting::Session => Some(asked.session.clone().ok_or_else(|| {
                Error::new(Kind::InvalidInput, "the caller has no lasting connection to remember this for")
                    .hint("approve it once, or always")
            })?),
        };
        let expires_ms = session.is_some().then_some(at_ms.saturating_add(DAY_MS));
        let parts = [&asked.principal, &asked.target, &asked.rule, session.as_deref().unwrap_or_default()];
        let remembered = Remembered {
            id: short_id(&parts),
            principal: asked.principal.clone(),
            target: asked.target.clone(),
            rule: asked.rule.clone(),
            session,
            by: by.into(),
            at_ms,
        };
        if self.inner.store.get(Collection::Remembered, &remembered.id).await?.is_some() {
            return Ok(Vec::new());
        }
        let mut writes = self.making_room(&asked.principal).await?;
        let body = body(&remembered);
        writes.push(Write::Insert {
            collection: Collection::Remembered,
            id: remembered.id,
            body,
            expires_ms,
        });
        Ok(writes)
    }

    /// Takes the oldest answers of a principal away that has as many as are kept.
    async fn making_room(&self, principal: &str) -> Result<Vec<Write>> {
        let documents = self.inner.store.list(Collection::Remembered).await?;
        let known = |document: Document| Some((read::<Remembered>(&document)?, document));
        let mut kept: Vec<(Remembered, Document)> = documents.into_iter().filter_map(known).collect();
        kept.retain(|(kept, _)| kept.principal == principal);
        kept.sort_by(|(a, _), (b, _)| (a.at_ms, &a.id).cmp(&(b.at_ms, &b.id)));
        let too_many = (kept.len() + 1).saturating_sub(MOST);
        let remove = |(_, Document { id, revision, .. })| Write::Remove {
            collection: Collection::Remembered,
            id,
            revision,
        };
        Ok(kept.into_iter().take(too_many).map(remove).collect())
    }
}
