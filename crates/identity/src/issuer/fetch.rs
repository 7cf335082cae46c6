//! Where an issuer's keys are, by its metadata, and what they are.

use std::error::Error as _;

use serde_json::Value;
use toolgate_host::{Outbound, OutboundError};
use url::Url;

use super::keys::Keys;
use super::terms::Terms;

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error(transparent)]
    Outbound(#[from] OutboundError),
    #[error("`{url}` holds no key set")]
    NoKeys { url: String },
    #[error("there is no metadata of the issuer with its name and a `jwks_uri`")]
    NoMetadata {
        #[source]
        last: Option<OutboundError>,
    },
}

/// Fetches the keys of an issuer.
pub(super) async fn keys(outbound: &Outbound, terms: &Terms) -> Result<Keys, FetchError> {
    let url = match &terms.jwks_url {
        Some(url) => url.clone(),
        None => discover(outbound, &terms.issuer).await?,
    };
    let set = outbound.get(&url).await?;
    Keys::read(&set).ok_or(FetchError::NoKeys { url })
}

/// Reads the issuer's metadata, by RFC 8414 or OpenID Connect, whichever is there.
async fn discover(outbound: &Outbound, issuer: &str) -> Result<String, FetchError> {
    let mut last = None;
    for url in places(issuer) {
        let metadata = match outbound.get(&url).await {
            Ok(metadata) => metadata,
            Err(error) => {
                last = Some(error);
                continue;
            }
        };
        let metadata: Value = serde_json::from_slice(&metadata).unwrap_or_default();
        // One that speaks for somebody else is not believed.
        if metadata["issuer"] == issuer
            && let Some(url) = metadata["jwks_uri"].as_str()
        {
            return Ok(url.to_owned());
        }
    }
    Err(FetchError::NoMetadata { last })
}

/// Where an issuer's metadata may be.
fn places(issuer: &str) -> Vec<String> {
    let Ok(url) = Url::parse(issuer) else { return Vec::new() };
    let (origin, path) = (url.origin().ascii_serialization(), url.path().trim_end_matches('/'));
    let mut places = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    places
}

/// An error and all that led to it, in one line for the log.
pub(super) fn in_full(error: &FetchError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_are_looked_for_in_the_order_of_the_protocol() {
        assert_eq!(
            places("https://a.example/realms/x"),
            [
                "https://a.example/.well-known/oauth-authorization-server/realms/x",
                "https://a.example/.well-known/openid-configuration/realms/x",
                "https://a.example/realms/x/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            places("https://a.example/"),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ]
        );
    }
}
