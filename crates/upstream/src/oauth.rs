//! Signing in to servers: who may let us in, what they gave us, and how it stays fresh.
//!
//! Tokens are bound to the address of the server and to the authorization server that gave them; they go nowhere else.

mod bearer;
mod bond;
mod callback;
mod challenge;
mod client;
mod discovery;
mod error;
mod keeper;
mod login;
mod machine;
mod pkce;
mod plan;
mod renew;
mod scope;
mod store;
mod token;
mod ways;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use tokio::sync::{broadcast, watch};
use toolgate_core::PrincipalId;
use toolgate_host::outbound::{Request, Route};
use toolgate_host::{Clock, Secret, Tasks};
use toolgate_wire::{Version, headers};
use url::Url;

use crate::config::GrantKind;
use crate::fault::Fault;
use crate::link::Declared;
use crate::open::modern_params;
use crate::plan::{AddressPlan, Plan, Reach};
use crate::upstream::Surroundings;
use challenge::Challenge;
use client::Applicant;
use discovery::{Found, Scout};
use keeper::Keeper;
use store::{Record, lock};
use ways::Ways;

pub(crate) use bearer::Bearer;
pub use error::{OauthError, OauthReason};
pub use login::Login;
pub(crate) use plan::OauthPlan;
pub use store::{Holder, Keeping, MemoryTokens, TokenStore, secrets_in};

/// How many changes may wait to be heard of.
const EVENTS: usize = 64;

/// How long it counts what keeps people from signing in.
const ASSESS_MS: u64 = 60_000;

/// Someone's grant came or went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Signed {
    In(Holder),
    Out(Holder),
}

/// What may be known of a grant.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Standing {
    /// Who gave it, where that has a name.
    pub issuer: Option<String>,
    /// What it allows, where that was said.
    pub scope: Option<String>,
    /// When it ends, in milliseconds since 1970, where it ends.
    pub expires_ms: Option<u64>,
    /// Whether it is renewed without a person.
    pub renewable: bool,
}

/// What became of a grant that was given back.
#[derive(Debug, Clone)]
pub struct LoggedOut {
    /// Whether there was one.
    pub was_in: bool,
    /// Whether the authorization server took it back; none if it has no way to.
    pub revoked: Option<bool>,
}

/// Signs us in to one server, and keeps what lets us in. It cannot be printed: it holds secrets.
pub struct Authorizer {
    server: Arc<str>,
    /// Where tokens go, and nowhere else.
    url: Url,
    headers: HeaderMap,
    plan: OauthPlan,
    store: Arc<dyn TokenStore>,
    ways: Ways,
    tasks: Tasks,
    clock: Clock,
    keepers: Mutex<HashMap<Holder, Arc<Keeper>>>,
    /// How the server last asked who we are.
    challenge: Mutex<Option<String>>,
    /// Why nobody could sign in, if that is known.
    trouble: Mutex<Option<OauthError>>,
    /// When it was last looked for.
    assessed_ms: AtomicU64,
    events: broadcast::Sender<Signed>,
}

/// What it works with.
struct With {
    store: Arc<dyn TokenStore>,
    route: Route,
    tasks: Tasks,
    clock: Clock,
}

impl Plan {
    /// Lets us sign in to the server, and says by what; none where it is a program, or is told otherwise who we are.
    pub fn authorize(
        &mut self,
        store: Arc<dyn TokenStore>,
        surroundings: &Surroundings,
        clock: Clock,
    ) -> Option<Arc<Authorizer>> {
        let Reach::Address(address) = &mut self.reach else { return None };
        let oauth = address.oauth.take()?;
        let route = address.route(&surroundings.variables);
        let with = With { store, route, tasks: surroundings.tasks.child(), clock };
        let authorizer = Authorizer::new(self.name.clone(), address, *oauth, with);
        self.authorizer = Some(authorizer.clone());
        Some(authorizer)
    }
}

impl Authorizer {
    fn new(
        server: Arc<str>,
        address: &AddressPlan,
        plan: OauthPlan,
        With { store, route, tasks, clock }: With,
    ) -> Arc<Self> {
        let changes = store.changes();
        let this = Arc::new(Self {
            server,
            ways: Ways::new(&address.url, &plan, route),
            url: address.url.clone(),
            headers: address.headers.clone(),
            plan,
            store,
            tasks,
            clock,
            keepers: Mutex::default(),
            challenge: Mutex::default(),
            trouble: Mutex::default(),
            assessed_ms: AtomicU64::new(0),
            events: broadcast::channel(EVENTS).0,
        });
        let stop = this.tasks.stopping();
        this.tasks.spawn(stop.run_until_cancelled_owned(follow(Arc::downgrade(&this), changes)));
        this
    }

    /// Whether a person has to sign in, and not only the machine.
    pub fn needs_person(&self) -> bool {
        self.plan.grant == GrantKind::Code
    }

    /// Whose grant a principal uses.
    pub fn holder(&self, principal: &PrincipalId) -> Holder {
        let local = toolgate_core::Principal::local();
        if self.plan.per_principal && *principal != local.id {
            return Holder::Principal(principal.clone());
        }
        Holder::Shared
    }

    /// What lets a holder in, for requests.
    pub(crate) fn bearer(self: &Arc<Self>, holder: Holder) -> Bearer {
        Bearer { keeper: self.keeper(holder), authorizer: self.clone() }
    }

    /// Hears of grants that come and go.
    pub(crate) fn events(&self) -> broadcast::Receiver<Signed> {
        self.events.subscribe()
    }

    /// Why nobody could sign in, if that is known.
    pub(crate) fn trouble(&self) -> Option<OauthError> {
        lock(&self.trouble).clone()
    }

    /// What may be known of a holder's grant.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn standing(&self, holder: Holder) -> Result<Option<Standing>, OauthError> {
        let live = self.live(&self.keeper(holder)).await?;
        Ok(live.record.tokens.as_ref().map(|tokens| Standing {
            issuer: tokens.client.issuer.clone(),
            scope: tokens.scope.clone(),
            expires_ms: tokens.expires_ms,
            renewable: tokens.refresh.is_some() || !self.needs_person(),
        }))
    }

    /// What lets a holder's requests in right now: the value of their `Authorization` header, if they have a grant. One
    /// whose time is over is renewed first.
    ///
    /// # Errors
    /// The store does not answer, or whoever would renew it does not.
    pub async fn authorization(self: &Arc<Self>, holder: Holder) -> Result<Option<Secret>, OauthError> {
        match self.bearer(holder).header().await {
            Ok(header) => Ok(header.and_then(|value| Some(Secret::new(value.to_str().ok()?.to_owned())))),
            Err(Fault::Unauthorized(_)) => Ok(None),
            Err(fault) => Err(OauthError::unavailable(fault.words())),
        }
    }

    /// Gives a grant back, and forgets it.
    ///
    /// # Errors
    /// The store does not answer. An authorization server that does not is no error: what we had is gone all the same.
    pub async fn logout(&self, holder: Holder) -> Result<LoggedOut, OauthError> {
        let keeper = self.keeper(holder);
        // After a renewal that is under way: what it gets is given back too.
        let forgetting = async {
            let live = self.reload(&keeper).await?;
            self.store.remove(&keeper.key).await.map_err(store_failed)?;
            self.adopt(&keeper, Record::default());
            Ok::<_, OauthError>(live)
        };
        let live = self.in_turn(&keeper, forgetting).await??;
        let Some(mut tokens) = live.record.tokens.clone() else {
            return Ok(LoggedOut { was_in: false, revoked: None });
        };
        tokens.client = match keeper.holder {
            // Whom it belongs to was forgotten with it.
            Holder::Shared => self.client_by(live.record.bond.as_ref(), &tokens),
            Holder::Principal(_) => self.client_of(&tokens).await,
        };
        let revoked = match token::revoke(&self.ways, &tokens).await {
            Ok(taken) => taken.then_some(true),
            Err(error) => {
                tracing::warn!(server = %self.server, "the grant could not be given back: {error}");
                Some(false)
            }
        };
        Ok(LoggedOut { was_in: true, revoked })
    }

    /// Finds out what keeps people from signing in, before one tries.
    pub(crate) async fn assess(&self) {
        let now = self.clock.unix_ms();
        if now < self.assessed_ms.fetch_max(now, Ordering::Relaxed).saturating_add(ASSESS_MS) {
            return;
        }
        let looked = match self.discover().await {
            Ok(found) => match self.check_bond(&found.authority).await {
                Ok(()) => self.applicant(&found).can(),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        // That the client is wrong cannot be seen from here; it is right again when it is given a token.
        let trouble = looked.err().or_else(|| self.wrong_client());
        *lock(&self.trouble) = trouble;
    }

    /// Whom the server trusts.
    async fn discover(&self) -> Result<Found, OauthError> {
        let known = lock(&self.challenge).clone();
        let header = match known {
            Some(known) => Some(known),
            None => self.knock().await,
        };
        let challenge = header.as_deref().map(Challenge::read).unwrap_or_default();
        let (server, url, plan) = (&*self.server, &self.url, &self.plan);
        Scout { ways: &self.ways, server, url, plan }.discover(&challenge).await
    }

    fn applicant<'a>(&'a self, found: &'a Found) -> Applicant<'a> {
        Applicant {
            ways: &self.ways,
            server: &self.server,
            plan: &self.plan,
            authority: &found.authority,
            now_ms: self.clock.unix_ms(),
        }
    }

    /// Comes without a token, to hear how the server asks who we are; the modern way, then the oldest.
    async fn knock(&self) -> Option<String> {
        let params = modern_params(Declared::default());
        let frame = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}}"#,
            toolgate_wire::method::DISCOVER,
            params.as_str()
        );
        let name = |text: &'static str| HeaderName::from_bytes(text.as_bytes()).ok();
        let json = HeaderValue::from_static("application/json");
        let mut post: Vec<_> = vec![
            (CONTENT_TYPE, json),
            (ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
        ];
        let version = HeaderValue::from_static(Version::LATEST.as_str());
        post.extend(name(headers::PROTOCOL_VERSION).map(|name| (name, version)));
        let get = vec![(ACCEPT, HeaderValue::from_static("text/event-stream"))];
        for (method, more, body) in [(Method::POST, post, frame), (Method::GET, get, String::new())] {
            let own = self.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
            let headers = own.chain(more).collect();
            let request = Request { method, url: self.url.to_string(), headers, body: Bytes::from(body) };
            let Ok(answer) = self.ways.plain.send(request).await else { return None };
            if answer.status == 401 {
                return joined(&answer.headers);
            }
        }
        None
    }

    fn keeper(&self, holder: Holder) -> Arc<Keeper> {
        let mut keepers = lock(&self.keepers);
        let key = holder.key(&self.server);
        keepers.entry(holder.clone()).or_insert_with(|| Arc::new(Keeper::new(holder, key))).clone()
    }

    /// What helps a principal that is not let in, or not everywhere.
    pub(crate) fn advice(&self, principal: &PrincipalId, fault: &Fault) -> String {
        match self.trouble() {
            Some(trouble) => format!("{trouble}: {}", trouble.hint()),
            None if matches!(fault, Fault::Scope(_)) => self.help_to_more(&self.holder(principal)),
            None => self.help(&self.holder(principal)),
        }
    }

    /// What lets a holder in. Nobody can sign in for a machine.
    pub(crate) fn help(&self, holder: &Holder) -> String {
        if self.needs_person() {
            return self.command(holder);
        }
        let server = &self.server;
        format!("ask who runs the server whether it lets the client of `mcp.{server}.oauth.client_id` in")
    }

    /// What allows a holder more. What a machine could get by itself, it has got.
    pub(crate) fn help_to_more(&self, holder: &Holder) -> String {
        if self.needs_person() {
            return self.command(holder);
        }
        let server = &self.server;
        format!(
            "see that the client of `mcp.{server}.oauth.client_id` may be allowed it, and name it in \
             `mcp.{server}.oauth.scope`"
        )
    }

    /// The command that helps a holder.
    fn command(&self, holder: &Holder) -> String {
        match holder {
            Holder::Shared => format!("run `toolgate mcp auth {}`", self.server),
            Holder::Principal(id) => format!("run `toolgate mcp auth {} --principal {id}`", self.server),
        }
    }
}

/// All challenges of an answer as one.
pub(crate) fn joined(headers: &HeaderMap) -> Option<String> {
    let all: Vec<&str> =
        headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok()).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn store_failed(why: String) -> OauthError {
    OauthError::new(
        OauthReason::Unavailable,
        format!("what lets us in cannot be kept: {why}"),
        "`toolgate doctor` tells what is wrong with the store",
    )
}

/// Takes over what others keep: another process may have signed in, renewed, or given back.
async fn follow(authorizer: Weak<Authorizer>, mut changes: watch::Receiver<u64>) {
    while changes.changed().await.is_ok() {
        let Some(authorizer) = authorizer.upgrade() else { return };
        let keepers: Vec<_> = lock(&authorizer.keepers).values().cloned().collect();
        for keeper in keepers.iter().filter(|keeper| keeper.is_loaded()) {
            if let Err(error) = authorizer.reload(keeper).await {
                tracing::warn!(server = %authorizer.server, "{error}");
            }
        }
    }
}
