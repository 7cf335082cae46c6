//! Who a bearer is: the seat of whatever knows tokens, as the front asks it.

mod oauth;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolgate_host::Clock;

use crate::Principal;

pub use oauth::{JwtAlgorithm, OauthConfig};

/// How long a pass is slept for at most: the clock on the wall may jump.
const NAP: Duration = Duration::from_secs(30);

/// That somebody is known, for as long as what they showed holds. Clones are the same pass.
#[derive(Debug, Clone)]
pub struct Pass {
    /// Who it is.
    pub principal: Arc<Principal>,
    // Shared, because a token that is cloned with every request is locked with every request.
    hold: Arc<Hold>,
}

/// For how long a pass holds.
#[derive(Debug)]
struct Hold {
    ended: CancellationToken,
    until: Option<(Clock, u64)>,
    renewable: bool,
}

impl Pass {
    /// A pass that holds until it is ended: what was begun with it ends with it.
    pub fn new(principal: Arc<Principal>) -> Self {
        Self {
            principal,
            hold: Arc::new(Hold { ended: CancellationToken::new(), until: None, renewable: false }),
        }
    }

    /// A pass that runs out soon, and whose principal comes back with the next one: what was begun with it goes on.
    /// It ends early with `ended`, as all others do that were made with that.
    pub fn renewable(principal: Arc<Principal>, ended: CancellationToken) -> Self {
        Self { principal, hold: Arc::new(Hold { ended, until: None, renewable: true }) }
    }

    /// The same, up to a moment in milliseconds since 1970.
    #[must_use]
    pub fn until(self, clock: Clock, unix_ms: u64) -> Self {
        let Hold { ended, renewable, until: _ } = &*self.hold;
        let hold = Hold { ended: ended.clone(), until: Some((clock, unix_ms)), renewable: *renewable };
        Self { hold: Arc::new(hold), ..self }
    }

    /// From now on it does not hold.
    pub fn end(&self) {
        self.hold.ended.cancel();
    }

    /// Whether it does not hold any more.
    pub fn is_over(&self) -> bool {
        self.hold.ended.is_cancelled() || self.left() == Some(0)
    }

    /// Whether all that was begun with it has to end.
    pub fn is_revoked(&self) -> bool {
        !self.hold.renewable && self.is_over()
    }

    /// Completes when it does not hold any more: streams without an end of their own are closed.
    pub async fn over(&self) {
        loop {
            let nap = match self.left() {
                Some(0) => return,
                Some(left) => Duration::from_millis(left).min(NAP),
                None => return self.hold.ended.cancelled().await,
            };
            if tokio::time::timeout(nap, self.hold.ended.cancelled()).await.is_ok() {
                return;
            }
        }
    }

    /// Completes when all that was begun with it has to end.
    pub async fn revoked(&self) {
        if self.hold.renewable {
            return std::future::pending().await;
        }
        self.over().await;
    }

    /// How many milliseconds it still holds, where that is known.
    fn left(&self) -> Option<u64> {
        self.hold.until.as_ref().map(|(clock, until_ms)| until_ms.saturating_sub(clock.unix_ms()))
    }
}

/// Why a bearer is refused. What the caller is told of it says never whether there is such a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// There is none, and one is demanded.
    Missing,
    /// It was sent in a way that can be read in two ways.
    Ambiguous,
    /// It is none that could ever be right.
    Malformed,
    /// Nobody is known by it.
    Unknown,
    /// Its time is over, or has not come.
    Expired,
    /// It was taken back.
    Revoked,
    /// It is meant for another server.
    Audience,
    /// It does not allow enough.
    Scope {
        /// The scopes that are needed.
        required: Arc<[String]>,
    },
    /// Whoever could tell does not answer.
    Unavailable,
}

/// An answer that has to be waited for.
pub type Later = Pin<Box<dyn Future<Output = Result<Pass, Refused>> + Send>>;

/// Who a bearer is.
pub enum Authenticated {
    /// The answer, as mostly.
    Now(Result<Pass, Refused>),
    /// The answer, once keys have been fetched.
    Later(Later),
}

/// Where clients get tokens for this server: what its metadata says, by RFC 9728.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedResource {
    /// The address of this server, without a path and without a slash at its end.
    pub base: String,
    /// Who issues tokens for it.
    pub issuer: String,
    /// The scopes that every token needs.
    pub required_scopes: Arc<[String]>,
    /// The scopes that mean something here.
    pub scopes: Vec<String>,
}

/// Knows who brings which bearer.
pub trait Authenticator: Send + Sync {
    /// Who brings this bearer to the endpoint, or to that of a profile. On the way of every request.
    fn authenticate(&self, bearer: &str, profile: Option<&str>) -> Authenticated;

    /// Whether there is anyone to be known: without, nobody beyond this machine could be let in.
    fn knows_anyone(&self) -> bool;

    /// Whether everyone has to be known, even on this machine.
    fn demands(&self) -> bool;

    /// Where clients get tokens, if they can.
    fn resource(&self) -> Option<Arc<ProtectedResource>>;

    /// Changes whenever passes have ended.
    fn ended(&self) -> watch::Receiver<u64>;
}
