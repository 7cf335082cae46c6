//! Which request goes where.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_LENGTH, ORIGIN};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use tokio::time::timeout;
use toolgate_core::Refused;
use toolgate_wire::headers;

use super::body::{Checked, Reply, json, text};
use super::guard::Guard;
use super::{HEAD_TIME, Shared, challenge, info, old_sse, post, session, site};

/// Where a request to the protocol's endpoint is addressed to.
#[derive(Debug, Default)]
pub(crate) struct Address {
    /// The session it names, by header or path.
    pub(crate) session: Option<String>,
    /// The named view it came in by.
    pub(crate) profile: Option<Arc<str>>,
}

/// Answers a request.
pub(crate) async fn route(
    shared: &Arc<Shared>,
    request: Request<Incoming>,
    peer: SocketAddr,
    admitted: bool,
) -> Reply {
    if !admitted {
        return text(StatusCode::SERVICE_UNAVAILABLE, "too many connections; try again later\n");
    }
    if let Some(site) = shared.site.as_ref().filter(|site| site.has(request.uri().path())) {
        return Box::pin(site::answer(shared, &**site, request, peer)).await;
    }
    let origin = request.headers().get(ORIGIN).cloned();
    let guard = shared.guard.load_full();
    if let Err(refused) = guard.admits(request.headers()) {
        return *refused;
    }
    let mut reply = if request.method() == Method::OPTIONS {
        guard.preflight()
    } else {
        dispatch(shared, &guard, request).await
    };
    guard.open_to(origin.as_ref(), &mut reply);
    reply
}

async fn dispatch(shared: &Arc<Shared>, guard: &Guard, request: Request<Incoming>) -> Reply {
    let path = request.uri().path().to_owned();
    if path == "/health" {
        return info::health(shared);
    }
    if path.starts_with("/.well-known/")
        && let Some(metadata) = challenge::metadata(shared, &path)
    {
        return if request.method() == Method::GET { metadata } else { not_allowed("GET") };
    }
    let endpoint = endpoint(&path, request.headers());
    let name = endpoint.as_ref().and_then(|(name, _)| *name);
    let turned_away = |refused| challenge::refused(&refused, guard.who().resource().as_deref(), name);
    let pass = match guard.pass(request.headers(), name).await {
        Ok(pass) => pass,
        Err(refused) => return turned_away(refused),
    };
    if let Some((name, session)) = endpoint {
        let profile = name.and_then(|name| shared.hub.profile(name));
        if profile.is_none() && name.is_some() {
            return json(
                StatusCode::NOT_FOUND,
                r#"{"error":"no such profile","hint":"without one, use /mcp"}"#,
            );
        }
        let address = Address { session, profile };
        return match *request.method() {
            Method::POST => match body(shared, request).await {
                Ok((headers, body)) => tokio::select! {
                    biased;
                    reply = post::post(shared, &headers, address, &pass, body) => reply,
                    () = pass.revoked() => turned_away(Refused::Revoked),
                },
                Err(refused) => *refused,
            },
            Method::GET => session::get(shared, request.headers(), &address, &pass),
            Method::DELETE => session::delete(shared, &address, &pass.principal),
            _ => not_allowed("GET, POST, DELETE"),
        };
    }
    match (path.as_str(), request.method()) {
        ("/sse", &Method::GET) => old_sse::open(shared, pass),
        ("/messages", &Method::POST) => {
            let query = request.uri().query().unwrap_or_default().to_owned();
            match body(shared, request).await {
                Ok((_, body)) => old_sse::message(shared, &query, &pass.principal, body).await,
                Err(refused) => *refused,
            }
        }
        ("/api", &Method::GET) => info::api(shared, &pass.principal),
        ("/metrics", &Method::GET | &Method::HEAD) => info::metrics(shared, request.headers()),
        ("/metrics", _) => not_allowed("GET, HEAD"),
        ("/sse" | "/api", _) => not_allowed("GET"),
        ("/messages", _) => not_allowed("POST"),
        _ => json(StatusCode::NOT_FOUND, r#"{"error":"nothing is here","hint":"the MCP endpoint is /mcp"}"#),
    }
}

/// Reads profile and session of `/mcp`, `/mcp/SESSION`, `/p/PROFILE/mcp` and `/p/PROFILE/mcp/SESSION`.
fn endpoint<'a>(path: &'a str, headers: &HeaderMap) -> Option<(Option<&'a str>, Option<String>)> {
    let mut parts = path.trim_start_matches('/').split('/');
    let mut first = parts.next()?;
    let mut profile = None;
    if first == "p" {
        profile = Some(parts.next().filter(|name| !name.is_empty())?);
        first = parts.next()?;
    }
    let in_path = parts.next().filter(|id| !id.is_empty()).map(String::from);
    if first != "mcp" || parts.next().is_some() {
        return None;
    }
    let in_header = headers.get(headers::SESSION_ID).and_then(|id| id.to_str().ok()).map(String::from);
    Some((profile, in_header.or(in_path)))
}

/// Reads the body of a request, within its limits of size and time.
pub(super) async fn body(shared: &Shared, request: Request<Incoming>) -> Checked<(HeaderMap, Bytes)> {
    let most = shared.config.max_body_bytes;
    let (parts, body) = request.into_parts();
    let refuse = |status, why: String| Err(Box::new(text(status, why)));
    let too_large =
        || refuse(StatusCode::PAYLOAD_TOO_LARGE, format!("a body may have at most {most} bytes\n"));
    let announced =
        parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > most) {
        return too_large();
    }
    match timeout(HEAD_TIME, Limited::new(body, most).collect()).await {
        Ok(Ok(collected)) => Ok((parts.headers, collected.to_bytes())),
        Ok(Err(error)) if error.is::<LengthLimitError>() => too_large(),
        Ok(Err(_)) => refuse(StatusCode::BAD_REQUEST, "the body of the request broke off\n".into()),
        Err(_) => {
            refuse(StatusCode::REQUEST_TIMEOUT, "the body of the request did not come in time\n".into())
        }
    }
}

pub(super) fn not_allowed(allowed: &'static str) -> Reply {
    let mut reply = text(StatusCode::METHOD_NOT_ALLOWED, format!("use {allowed} here\n"));
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_is_known_by_all_its_paths() {
        #[track_caller]
        fn check(path: &str, expect: Option<(Option<&str>, Option<&str>)>) {
            let found = endpoint(path, &HeaderMap::new());
            let found = found.as_ref().map(|(profile, session)| (*profile, session.as_deref()));
            assert_eq!(found, expect, "{path}");
        }
        check("/mcp", Some((None, None)));
        check("/mcp/", Some((None, None)));
        check("/mcp/abc", Some((None, Some("abc"))));
        check("/p/lean/mcp", Some((Some("lean"), None)));
        check("/p/lean/mcp/abc", Some((Some("lean"), Some("abc"))));
        check("/p//mcp", None);
        check("/p/mcp", None);
        check("/mcp/a/b", None);
        check("/mcpx", None);
        check("/", None);
    }
}
