//! One-time links: by one someone comes to have an account, or a new password.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolgate_core::{Collection, Document, Error, Kind, Result, Write, Written};
use toolgate_host::Secret;

use super::accounts::{Accounts, NewAccount, missing, name_fault};
use super::password::{Passwords, fault};
use super::role::Role;
use super::secret;
use crate::problem::Problem;

/// How long a link may be used.
const GOOD_FOR: Duration = Duration::from_secs(24 * 3600);

/// A link to be made.
#[derive(Debug, Clone)]
pub struct NewLink {
    /// For which account; without one, its user chooses the name.
    pub account: Option<String>,
    /// The role of an account that is made by it; one that is there keeps its own.
    pub role: Role,
    /// Whether it is of use only as long as there is no account at all.
    pub first: bool,
    /// Who makes it.
    pub by: String,
}

/// A link as the store keeps it, under the hash of its secret.
#[derive(Debug, Deserialize, Serialize)]
struct Record {
    account: Option<String>,
    /// Without one, it is of use only for an account that is there.
    role: Option<Role>,
    #[serde(default)]
    first: bool,
    by: String,
}

impl Accounts {
    /// Makes a link. The text belongs behind `/admin#setup=`, is shown to who asked for it, and kept nowhere.
    ///
    /// # Errors
    /// The name cannot be one, or the store or the source of randomness fails.
    pub async fn link(&self, new: NewLink) -> Result<(Secret, u64)> {
        if let Some(why) = new.account.as_deref().and_then(name_fault) {
            return Err(Error::new(Kind::InvalidInput, format!("the name of an account {why}")));
        }
        let NewLink { account, role, first, by } = new;
        self.keep(Record { account, role: Some(role), first, by }).await
    }

    /// A link for an account that is there, so that its owner chooses another password.
    pub(crate) async fn reset_link(&self, name: &str, by: &str) -> Result<(Secret, u64)> {
        self.find(name).await?.ok_or_else(|| missing(name))?;
        let (account, by) = (Some(name.to_owned()), by.to_owned());
        self.keep(Record { account, role: None, first: false, by }).await
    }

    async fn keep(&self, record: Record) -> Result<(Secret, u64)> {
        let text = secret::random()?;
        let ms = u64::try_from(GOOD_FOR.as_millis()).unwrap_or(u64::MAX);
        let expires_ms = self.clock.unix_ms().saturating_add(ms);
        let write = Write::Insert {
            collection: Collection::Links,
            id: secret::hash(&text),
            body: serde_json::to_string(&record).unwrap_or_default(),
            expires_ms: Some(expires_ms),
        };
        match self.store.write(vec![write]).await? {
            Written::Done => Ok((Secret::new(text), expires_ms)),
            Written::Conflict => {
                Err(Error::new(Kind::Internal, "the link is there already").hint("try again"))
            }
        }
    }

    /// Removes the links for an account that is gone.
    pub(super) async fn remove_links_for(&self, name: &str) -> Result<()> {
        self.remove_links(|record| record.account.as_deref() == Some(name)).await
    }

    /// Removes the links that someone made who may not make any now: by one they would give to another name what was
    /// taken from theirs.
    pub(super) async fn remove_links_by(&self, name: &str) -> Result<()> {
        self.remove_links(|record| record.by == name).await
    }

    async fn remove_links(&self, goes: impl Fn(&Record) -> bool + Send) -> Result<()> {
        for document in self.store.list(Collection::Links).await? {
            let record: Option<Record> = serde_json::from_str(&document.body).ok();
            if record.is_some_and(|record| goes(&record)) {
                let (collection, id) = (Collection::Links, document.id);
                let write = Write::Remove { collection, id, revision: document.revision };
                // Someone who uses it up at this moment has removed it as well.
                let (Written::Done | Written::Conflict) = self.store.write(vec![write]).await?;
            }
        }
        Ok(())
    }

    /// Uses a link up: its account is there then, with this password.
    pub(crate) async fn redeem(
        &self,
        text: &str,
        name: Option<String>,
        password: Secret,
        passwords: &Passwords,
    ) -> Result<(super::Account, u64), Problem> {
        let Some((document, link)) = self.find_link(text).await? else {
            return Err(Problem::forbidden("link", "this link was used, or is too old")
                .hint("`toolgate admin link` makes a new one"));
        };
        // A link that names nobody must not become a way into an account that is there.
        let may_exist = link.account.is_some();
        let name = chosen(link.account, name)?;
        if let Some(why) = fault(password.expose()) {
            return Err(Problem::field("password", why));
        }
        let used = Write::Remove {
            collection: Collection::Links,
            id: document.id.clone(),
            revision: document.revision,
        };
        let new = NewAccount { name, password, role: link.role, may_exist, by: link.by };
        self.put(new, Some(used), passwords).await
    }

    async fn find_link(&self, text: &str) -> Result<Option<(Document, Record)>, Problem> {
        let document = self.store.get(Collection::Links, &secret::hash(text)).await?;
        let live = document.filter(|found| found.expires_ms.is_none_or(|at| at > self.clock.unix_ms()));
        let Some(document) = live else { return Ok(None) };
        let Ok(record) = serde_json::from_str::<Record>(&document.body) else { return Ok(None) };
        if record.first && self.any().await? {
            return Ok(None);
        }
        Ok(Some((document, record)))
    }
}

/// The name that a link has, or that whoever brings it chooses.
fn chosen(of_link: Option<String>, given: Option<String>) -> Result<String, Problem> {
    let name = match (of_link, given) {
        (Some(name), None) => name,
        (Some(name), Some(given)) if given == name => name,
        (Some(_), Some(_)) => return Err(Problem::field("account", "is not the one that the link is for")),
        (None, Some(given)) => given,
        (None, None) => return Err(Problem::field("account", "is missing")),
    };
    match name_fault(&name) {
        Some(why) => Err(Problem::field("account", why)),
        None => Ok(name),
    }
}
