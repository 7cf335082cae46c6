//! Where grants are kept: a seat for the store, and what is written there.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use toolgate_core::{Principal, PrincipalId};
use toolgate_host::Secret;

/// What the store of grants answers with, later; an error in words.
pub type Keeping<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Keeps what lets us in to servers. The texts are secret: whoever keeps them beyond a process encrypts them.
pub trait TokenStore: Send + Sync {
    /// What is kept under a key.
    fn load<'a>(&'a self, key: &'a str) -> Keeping<'a, Option<Secret>>;

    /// Keeps a text under a key, instead of what was there.
    fn save<'a>(&'a self, key: &'a str, text: Secret) -> Keeping<'a, ()>;

    /// Keeps nothing under a key any more.
    fn remove<'a>(&'a self, key: &'a str) -> Keeping<'a, ()>;

    /// Takes the turn to change what is under a key, unless another has it; the mark says whose it is. It ends by itself
    /// soon.
    fn take_turn<'a>(&'a self, key: &'a str, mark: &'a str) -> Keeping<'a, bool>;

    /// Gives the turn with this mark back; that of another stays.
    fn end_turn<'a>(&'a self, key: &'a str, mark: &'a str) -> Keeping<'a, ()>;

    /// Changes whenever something may be kept that was not, by whomever.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// Whose grant it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Holder {
    /// All share it; so does the person at this machine.
    Shared,
    /// One principal has it alone.
    Principal(PrincipalId),
}

impl Holder {
    /// The key of a grant for a server. The names of servers have no `/`.
    pub fn key(&self, server: &str) -> String {
        match self {
            Self::Shared => server.to_owned(),
            Self::Principal(id) => format!("{server}/{id}"),
        }
    }

    /// Whose grant for a server a key is for; none if it is for another.
    pub fn of_key(key: &str, server: &str) -> Option<Self> {
        let rest = key.strip_prefix(server)?;
        if rest.is_empty() {
            return Some(Self::Shared);
        }
        rest.strip_prefix('/').map(|id| Self::Principal(Principal::named(id).id.clone()))
    }
}

/// Keeps grants for as long as the process lives.
pub struct MemoryTokens {
    kept: Mutex<HashMap<String, Secret>>,
    /// The mark of whoever has the turn, by key.
    turns: Mutex<HashMap<String, String>>,
    changes: watch::Sender<u64>,
}

impl Default for MemoryTokens {
    fn default() -> Self {
        Self { kept: Mutex::default(), turns: Mutex::default(), changes: watch::channel(0).0 }
    }
}

impl MemoryTokens {
    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

impl TokenStore for MemoryTokens {
    fn load<'a>(&'a self, key: &'a str) -> Keeping<'a, Option<Secret>> {
        Box::pin(async move { Ok(lock(&self.kept).get(key).cloned()) })
    }

    fn save<'a>(&'a self, key: &'a str, text: Secret) -> Keeping<'a, ()> {
        Box::pin(async move {
            lock(&self.kept).insert(key.to_owned(), text);
            self.changed();
            Ok(())
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> Keeping<'a, ()> {
        Box::pin(async move {
            lock(&self.kept).remove(key);
            self.changed();
            Ok(())
        })
    }

    fn take_turn<'a>(&'a self, key: &'a str, mark: &'a str) -> Keeping<'a, bool> {
        Box::pin(async move {
            let mut turns = lock(&self.turns);
            let free = !turns.contains_key(key);
            if free {
                turns.insert(key.to_owned(), mark.to_owned());
            }
            Ok(free)
        })
    }

    fn end_turn<'a>(&'a self, key: &'a str, mark: &'a str) -> Keeping<'a, ()> {
        Box::pin(async move {
            lock(&self.turns).retain(|taken, by| taken != key || by != mark);
            Ok(())
        })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

/// What is kept for one holder at one server.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The address it is for. A server that moves has to be signed in to anew.
    pub(super) url: String,
    /// What we registered as; it outlives the tokens.
    pub(super) registered: Option<Client>,
    /// Whom the configured client belongs to; it outlives the tokens too. The one beside the shared grant counts, for
    /// the client is the same for all holders.
    pub(super) bond: Option<Bond>,
    pub(super) tokens: Option<Tokens>,
    /// What the server said one has to be allowed, and is not.
    pub(super) wanted: Option<String>,
}

/// What is secret in a text that is kept, so that it can be hidden.
pub fn secrets_in(kept: &Secret) -> Vec<Secret> {
    let Ok(record) = serde_json::from_str::<Record>(kept.expose()) else { return vec![kept.clone()] };
    let Record { registered, tokens, .. } = record;
    let mut all: Vec<String> = registered.into_iter().filter_map(|client| client.secret).collect();
    if let Some(tokens) = tokens {
        all.push(tokens.access);
        all.extend(tokens.refresh);
        all.extend(tokens.client.secret);
    }
    all.sort();
    all.dedup();
    all.into_iter().map(Secret::new).collect()
}

/// A configured client, and the authorization server that it was first shown to.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Bond {
    pub(super) client: String,
    pub(super) issuer: String,
}

/// Who we are to an authorization server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Client {
    /// The authorization server that knows it, where that has a name.
    pub(super) issuer: Option<String>,
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) method: ClientAuth,
    /// Where it may be answered, for one that was registered.
    pub(super) redirect_uri: Option<String>,
    pub(super) expires_ms: Option<u64>,
}

/// How a client proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ClientAuth {
    #[serde(rename = "none")]
    None,
    #[serde(rename = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    Post,
}

impl ClientAuth {
    pub(super) const ALL: [Self; 3] = [Self::None, Self::Basic, Self::Post];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }
}

/// What lets us in, and what it takes to renew it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) received_ms: u64,
    pub(super) expires_ms: Option<u64>,
    pub(super) client: Client,
    /// What they are for, as the authorization server knows it.
    pub(super) resource: String,
    pub(super) token_url: String,
    pub(super) revocation_url: Option<String>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_whose_grant_it_is() {
        #[track_caller]
        fn check(key: &str, expect: Option<Holder>) {
            assert_eq!(Holder::of_key(key, "cave"), expect, "{key}");
            if let Some(holder) = expect {
                assert_eq!(holder.key("cave"), key);
            }
        }
        let of = |name: &str| Some(Holder::Principal(Principal::named(name).id.clone()));
        check("cave", Some(Holder::Shared));
        check("cave/ann", of("ann"));
        check("cave/a/b", of("a/b"));
        check("cavern", None);
        check("cave\u{e9}", None);
        check("cavern/ann", None);
        check("other", None);
    }
}
