//! Whom a configured client belongs to: the authorization server that is configured, or else the first that it was
//! shown to. No other sees it, whatever the server says.

use toolgate_host::Secret;

use super::discovery::{Authority, is_same_issuer};
use super::error::{OauthError, OauthReason};
use super::keeper::Keeper;
use super::store::{Bond, Client, ClientAuth, Record, Tokens};
use super::token::NoToken;
use super::{Authorizer, Holder};
use crate::fault::short;

impl Authorizer {
    /// Whether the client may be shown to an authorization server, as far as that is known.
    pub(super) async fn check_bond(&self, authority: &Authority) -> Result<(), OauthError> {
        let live = self.reload(&self.keeper(Holder::Shared)).await?;
        self.bond(&live.record, authority).map(drop)
    }

    /// The same, and remembers whom it is shown to, before it is.
    pub(super) async fn bind(&self, authority: &Authority) -> Result<Option<Bond>, OauthError> {
        if self.plan.own_client().is_none() {
            return Ok(None);
        }
        let keeper = self.keeper(Holder::Shared);
        self.in_turn(&keeper, self.bind_now(&keeper, authority)).await?
    }

    /// The same for whoever has the turn of the shared grant.
    pub(super) async fn bind_now(
        &self,
        shared: &Keeper,
        authority: &Authority,
    ) -> Result<Option<Bond>, OauthError> {
        let record = self.reload(shared).await?.record.clone();
        let bond = self.bond(&record, authority)?;
        if bond.is_some() && bond != record.bond {
            self.keep(shared, Record { bond: bond.clone(), ..record }).await?;
        }
        Ok(bond)
    }

    /// What binds the client to an authorization server; none where it may be shown to any, or none is found out.
    fn bond(&self, record: &Record, authority: &Authority) -> Result<Option<Bond>, OauthError> {
        let (Some(client), Some(issuer)) = (self.plan.own_client(), &authority.issuer) else {
            return Ok(None);
        };
        // What a person configured counts more than what was.
        let before = record.bond.as_ref().filter(|_| self.plan.issuer.is_none());
        match before.filter(|before| before.client == client) {
            Some(before) if !is_same_issuer(&before.issuer, issuer) => {
                Err(self.strange(&before.issuer, issuer))
            }
            Some(before) => Ok(Some(before.clone())),
            None => Ok(Some(Bond { client: client.to_owned(), issuer: issuer.clone() })),
        }
    }

    /// Whether a client is the one that is configured, with the secret that is.
    pub(super) fn is_configured(&self, client: &Client) -> bool {
        let secret = self.plan.client_secret.as_ref().map(Secret::expose);
        self.is_own(client) && client.secret.as_deref() == secret
    }

    /// Whether it is that client, with whichever secret.
    fn is_own(&self, client: &Client) -> bool {
        client.redirect_uri.is_none() && self.plan.own_client() == Some(&*client.id)
    }

    /// The client that tokens were given to, with the secret that is configured by now: people change secrets, and what
    /// was given stays.
    pub(super) async fn client_of(&self, tokens: &Tokens) -> Client {
        let bond = match self.reload(&self.keeper(Holder::Shared)).await {
            Ok(live) => live.record.bond.clone(),
            Err(_) => None,
        };
        self.client_by(bond.as_ref(), tokens)
    }

    /// The same for whoever knows whom the client belongs to.
    pub(super) fn client_by(&self, bond: Option<&Bond>, tokens: &Tokens) -> Client {
        let mut client = tokens.client.clone();
        // What gave the tokens long ago may not be whom the client belongs to any more.
        let is_chosen = self.plan.issuer.is_some() || self.plan.token_url.is_some();
        let is_bound = || {
            let issuer = client.issuer.as_deref();
            bond.zip(issuer).is_some_and(|(bond, issuer)| {
                bond.client == client.id && is_same_issuer(&bond.issuer, issuer)
            })
        };
        if !self.is_own(&client) || !(is_chosen || is_bound()) {
            return client;
        }
        client.secret = self.plan.client_secret.as_ref().map(|secret| secret.expose().to_owned());
        client.method = match (client.secret.is_some(), client.method) {
            (false, _) => ClientAuth::None,
            // All have to understand this one, whatever else they do.
            (true, ClientAuth::None) => ClientAuth::Basic,
            (true, method @ (ClientAuth::Basic | ClientAuth::Post)) => method,
        };
        client
    }

    /// Why there is no token, and what to do where it is the configured client that is wrong.
    pub(super) fn blame(&self, refused: NoToken, client: &Client) -> OauthError {
        let is_wrong = matches!(refused, NoToken::Client(_)) && self.is_configured(client);
        let error = refused.into_error();
        if !is_wrong {
            return error;
        }
        let hint = format!(
            "see that `mcp.{0}.oauth.client_id` and `mcp.{0}.oauth.client_secret` are what the authorization server \
             knows",
            self.server
        );
        OauthError::new(OauthReason::WrongClient, error.to_string(), hint)
    }

    /// That the configured client is wrong, if that is known.
    pub(super) fn wrong_client(&self) -> Option<OauthError> {
        self.trouble().filter(|trouble| trouble.reason() == OauthReason::WrongClient)
    }

    fn strange(&self, own: &str, named: &str) -> OauthError {
        let (server, own, named) = (&self.server, short(own), short(named));
        OauthError::new(
            OauthReason::Untrusted,
            format!("`{server}` wants us to sign in by `{named}`, but our client belongs to `{own}`"),
            format!(
                "ask who runs the server; if they moved there, set `mcp.{server}.oauth.issuer` to it, or forget the \
                 other with `toolgate mcp logout {server}`"
            ),
        )
    }
}
