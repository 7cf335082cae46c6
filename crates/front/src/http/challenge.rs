//! How a client is told that it is not let in, and where it gets a token: RFC 6750 and RFC 9728.

use http::header::{CACHE_CONTROL, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde_json::json;
use toolgate_core::{ProtectedResource, Refused};
use toolgate_wire::Raw;

use super::Shared;
use super::body::{Reply, json as json_reply, text};

/// Where the metadata of a resource are, before the path of the resource.
const METADATA: &str = "/.well-known/oauth-protected-resource";

/// Refuses a request to the endpoint, or to that of a profile.
pub(crate) fn refused(
    refused: &Refused,
    resource: Option<&ProtectedResource>,
    profile: Option<&str>,
) -> Reply {
    let told = Told::of(refused);
    let mut reply = text(told.status, told.text);
    if refused == &Refused::Unavailable {
        reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("30"));
        return reply;
    }
    let challenge = HeaderValue::from_str(&challenge(refused, &told, resource, profile));
    let challenge = challenge.unwrap_or(HeaderValue::from_static("Bearer"));
    reply.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    reply
}

/// What a client is told.
struct Told {
    status: StatusCode,
    error: Option<&'static str>,
    description: &'static str,
    text: &'static str,
}

impl Told {
    /// Nothing here tells whether there is such a token.
    fn of(refused: &Refused) -> Self {
        const SEND: &str = "send `Authorization: Bearer` with the token of this server\n";
        let (status, error, description, text) = match refused {
            Refused::Missing => (StatusCode::UNAUTHORIZED, None, "", SEND),
            Refused::Ambiguous => {
                let why = "there is more than one header `Authorization`";
                (StatusCode::BAD_REQUEST, Some("invalid_request"), why, "send one header `Authorization`\n")
            }
            Refused::Malformed | Refused::Unknown | Refused::Revoked => {
                (StatusCode::UNAUTHORIZED, Some("invalid_token"), "the token is not valid", SEND)
            }
            Refused::Expired => {
                let text = "the token is not valid now; get a new one\n";
                (StatusCode::UNAUTHORIZED, Some("invalid_token"), "the token is not valid now", text)
            }
            Refused::Audience => {
                let why = "the token is for another server";
                let text = "the token is for another server; get one for this one\n";
                (StatusCode::UNAUTHORIZED, Some("invalid_token"), why, text)
            }
            Refused::Scope { .. } => {
                let why = "the token does not have the scopes that are needed";
                let text = "the token does not have the scopes that are needed; get one that has\n";
                (StatusCode::FORBIDDEN, Some("insufficient_scope"), why, text)
            }
            Refused::Unavailable => {
                let text =
                    "the token cannot be checked, because its issuer does not answer; try again later\n";
                (StatusCode::SERVICE_UNAVAILABLE, None, "", text)
            }
        };
        Self { status, error, description, text }
    }
}

fn challenge(
    refused: &Refused,
    told: &Told,
    resource: Option<&ProtectedResource>,
    profile: Option<&str>,
) -> String {
    let mut parts = Vec::new();
    if let Some(error) = told.error {
        parts.push(format!("error=\"{error}\""));
        parts.push(format!("error_description=\"{}\"", told.description));
    }
    let scopes = if let Refused::Scope { required } = refused {
        Some(required)
    } else {
        resource.map(|resource| &resource.required_scopes)
    };
    if let Some(scopes) = scopes.filter(|scopes| !scopes.is_empty()) {
        parts.push(format!("scope=\"{}\"", scopes.join(" ")));
    }
    if let Some(resource) = resource {
        let path = path(profile.filter(|name| is_plain(name)));
        parts.push(format!("resource_metadata=\"{}{METADATA}{path}\"", resource.base));
    }
    if parts.is_empty() { "Bearer".to_owned() } else { format!("Bearer {}", parts.join(", ")) }
}

/// Where clients get tokens for the endpoint that a path of metadata stands for; `None` if it stands for none.
pub(crate) fn metadata(shared: &Shared, path_of_metadata: &str) -> Option<Reply> {
    let of = path_of_metadata.strip_prefix(METADATA)?;
    let profile = match of.trim_end_matches('/') {
        "" | "/mcp" => None,
        of => Some(of.strip_prefix("/p/")?.strip_suffix("/mcp").filter(|name| is_plain(name))?),
    };
    let resource = shared.guard.load().who().resource()?;
    let server: serde_json::Value = shared.hub.info().raw.to().unwrap_or_default();
    let name = server["title"].as_str().or(server["name"].as_str()).unwrap_or("Toolgate");
    let body = json!({
        "resource": format!("{}{}", resource.base, path(profile)),
        "authorization_servers": [resource.issuer],
        "scopes_supported": resource.scopes,
        "bearer_methods_supported": ["header"],
        "resource_name": name,
    });
    let mut reply = json_reply(StatusCode::OK, Raw::of(&body).bytes());
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
    Some(reply)
}

fn path(profile: Option<&str>) -> String {
    profile.map_or_else(|| "/mcp".to_owned(), |name| format!("/p/{name}/mcp"))
}

/// Whether a name can stand in an address and in a header as it is.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource() -> ProtectedResource {
        ProtectedResource {
            base: "https://gate.example".into(),
            issuer: "https://login.example".into(),
            required_scopes: ["tools".to_owned(), "more".to_owned()].into(),
            scopes: vec!["tools".into(), "more".into()],
        }
    }

    #[test]
    fn a_refusal_tells_what_is_missing_and_where_to_get_it() {
        #[track_caller]
        fn check(why: &Refused, profile: Option<&str>, status: u16, expect: Option<&str>) {
            let resource = resource();
            let reply = refused(why, Some(&resource), profile);
            let found = reply.headers().get(WWW_AUTHENTICATE).map(|value| value.to_str().unwrap());
            assert_eq!((reply.status().as_u16(), found), (status, expect), "{why:?}");
        }
        let at = r#"resource_metadata="https://gate.example/.well-known/oauth-protected-resource"#;
        let invalid = r#"error="invalid_token", error_description="the token is not valid""#;
        let missing = format!(r#"Bearer scope="tools more", {at}/mcp""#);
        check(&Refused::Missing, None, 401, Some(&missing));
        let missing = format!(r#"Bearer scope="tools more", {at}/p/lean/mcp""#);
        check(&Refused::Missing, Some("lean"), 401, Some(&missing));
        let missing = format!(r#"Bearer scope="tools more", {at}/mcp""#);
        check(&Refused::Missing, Some("le\"an"), 401, Some(&missing));
        // Whether there is such a token does not show.
        let unknown = format!(r#"Bearer {invalid}, scope="tools more", {at}/mcp""#);
        check(&Refused::Unknown, None, 401, Some(&unknown));
        check(&Refused::Revoked, None, 401, Some(&unknown));
        check(&Refused::Malformed, None, 401, Some(&unknown));
        let why = "the token does not have the scopes that are needed";
        let scope = format!(
            r#"Bearer error="insufficient_scope", error_description="{why}", scope="write", {at}/mcp""#
        );
        check(&Refused::Scope { required: ["write".to_owned()].into() }, None, 403, Some(&scope));
        check(&Refused::Unavailable, None, 503, None);
        let plain = refused(&Refused::Missing, None, None);
        assert_eq!(plain.headers()[WWW_AUTHENTICATE], "Bearer");
    }
}
