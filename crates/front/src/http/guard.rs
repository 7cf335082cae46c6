//! Who may speak to the server at all: Host, Origin and token, before anything is read.

use std::net::SocketAddr;
use std::sync::Arc;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, AUTHORIZATION, HOST, ORIGIN, VARY,
    WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use sha2::{Digest, Sha256};
use toolgate_core::Principal;

use super::body::{Checked, Reply, empty, text};
use super::config::{BindError, HttpConfig};

/// The shortest token that is taken.
const SHORTEST_TOKEN: usize = 16;

/// Who may speak to the server at all.
pub(crate) struct Guard {
    /// Names by which the server may be addressed; `None` where any may be used, behind a token.
    hosts: Option<Vec<String>>,
    origins: Vec<String>,
    any_origin: bool,
    token: Option<[u8; 32]>,
    local: Arc<Principal>,
    bearer: Arc<Principal>,
}

impl Guard {
    pub(super) fn new(config: &HttpConfig, address: SocketAddr) -> Result<Self, BindError> {
        let token = config.token.as_deref();
        if token.is_some_and(|token| token.len() < SHORTEST_TOKEN) {
            let message = format!("`http.token` has fewer than {SHORTEST_TOKEN} characters");
            return Err(BindError::new(
                message,
                "use a long random word, for instance of `openssl rand -hex 32`",
            ));
        }
        let loopback = address.ip().is_loopback();
        if !loopback && token.is_none() {
            return Err(BindError::new(
                format!("`{}` can be reached from other machines, and no token is set", address.ip()),
                "set `http.token` to a long random word, or listen on `127.0.0.1`",
            ));
        }
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(String::from).to_vec();
        hosts.extend(config.allowed_hosts.iter().cloned());
        let checked = loopback || !config.allowed_hosts.is_empty();
        Ok(Self {
            hosts: checked.then_some(hosts),
            origins: config
                .cors_origins
                .iter()
                .map(|origin| origin.trim_end_matches('/').to_owned())
                .collect(),
            any_origin: config.cors_origins.iter().any(|origin| origin == "*"),
            token: token.map(|token| Sha256::digest(token).into()),
            local: Principal::local(),
            bearer: Principal::named("token"),
        })
    }

    /// Checks by which name the server is addressed, and from which web page.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> Checked<()> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let name = host_name(host);
        let is_known = |hosts: &Vec<String>| hosts.iter().any(|host| host.eq_ignore_ascii_case(name));
        if self.hosts.as_ref().is_some_and(|hosts| !is_known(hosts)) {
            let why = "this server is not known by that name; add it to `http.allowed_hosts`\n";
            return Err(Box::new(text(StatusCode::FORBIDDEN, why)));
        }
        match headers.get(ORIGIN) {
            Some(origin) if !self.knows_origin(origin, host) => {
                let why = "pages of that origin may not use this server; add it to `http.cors_origins`\n";
                Err(Box::new(text(StatusCode::FORBIDDEN, why)))
            }
            _ => Ok(()),
        }
    }

    /// Who calls, by the token they bring.
    pub(crate) fn principal(&self, headers: &HeaderMap) -> Checked<Arc<Principal>> {
        let Some(expected) = &self.token else { return Ok(self.local.clone()) };
        let sent = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let sent = sent
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        // Digests are compared, so that the time it takes says nothing about the token.
        let right = sent.is_some_and(|(_, token)| Sha256::digest(token.trim()).as_slice() == expected);
        if right {
            return Ok(self.bearer.clone());
        }
        let mut reply =
            text(StatusCode::UNAUTHORIZED, "send `Authorization: Bearer` with the token of this server\n");
        reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        Err(Box::new(reply))
    }

    /// The answer to a preflight request.
    pub(crate) fn preflight(&self) -> Reply {
        let mut reply = empty(StatusCode::NO_CONTENT);
        let headers = reply.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE, OPTIONS"));
        // `*` does not cover `Authorization`, so it is named.
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED_HEADERS));
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        reply
    }

    /// Lets the page that asked read the answer.
    pub(crate) fn open_to(&self, origin: Option<&HeaderValue>, reply: &mut Reply) {
        let Some(origin) = origin else { return };
        let headers = reply.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate"),
        );
        headers.insert(VARY, HeaderValue::from_static("Origin"));
    }

    fn knows_origin(&self, origin: &HeaderValue, host: &str) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        let own = || origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) == Some(host);
        self.any_origin || self.origins.iter().any(|known| known == origin) || (self.hosts.is_some() && own())
    }
}

const ALLOWED_HEADERS: &str = "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, \
    MCP-Protocol-Version, Mcp-Method, Mcp-Name, *";

/// The name in a `Host` header, without its port.
fn host_name(host: &str) -> &str {
    match host.rfind(':') {
        Some(colon) if !host[colon..].contains(']') => &host[..colon],
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_no_part_of_a_name() {
        #[track_caller]
        fn check(host: &str, expect: &str) {
            assert_eq!(host_name(host), expect);
        }
        check("localhost:3000", "localhost");
        check("localhost", "localhost");
        check("[::1]:3000", "[::1]");
        check("[::1]", "[::1]");
        check("", "");
    }

    #[test]
    fn beyond_loopback_a_token_is_demanded() {
        let config = HttpConfig { bind: "0.0.0.0".into(), ..HttpConfig::default() };
        let refused = Guard::new(&config, config.address().unwrap()).err().unwrap().to_string();
        assert!(refused.contains("no token is set"), "{refused}");
        let short = HttpConfig { token: Some("short".into()), ..config.clone() };
        assert!(Guard::new(&short, short.address().unwrap()).is_err());
        let long = HttpConfig { token: Some("a-long-random-word".into()), ..config };
        assert!(Guard::new(&long, long.address().unwrap()).is_ok());
    }
}
