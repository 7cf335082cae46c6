//! Logins: who is in, by a cookie whose hash the store keeps.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use toolgate_core::{Collection, Document, Result, StoreError, Write, Written};

use super::accounts::{Account, Accounts};
use super::role::Role;
use super::secret;
use crate::config::AdminConfig;
use crate::problem::Problem;

/// How many logins an account may have at once; the oldest goes first.
const MOST: usize = 16;

/// How exactly it is known when a login was used last.
const EXACTLY: Duration = Duration::from_secs(60);

/// Someone who is in.
#[derive(Debug, Clone)]
pub(crate) struct Login {
    /// Whose.
    pub(crate) account: String,
    /// What they may do, as of now.
    pub(crate) role: Role,
    /// What a page has to send along with every change.
    pub(crate) csrf: String,
    /// When it ends, if it is not used.
    pub(crate) idle_ms: u64,
    /// When it ends, used or not.
    pub(crate) ends_ms: u64,
    /// Its cookie's hash.
    id: String,
}

impl Login {
    /// Whether a page sent along what it should.
    pub(crate) fn is_csrf(&self, text: &str) -> bool {
        bool::from(text.as_bytes().ct_eq(self.csrf.as_bytes()))
    }
}

/// A login as the store keeps it.
#[derive(Debug, Clone, Deserialize, Serialize)]
struct Record {
    account: String,
    generation: u64,
    created_ms: u64,
    ends_ms: u64,
}

/// The logins of a store.
#[derive(Clone)]
pub(crate) struct Logins {
    accounts: Accounts,
}

impl Logins {
    pub(crate) fn new(accounts: Accounts) -> Self {
        Self { accounts }
    }

    /// Lets someone in; the text is for their cookie, and kept nowhere.
    pub(crate) async fn begin(
        &self,
        (account, generation): (&Account, u64),
        config: &AdminConfig,
    ) -> Result<(String, Login), Problem> {
        let text = secret::random()?;
        let now_ms = self.accounts.clock.unix_ms();
        let ends_ms = now_ms.saturating_add(u64::from(config.login_hours) * 3_600_000);
        let record = Record { account: account.name.clone(), generation, created_ms: now_ms, ends_ms };
        let idle_ms = idle(now_ms, &record, config);
        let (collection, id) = (Collection::Logins, secret::hash(&text));
        let mut writes = self.oldest(&account.name).await?;
        let expires_ms = Some(idle_ms);
        writes.push(Write::Insert { collection, id: id.clone(), body: body(&record), expires_ms });
        if self.accounts.store.write(writes).await? == Written::Conflict {
            return Err(Problem::conflict("the logins are changed by others").hint("try again"));
        }
        self.accounts.note_login(&account.name).await?;
        let login = Login {
            account: account.name.clone(),
            role: account.role,
            csrf: csrf(&text),
            idle_ms,
            ends_ms,
            id,
        };
        Ok((text, login))
    }

    /// Who brings this cookie; nobody, where the login has ended, or its account is gone. It counts as used.
    pub(crate) async fn find(&self, text: &str, config: &AdminConfig) -> Result<Option<Login>, Problem> {
        let store = &self.accounts.store;
        let now_ms = self.accounts.clock.unix_ms();
        let id = secret::hash(text);
        let Some(document) = store.get(Collection::Logins, &id).await? else { return Ok(None) };
        let Some(record) = live(&document, now_ms) else { return Ok(None) };
        let account = self.accounts.find(&record.account).await?;
        let Some((_, account)) = account.filter(|(_, account)| account.generation == record.generation)
        else {
            return Ok(None);
        };
        let idle_ms = idle(now_ms, &record, config);
        let kept_ms = document.expires_ms.unwrap_or_default();
        let exactly = u64::try_from(EXACTLY.as_millis()).unwrap_or(u64::MAX);
        if idle_ms.abs_diff(kept_ms) >= exactly {
            self.prolong(&document, &record, idle_ms).await?;
        }
        Ok(Some(Login {
            role: account.role,
            csrf: csrf(text),
            idle_ms,
            ends_ms: record.ends_ms,
            id,
            account: record.account,
        }))
    }

    /// Whether a login still counts; its account may have another role by now.
    pub(crate) async fn holds(&self, login: &Login) -> Result<bool, StoreError> {
        let now_ms = self.accounts.clock.unix_ms();
        let document = self.accounts.store.get(Collection::Logins, &login.id).await?;
        let Some(record) = document.as_ref().and_then(|document| live(document, now_ms)) else {
            return Ok(false);
        };
        let account = self.accounts.find(&record.account).await?;
        Ok(account.is_some_and(|(_, account)| account.generation == record.generation))
    }

    /// Ends a login.
    pub(crate) async fn end(&self, login: &Login) -> Result<(), StoreError> {
        let store = &self.accounts.store;
        // Whoever uses it at the same moment prolongs it, and is asked again.
        while let Some(document) = store.get(Collection::Logins, &login.id).await? {
            let (collection, id) = (Collection::Logins, document.id);
            if store.write(vec![Write::Remove { collection, id, revision: document.revision }]).await?
                == Written::Done
            {
                break;
            }
        }
        Ok(())
    }

    async fn prolong(&self, document: &Document, record: &Record, until_ms: u64) -> Result<(), StoreError> {
        let write = Write::Replace {
            collection: Collection::Logins,
            id: document.id.clone(),
            revision: document.revision,
            body: body(record),
            expires_ms: Some(until_ms),
        };
        // Another request has done the same, or the login was ended; either is as it should be.
        let (Written::Done | Written::Conflict) = self.accounts.store.write(vec![write]).await?;
        Ok(())
    }

    /// The changes that make room for one more login.
    async fn oldest(&self, account: &str) -> Result<Vec<Write>, StoreError> {
        let all = self.accounts.store.list(Collection::Logins).await?;
        let of_it = all.into_iter().filter_map(|document| {
            let record: Record = serde_json::from_str(&document.body).ok()?;
            (record.account == account).then_some((record.created_ms, document))
        });
        let mut of_it: Vec<(u64, Document)> = of_it.collect();
        of_it.sort_by(|(one, _), (other, _)| other.cmp(one));
        let gone = of_it.into_iter().skip(MOST - 1).map(|(_, document)| Write::Remove {
            collection: Collection::Logins,
            id: document.id,
            revision: document.revision,
        });
        Ok(gone.collect())
    }
}

fn live(document: &Document, now_ms: u64) -> Option<Record> {
    let record: Record = serde_json::from_str(&document.body).ok()?;
    let is_idle = document.expires_ms.is_some_and(|at| at <= now_ms);
    (!is_idle && record.ends_ms > now_ms).then_some(record)
}

/// When a login ends that is used now and not again.
fn idle(now_ms: u64, record: &Record, config: &AdminConfig) -> u64 {
    now_ms.saturating_add(u64::from(config.idle_minutes) * 60_000).min(record.ends_ms)
}

fn csrf(text: &str) -> String {
    secret::derived("toolgate csrf", text)
}

fn body(record: &Record) -> String {
    serde_json::to_string(record).unwrap_or_default()
}
