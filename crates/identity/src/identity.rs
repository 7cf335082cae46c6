//! All ways to be known, behind one handle.

use std::sync::Arc;

use arc_swap::ArcSwap;
use subtle::ConstantTimeEq as _;
use tokio::sync::watch;
use toolgate_core::{Authenticated, Authenticator, OauthConfig, Pass, Principal, ProtectedResource, Refused};
use toolgate_host::{Clock, Secret, Tasks};

use crate::config::{IdentityConfig, IdentityError};
use crate::issuer::{Issuer, Terms};
use crate::text::{Digest, TokenText, digest};
use crate::tokens::Tokens;

/// The shortest token of the configuration that is taken.
const SHORTEST_TOKEN: usize = 16;

/// All ways to be known. Clones are the same.
#[derive(Clone)]
pub struct Identity(Arc<Inner>);

struct Inner {
    tokens: Option<Tokens>,
    ways: ArcSwap<Ways>,
    clock: Clock,
    tasks: Tasks,
    ended: watch::Sender<u64>,
}

/// The ways that are configured.
#[derive(Default)]
struct Ways {
    single: Option<Single>,
    issuer: Option<Arc<Issuer>>,
    resource: Option<Arc<ProtectedResource>>,
    oauth: OauthConfig,
    public_url: Option<String>,
}

/// The one token of the configuration.
#[derive(Clone)]
struct Single {
    hash: Digest,
    pass: Pass,
}

impl Identity {
    /// Reads the tokens, and begins to follow what changes.
    ///
    /// # Errors
    /// The configuration is wrong, or the store fails.
    pub async fn start(
        tokens: Option<Tokens>,
        config: &IdentityConfig,
        clock: Clock,
        tasks: &Tasks,
    ) -> Result<Self, IdentityError> {
        // Another user of the same library must not choose for us; whoever was first chose the same.
        jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default().ok();
        let ended = tokens.as_ref().map(Tokens::ended).unwrap_or_default();
        if let Some(tokens) = &tokens {
            // Listened to before they are read, so that nothing is missed in between.
            tokens.follow(tasks);
            tokens.load().await.map_err(|error| {
                let hint =
                    error.next_step().unwrap_or("`toolgate doctor` tells what is wrong with the store");
                IdentityError::new(format!("the tokens cannot be read: {error}"), hint.to_owned())
                    .because(error)
            })?;
        }
        let (ways, tasks) = (ArcSwap::default(), tasks.clone());
        let this = Self(Arc::new(Inner { tokens, ways, clock, tasks, ended }));
        this.set_config(config)?;
        Ok(this)
    }

    /// From the next request on, those are known who are by `config`; whoever is not any more is turned out at once.
    ///
    /// # Errors
    /// The configuration is wrong; then all stays as it was.
    pub fn set_config(&self, config: &IdentityConfig) -> Result<(), IdentityError> {
        let old = self.0.ways.load_full();
        let single = single(config.token.as_ref(), old.single.as_ref())?;
        let terms = Terms::new(&config.oauth, config.public_url.as_deref())?;
        let same = old.oauth == config.oauth && old.public_url == config.public_url;
        let issuer = match terms {
            Some(_) if same && old.issuer.is_some() => old.issuer.clone(),
            Some(terms) => {
                Some(Issuer::start(terms, self.0.clock.clone(), &self.0.tasks, self.0.ended.clone()))
            }
            None => None,
        };
        let resource = issuer.as_ref().map(|issuer| Arc::new(issuer.terms().resource()));
        let (oauth, public_url) = (config.oauth.clone(), config.public_url.clone());
        let new = Arc::new(Ways { single, issuer, resource, oauth, public_url });
        self.0.ways.store(new.clone());
        let is_same = |old: &Single| new.single.as_ref().is_some_and(|new| new.hash == old.hash);
        if let Some(gone) = old.single.as_ref().filter(|old| !is_same(old)) {
            gone.pass.end();
        }
        let is_kept = |old: &Arc<Issuer>| new.issuer.as_ref().is_some_and(|new| Arc::ptr_eq(new, old));
        if let Some(gone) = old.issuer.as_ref().filter(|old| !is_kept(old)) {
            gone.stop();
        }
        self.0.ended.send_modify(|count| *count += 1);
        Ok(())
    }

    /// The tokens that we made, where there is a store for them.
    pub fn tokens(&self) -> Option<&Tokens> {
        self.0.tokens.as_ref()
    }
}

impl Authenticator for Identity {
    fn authenticate(&self, bearer: &str, profile: Option<&str>) -> Authenticated {
        let ways = self.0.ways.load();
        if let (Some(text), Some(tokens)) = (TokenText::read(bearer), &self.0.tokens) {
            let found = tokens.check(&text);
            // The token of the configuration may look like one of ours.
            if !matches!(found, Err(Refused::Unknown)) || ways.single.is_none() {
                return Authenticated::Now(found);
            }
        }
        let hash = digest(bearer);
        if let Some(single) = ways.single.as_ref().filter(|single| bool::from(single.hash.ct_eq(&hash))) {
            return Authenticated::Now(Ok(single.pass.clone()));
        }
        match &ways.issuer {
            Some(issuer) => issuer.authenticate(bearer, hash, profile),
            None => Authenticated::Now(Err(Refused::Unknown)),
        }
    }

    fn knows_anyone(&self) -> bool {
        self.demands() || self.0.tokens.as_ref().is_some_and(Tokens::any)
    }

    fn demands(&self) -> bool {
        let ways = self.0.ways.load();
        ways.single.is_some() || ways.issuer.is_some()
    }

    fn resource(&self) -> Option<Arc<ProtectedResource>> {
        self.0.ways.load().resource.clone()
    }

    fn ended(&self) -> watch::Receiver<u64> {
        self.0.ended.subscribe()
    }
}

/// The one token of the configuration; the same pass as before where it is the same token.
fn single(token: Option<&Secret>, old: Option<&Single>) -> Result<Option<Single>, IdentityError> {
    let Some(token) = token else { return Ok(None) };
    if token.expose().len() < SHORTEST_TOKEN {
        return Err(IdentityError::new(
            format!("`http.token` has fewer than {SHORTEST_TOKEN} characters"),
            "use a long random word, for instance of `openssl rand -hex 32`",
        ));
    }
    let hash = digest(token.expose());
    let same = old.filter(|old| old.hash == hash).cloned();
    Ok(Some(same.unwrap_or_else(|| Single { hash, pass: Pass::new(Principal::named("token")) })))
}
