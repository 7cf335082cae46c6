//! Accounts: who may use the page, kept in the store for all processes.

use serde::{Deserialize, Serialize};
use toolgate_core::{Collection, Document, Error, Kind, Result, SharedStore, StoreError, Write, Written};
use toolgate_host::{Clock, Secret};

use super::password::{Hashed, Passwords};
use super::role::Role;
use crate::problem::Problem;

/// How often a change by someone faster is read again before giving up.
pub(super) const TRIES: usize = 8;

/// An account, as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its name.
    pub name: String,
    /// What its owner may do.
    pub role: Role,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// Who made it.
    pub created_by: String,
    /// When its owner logged in last.
    pub last_login_ms: Option<u64>,
}

/// An account as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Record {
    pub(super) role: Role,
    pub(super) password: Hashed,
    pub(super) created_ms: u64,
    pub(super) created_by: String,
    #[serde(default)]
    pub(super) last_login_ms: Option<u64>,
    /// Logins of another generation do not count: a new password ends them all.
    pub(super) generation: u64,
}

impl Record {
    fn account(&self, name: &str) -> Account {
        Account {
            name: name.to_owned(),
            role: self.role,
            created_ms: self.created_ms,
            created_by: self.created_by.clone(),
            last_login_ms: self.last_login_ms,
        }
    }

    fn body(&self) -> String {
        // Texts and numbers can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// An account to be made, or to be given another password.
pub(crate) struct NewAccount {
    pub(crate) name: String,
    pub(crate) password: Secret,
    /// The role of one that is made; without it, none is made.
    pub(crate) role: Option<Role>,
    /// Whether it may be there already, and gets another password then.
    pub(crate) may_exist: bool,
    pub(crate) by: String,
}

/// The accounts of a store. Clones are the same.
#[derive(Clone)]
pub struct Accounts {
    pub(super) store: SharedStore,
    pub(super) clock: Clock,
}

impl Accounts {
    /// The accounts of a store.
    pub fn new(store: SharedStore, clock: Clock) -> Self {
        Self { store, clock }
    }

    /// Whether there is one.
    ///
    /// # Errors
    /// The store fails.
    pub async fn any(&self) -> Result<bool> {
        Ok(!self.store.list(Collection::Accounts).await?.is_empty())
    }

    /// All of them, by name.
    ///
    /// # Errors
    /// The store fails.
    pub async fn list(&self) -> Result<Vec<Account>> {
        let documents = self.store.list(Collection::Accounts).await?;
        Ok(documents.iter().filter_map(|found| Some(read(found)?.account(&found.id))).collect())
    }

    /// Removes an account; its logins end, and links for it and by it.
    ///
    /// # Errors
    /// There is none, it is the last that may change everything, or the store fails.
    pub async fn remove(&self, name: &str) -> Result<()> {
        self.change(name, None).await?;
        self.remove_links_for(name).await?;
        self.remove_links_by(name).await
    }

    /// Gives an account another role, from its next request on.
    ///
    /// # Errors
    /// There is none, it is the last that may change everything, or the store fails.
    pub async fn set_role(&self, name: &str, role: Role) -> Result<Account> {
        let before = self.change(name, Some(role)).await?;
        if role < before.role {
            self.remove_links_by(name).await?;
        }
        Ok(Account { role, ..before.account(name) })
    }

    /// Ends all logins of an account.
    pub(crate) async fn log_out(&self, name: &str) -> Result<()> {
        for _ in 0..TRIES {
            let (document, record) = self.find(name).await?.ok_or_else(|| missing(name))?;
            let generation = record.generation + 1;
            let write = replace(&document, &Record { generation, ..record });
            if self.store.write(vec![write]).await? == Written::Done {
                return Ok(());
            }
        }
        Err(busy())
    }

    /// Who this is, by name and password.
    pub(crate) async fn check(
        &self,
        name: &str,
        password: Secret,
        passwords: &Passwords,
    ) -> Result<Option<(Account, u64)>, Problem> {
        let found = self.find(name).await?;
        let kept = found.as_ref().map(|(_, record)| record.password.clone());
        if !passwords.is(password, kept).await? {
            return Ok(None);
        }
        Ok(found.map(|(_, record)| (record.account(name), record.generation)))
    }

    /// Makes an account, or gives it another password, and uses up what allowed that.
    pub(crate) async fn put(
        &self,
        new: NewAccount,
        with: Option<Write>,
        passwords: &Passwords,
    ) -> Result<(Account, u64), Problem> {
        let password = passwords.hash(new.password).await?;
        let now_ms = self.clock.unix_ms();
        let before = self.find(&new.name).await?;
        let (write, record) = match (&before, new.role) {
            (Some(_), _) if !new.may_exist => return Err(Problem::field("account", "is taken")),
            (Some((document, record)), _) => {
                let record = Record { password, generation: record.generation + 1, ..record.clone() };
                (replace(document, &record), record)
            }
            (None, None) => return Err(missing(&new.name).into()),
            (None, Some(role)) => {
                let record = Record {
                    role,
                    password,
                    created_ms: now_ms,
                    created_by: new.by,
                    last_login_ms: None,
                    // One of the same name that was removed had other logins.
                    generation: now_ms,
                };
                let (collection, id) = (Collection::Accounts, new.name.clone());
                (Write::Insert { collection, id, body: record.body(), expires_ms: None }, record)
            }
        };
        let writes = [write].into_iter().chain(with).collect();
        match self.store.write(writes).await? {
            Written::Done => Ok((record.account(&new.name), record.generation)),
            Written::Conflict => {
                Err(Problem::conflict("someone else was faster").hint("load the page again"))
            }
        }
    }

    /// Notes that someone logged in; it does not matter much.
    pub(super) async fn note_login(&self, name: &str) -> Result<(), StoreError> {
        if let Some((document, record)) = self.find(name).await? {
            let last_login_ms = Some(self.clock.unix_ms());
            let write = replace(&document, &Record { last_login_ms, ..record });
            let (Written::Done | Written::Conflict) = self.store.write(vec![write]).await?;
        }
        Ok(())
    }

    pub(super) async fn find(&self, name: &str) -> Result<Option<(Document, Record)>, StoreError> {
        // A text with a zero byte is no id in any store.
        if name_fault(name).is_some() {
            return Ok(None);
        }
        let document = self.store.get(Collection::Accounts, name).await?;
        Ok(document.and_then(|document| read(&document).map(|record| (document, record))))
    }

    /// Gives an account another role, or removes it, so that somebody is left who may change everything. Tells what it
    /// was before.
    async fn change(&self, name: &str, role: Option<Role>) -> Result<Record> {
        for _ in 0..TRIES {
            let (document, before) = self.find(name).await?.ok_or_else(|| missing(name))?;
            let mut writes = vec![match role {
                Some(role) => replace(&document, &Record { role, ..before.clone() }),
                None => {
                    let Document { id, revision, .. } = document;
                    Write::Remove { collection: Collection::Accounts, id, revision }
                }
            }];
            if before.role == Role::Admin && role != Some(Role::Admin) {
                writes.push(self.holding_another_admin(name).await?);
            }
            if self.store.write(writes).await? == Written::Done {
                return Ok(before);
            }
        }
        Err(busy())
    }

    /// A write that changes nothing, and fails where another account may not change everything any more: two who take
    /// that from each other at the same moment cannot both succeed.
    async fn holding_another_admin(&self, name: &str) -> Result<Write> {
        let documents = self.store.list(Collection::Accounts).await?;
        let others = documents.iter().filter(|document| document.id != name);
        let mut admins = others.filter_map(|document| {
            let record = read(document).filter(|record| record.role == Role::Admin)?;
            Some(replace(document, &record))
        });
        admins.next().ok_or_else(|| {
            let last = format!("`{name}` is the last account that may change everything");
            Error::new(Kind::Conflict, last).hint("give another account the role `admin` first")
        })
    }
}

/// What is wrong with the name of an account, if anything is.
pub(crate) fn name_fault(name: &str) -> Option<&'static str> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._@-".contains(&byte);
    let fine = (1..=64).contains(&name.len()) && name.bytes().all(fits);
    (!fine).then_some("has to be 1 to 64 characters of `a-z`, `0-9`, `.`, `_`, `@` and `-`")
}

fn read(document: &Document) -> Option<Record> {
    serde_json::from_str(&document.body)
        .inspect_err(|error| tracing::warn!(id = document.id, %error, "an account cannot be read"))
        .ok()
}

fn replace(document: &Document, record: &Record) -> Write {
    Write::Replace {
        collection: Collection::Accounts,
        id: document.id.clone(),
        revision: document.revision,
        body: record.body(),
        expires_ms: None,
    }
}

pub(super) fn missing(name: &str) -> Error {
    let shown: String = name.chars().take(64).flat_map(char::escape_default).collect();
    Error::new(Kind::NotFound, format!("there is no account `{shown}`"))
        .hint("`toolgate admin list` shows all of them")
}

pub(super) fn busy() -> Error {
    Error::new(Kind::Conflict, "the accounts are changed by others all the time").hint("try again")
}
