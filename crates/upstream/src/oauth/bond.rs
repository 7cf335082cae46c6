//! Whom a configured client belongs to: the authorization server that is configured, or else the first that it was
//! shown to. No other sees it, whatever the server says.

use super::discovery::{Authority, is_same_issuer};
use super::error::{OauthError, OauthReason};
use super::keeper::Keeper;
use super::store::{Bond, Record};
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
