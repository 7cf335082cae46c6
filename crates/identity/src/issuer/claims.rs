//! What a verified JWT says, and whom it lets in.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolgate_core::{Pass, Principal, Refused};

use super::terms::Terms;

/// The longest name of a principal, without its issuer.
const LONGEST_NAME: usize = 128;

/// All that a JWT claims.
pub(super) type Claims = Map<String, Value>;

/// A JWT whose signature and issuer are right.
pub(super) struct Verified {
    pass: Pass,
    from_ms: u64,
    pub(super) until_ms: u64,
    /// Whether it is meant for this server as a whole.
    everywhere: bool,
    /// The profiles that it is meant for.
    profiles: Vec<String>,
    has_scopes: bool,
}

impl Verified {
    /// Reads claims whose signature is right.
    pub(super) fn new(
        claims: &Claims,
        terms: &Terms,
        pass: impl FnOnce(Arc<Principal>, u64) -> Pass,
    ) -> Result<Self, Refused> {
        if claims.get("iss").and_then(Value::as_str) != Some(&terms.issuer) {
            return Err(Refused::Unknown);
        }
        let until_ms = moment(claims, "exp")?.ok_or(Refused::Malformed)?.saturating_add(terms.leeway_ms);
        let from_ms = moment(claims, "nbf")?.unwrap_or(0).saturating_sub(terms.leeway_ms);
        let audiences = texts(claims.get("aud"));
        let granted = granted(claims);
        let principal = principal(claims, terms, &granted)?;
        Ok(Self {
            pass: pass(principal, until_ms),
            from_ms,
            until_ms,
            everywhere: audiences.iter().any(|audience| terms.audience.iter().any(|ours| ours == audience)),
            profiles: audiences.iter().filter_map(|audience| terms.profile_of(audience)).collect(),
            has_scopes: terms.required_scopes.iter().all(|scope| granted.contains(&scope.as_str())),
        })
    }

    /// Lets its bearer in, here and now.
    pub(super) fn admit(&self, terms: &Terms, now_ms: u64, profile: Option<&str>) -> Result<Pass, Refused> {
        if now_ms >= self.until_ms || now_ms < self.from_ms {
            return Err(Refused::Expired);
        }
        let is_meant = |profile: &str| self.profiles.iter().any(|meant| meant == profile);
        if !self.everywhere && !profile.is_some_and(is_meant) {
            return Err(Refused::Audience);
        }
        if !self.has_scopes {
            return Err(Refused::Scope { required: terms.required_scopes.clone() });
        }
        Ok(self.pass.clone())
    }
}

/// Who it is: the issuer's host, a slash, and the name that the issuer gives. No token of ours has such a name.
fn principal(claims: &Claims, terms: &Terms, granted: &[&str]) -> Result<Arc<Principal>, Refused> {
    let name = claims.get(&terms.principal_claim).and_then(Value::as_str).unwrap_or_default();
    let is_plain = name.bytes().all(|byte| byte.is_ascii_graphic());
    if name.is_empty() || name.len() > LONGEST_NAME || !is_plain {
        return Err(Refused::Malformed);
    }
    let roles = granted.iter().filter_map(|granted| terms.roles.get(*granted)).flatten();
    Ok(Principal::with_roles(format!("{}/{name}", terms.host), roles.cloned()))
}

/// The scopes and roles that the issuer granted.
fn granted(claims: &Claims) -> Vec<&str> {
    let all = ["scope", "scp", "roles"].into_iter().flat_map(|claim| texts(claims.get(claim)));
    all.flat_map(str::split_whitespace).collect()
}

/// A text, or a list of them.
fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A moment that is written in seconds, in milliseconds.
fn moment(claims: &Claims, claim: &str) -> Result<Option<u64>, Refused> {
    let Some(value) = claims.get(claim) else { return Ok(None) };
    let seconds = value.as_u64().or_else(|| value.as_f64().map(|seconds| seconds as u64));
    seconds.map(|seconds| Some(seconds.saturating_mul(1000))).ok_or(Refused::Malformed)
}
