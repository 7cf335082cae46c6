//! Passwords: which are taken, and how they are kept (argon2id).

use std::sync::Arc;

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;
use toolgate_core::{Error, Kind};
use toolgate_host::{Secret, Tasks};

use crate::problem::Problem;

/// A password of this many characters may be of any kind.
const LONG: usize = 16;
/// One of this many needs [`CLASSES`].
const SHORT: usize = 12;
/// Of lower case, upper case, digits and all else.
const CLASSES: usize = 3;
/// More is no password but an attack.
const LONGEST: usize = 1024;

/// How many are hashed at once: each takes a lot of memory.
const AT_ONCE: usize = 2;
/// How many may wait for their turn.
const WAITING: usize = 16;

const SALT: usize = 16;
const HASH: usize = 32;

/// What is wrong with a new password, if anything is.
pub(crate) fn fault(password: &str) -> Option<String> {
    let characters = password.chars().count();
    if password.len() > LONGEST {
        return Some(format!("is longer than {LONGEST} bytes"));
    }
    if characters >= LONG || (characters >= SHORT && classes(password) >= CLASSES) {
        return None;
    }
    Some(format!(
        "is too weak: it needs {LONG} characters, or {SHORT} with {CLASSES} of lower case, upper case, digits and others"
    ))
}

fn classes(password: &str) -> usize {
    let is_other = |char: char| !char.is_lowercase() && !char.is_uppercase() && !char.is_numeric();
    let has: [bool; 4] = [
        password.contains(char::is_lowercase),
        password.contains(char::is_uppercase),
        password.contains(char::is_numeric),
        password.contains(is_other),
    ];
    has.into_iter().filter(|has| *has).count()
}

/// What hashing a password costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub struct Cost {
    /// Memory, in KiB.
    m: u32,
    /// Passes over it.
    t: u32,
    /// Lanes.
    p: u32,
}

impl Cost {
    /// What OWASP asks for at least.
    pub const USUAL: Self = Self { m: 19_456, t: 2, p: 1 };

    /// As little as can be, for tests.
    pub const LEAST: Self = Self { m: 8, t: 1, p: 1 };

    fn hash(self, password: &[u8], salt: &[u8]) -> Result<[u8; HASH], Error> {
        let failed = |error: argon2::Error| Error::new(Kind::Internal, format!("argon2: {error}"));
        let params = Params::new(self.m, self.t, self.p, Some(HASH)).map_err(failed)?;
        let mut hash = [0; HASH];
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(password, salt, &mut hash)
            .map_err(failed)?;
        Ok(hash)
    }
}

/// A password as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Hashed {
    cost: Cost,
    salt: String,
    hash: String,
}

impl Hashed {
    fn new(password: &Secret, cost: Cost) -> Result<Self, Error> {
        let mut salt = [0; SALT];
        getrandom::fill(&mut salt)
            .map_err(|error| Error::new(Kind::Internal, "the system has no randomness").because(error))?;
        let hash = cost.hash(password.expose().as_bytes(), &salt)?;
        Ok(Self { cost, salt: STANDARD_NO_PAD.encode(salt), hash: STANDARD_NO_PAD.encode(hash) })
    }

    /// What a password is compared with where there is no account: it takes the same time.
    fn nobodys(cost: Cost) -> Self {
        Self { cost, salt: STANDARD_NO_PAD.encode([0; SALT]), hash: String::new() }
    }

    fn is(&self, password: &Secret) -> Result<bool, Error> {
        let broken = |_| Error::new(Kind::Internal, "a password in the store cannot be read");
        let salt = STANDARD_NO_PAD.decode(&self.salt).map_err(broken)?;
        let kept = STANDARD_NO_PAD.decode(&self.hash).map_err(broken)?;
        let hash = self.cost.hash(password.expose().as_bytes(), &salt)?;
        Ok(bool::from(hash.as_slice().ct_eq(&kept)))
    }
}

/// Hashes passwords, a few at a time. Clones are the same.
#[derive(Clone)]
pub(crate) struct Passwords {
    cost: Cost,
    turns: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    tasks: Tasks,
}

impl Passwords {
    pub(crate) fn new(cost: Cost, tasks: Tasks) -> Self {
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        Self { cost, turns, waiting: Arc::new(Semaphore::new(WAITING)), tasks }
    }

    /// A password as it is kept.
    pub(super) async fn hash(&self, password: Secret) -> Result<Hashed, Problem> {
        let cost = self.cost;
        self.work(move || Hashed::new(&password, cost)).await
    }

    /// Whether it is the one that is kept; without one, no, and that takes as long.
    pub(super) async fn is(&self, password: Secret, kept: Option<Hashed>) -> Result<bool, Problem> {
        if password.expose().len() > LONGEST {
            return Ok(false);
        }
        let cost = self.cost;
        let known = kept.is_some();
        let kept = kept.unwrap_or_else(|| Hashed::nobodys(cost));
        Ok(self.work(move || kept.is(&password)).await? && known)
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let busy = || Problem::too_many("too many people log in at once", 2).hint("try again in a moment");
        let _waiting = self.waiting.try_acquire().map_err(|_| busy())?;
        let _turn = self.turns.acquire().await.map_err(|_| busy())?;
        let done = self.tasks.blocking(work).await;
        Ok(done.map_err(|error| Error::new(Kind::Internal, "a password was not hashed").because(error))??)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_long_or_of_several_kinds() {
        #[track_caller]
        fn check(password: &str, fine: bool) {
            assert_eq!(fault(password).is_none(), fine, "{password}");
        }
        check("", false);
        check("short", false);
        check("aaaaaaaaaaaaaaa", false);
        check("aaaaaaaaaaaaaaaa", true);
        check("lowercaseand1", false);
        check("Lowercase-and", true);
        check("Lowercase1an", true);
        check("Lowercase1a", false);
        check("\u{e4}\u{f6}\u{fc}\u{e4}\u{f6}\u{fc}\u{c4}\u{e4}\u{f6}\u{fc}12", true);
        check(&"x".repeat(LONGEST), true);
        check(&"x".repeat(LONGEST + 1), false);
    }

    #[test]
    fn only_the_same_password_is_the_same() {
        let secret = |text: &str| Secret::new(text.into());
        let kept = Hashed::new(&secret("correct horse"), Cost::LEAST).unwrap();
        assert!(kept.is(&secret("correct horse")).unwrap());
        assert!(!kept.is(&secret("correct horsf")).unwrap());
        assert!(!kept.is(&secret("")).unwrap());
        assert!(!Hashed::nobodys(Cost::LEAST).is(&secret("")).unwrap());
        let again = Hashed::new(&secret("correct horse"), Cost::LEAST).unwrap();
        assert_ne!(kept, again, "each has its own salt");
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<Hashed>(&text).unwrap(), kept);
    }
}
