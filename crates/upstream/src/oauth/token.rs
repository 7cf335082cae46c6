//! Asking for tokens, renewing them, and giving them back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use toolgate_host::outbound::{Answer, Request};
use url::form_urlencoded::{Serializer, byte_serialize};

use super::error::{OauthError, OauthReason};
use super::store::{Client, ClientAuth, Tokens};
use super::ways::Ways;
use crate::fault::short;

/// A token without an end is renewed when it is refused.
const LONGEST_S: u64 = 10 * 365 * 24 * 3600;

/// What is answered instead of a token.
pub(super) enum NoToken {
    /// What we have does not count any more.
    Gone(OauthError),
    /// Whether what we have counts was not looked at: the client is not taken for who it says it is.
    Client(OauthError),
    /// Not as much as was asked for.
    Scope(OauthError),
    /// There is nothing at this address that gives tokens.
    Moved(OauthError),
    /// Something else.
    Failed(OauthError),
}

impl NoToken {
    pub(super) fn into_error(self) -> OauthError {
        match self {
            Self::Gone(error)
            | Self::Client(error)
            | Self::Scope(error)
            | Self::Moved(error)
            | Self::Failed(error) => error,
        }
    }
}

/// A token as it is answered.
pub(super) struct Given {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) lasts_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    access_token: Option<String>,
    #[serde(default)]
    token_type: Option<String>,
    #[serde(default)]
    expires_in: Option<Value>,
    #[serde(default)]
    refresh_token: Option<String>,
    #[serde(default)]
    scope: Option<String>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    error_description: Option<String>,
}

/// Asks for a token.
pub(super) async fn ask(
    ways: &Ways,
    url: &str,
    client: &Client,
    form: &[(&str, &str)],
) -> Result<Given, NoToken> {
    let answer = post(ways, url, client, form).await.map_err(NoToken::Failed)?;
    let said = serde_json::from_slice::<Said>(&answer.body).ok();
    match (said, answer.status) {
        (Some(Said { error: Some(error), error_description, .. }), _) => {
            Err(refused(&error, error_description.as_deref()))
        }
        (Some(said), 200..=299) => given(said).map_err(NoToken::Failed),
        (_, status @ (301..=308 | 404 | 405 | 410)) => {
            Err(NoToken::Moved(OauthError::unavailable(format!("`{url}` answered {status}"))))
        }
        (_, status @ (400..=499)) => Err(NoToken::Failed(OauthError::new(
            OauthReason::Denied,
            format!("`{url}` answered {status}"),
            "ask who runs the authorization server",
        ))),
        (_, status) => Err(NoToken::Failed(OauthError::unavailable(format!(
            "`{url}` answered {status} without a token"
        )))),
    }
}

fn refused(error: &str, description: Option<&str>) -> NoToken {
    let said = match description {
        Some(description) => format!("{}: {}", short(error), short(description)),
        None => short(error),
    };
    let message = format!("the authorization server gives no token ({said})");
    match error {
        "invalid_grant" => NoToken::Gone(OauthError::new(OauthReason::NeedsAuth, message, "sign in anew")),
        "invalid_client" | "unauthorized_client" => {
            NoToken::Client(OauthError::new(OauthReason::Denied, message, "sign in anew"))
        }
        "invalid_scope" => NoToken::Scope(OauthError::new(
            OauthReason::Denied,
            message,
            "ask who runs the authorization server what the client may be allowed",
        )),
        "temporarily_unavailable" | "server_error" | "slow_down" => {
            NoToken::Failed(OauthError::unavailable(message))
        }
        _ => NoToken::Failed(OauthError::new(
            OauthReason::Denied,
            message,
            "ask who runs the authorization server",
        )),
    }
}

fn given(said: Said) -> Result<Given, OauthError> {
    let unusable = |why: &str| Err(OauthError::untrusted(format!("the authorization server gave {why}")));
    let Some(access) = said.access_token.filter(|token| !token.is_empty()) else {
        return unusable("no token");
    };
    if said.token_type.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return unusable("a token that is no bearer token");
    }
    if header(&access).is_none() {
        return unusable("a token that cannot stand in a header");
    }
    // Some write the number as text.
    let seconds = said.expires_in.as_ref();
    let seconds = seconds.and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()));
    Ok(Given {
        access,
        refresh: said.refresh_token.filter(|token| !token.is_empty()),
        scope: said.scope.filter(|scope| !scope.is_empty()),
        lasts_ms: seconds.filter(|seconds| *seconds < LONGEST_S).map(|seconds| seconds * 1000),
    })
}

/// The header that a token stands in.
pub(super) fn header(token: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Gives tokens back (RFC 7009); says whether the authorization server took them.
pub(super) async fn revoke(ways: &Ways, tokens: &Tokens) -> Result<bool, OauthError> {
    let Some(url) = &tokens.revocation_url else { return Ok(false) };
    // Without the first the second is worth little, so it goes first.
    let refresh = tokens.refresh.as_deref().map(|token| (token, "refresh_token"));
    let all = refresh.into_iter().chain([(tokens.access.as_str(), "access_token")]);
    for (token, kind) in all {
        let form = [("token", token), ("token_type_hint", kind)];
        let answer = post(ways, url, &tokens.client, &form).await?;
        let unknown_kind = answer.status == 400 && kind == "access_token";
        if !(200..=299).contains(&answer.status) && !unknown_kind {
            return Err(OauthError::unavailable(format!("`{url}` answered {}", answer.status)));
        }
    }
    Ok(true)
}

async fn post(ways: &Ways, url: &str, client: &Client, form: &[(&str, &str)]) -> Result<Answer, OauthError> {
    let mut headers: Vec<(HeaderName, HeaderValue)> = vec![
        (CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded")),
        (ACCEPT, HeaderValue::from_static("application/json")),
    ];
    if client.method == ClientAuth::Basic {
        headers.push((AUTHORIZATION, basic(&client.id, client.secret.as_deref().unwrap_or_default())?));
    }
    let body = body(client, form);
    Ok(ways.send(Request { method: Method::POST, url: url.to_owned(), headers, body }).await?)
}

fn body(client: &Client, form: &[(&str, &str)]) -> Bytes {
    let mut body = Serializer::new(String::new());
    body.extend_pairs(form.iter().filter(|(_, value)| !value.is_empty()));
    match client.method {
        ClientAuth::Basic => {}
        ClientAuth::None => {
            body.append_pair("client_id", &client.id);
        }
        ClientAuth::Post => {
            let secret = client.secret.as_deref().unwrap_or_default();
            body.append_pair("client_id", &client.id).append_pair("client_secret", secret);
        }
    }
    Bytes::from(body.finish())
}

/// Id and secret are encoded as in a form before they are joined (RFC 6749, 2.3.1).
fn basic(id: &str, secret: &str) -> Result<HeaderValue, OauthError> {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let joined = format!("{}:{}", encoded(id), encoded(secret));
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(joined)))
        .map_err(|_| OauthError::untrusted("the client cannot stand in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}
