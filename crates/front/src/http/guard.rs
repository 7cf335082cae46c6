//! Who may speak to the server at all: Host, Origin and token, before anything is read.

use std::net::SocketAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, AUTHORIZATION, HOST, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use toolgate_core::{Authenticated, Authenticator, Pass, Principal, Refused};

use super::body::{Checked, Reply, empty, text};
use super::config::{BindError, HttpConfig};

/// Who may speak to the server at all.
pub(crate) struct Guard {
    /// Names by which the server may be addressed; `None` where any may be used, behind a token.
    hosts: Option<Vec<String>>,
    origins: Vec<String>,
    any_origin: bool,
    who: Arc<dyn Authenticator>,
    /// Whether everyone needs a token, whatever else is configured.
    strict: bool,
    /// The pass of whoever brings no token and needs none.
    local: ArcSwap<Pass>,
}

impl Guard {
    pub(super) fn new(
        config: &HttpConfig,
        address: SocketAddr,
        who: Arc<dyn Authenticator>,
    ) -> Result<Self, BindError> {
        let loopback = address.ip().is_loopback();
        if !loopback && !who.knows_anyone() {
            return Err(BindError::new(
                format!("`{}` can be reached from other machines, and no token is set", address.ip()),
                "make one with `toolgate token create`, set `http.token` or `http.oauth.issuer`, or listen on `127.0.0.1`",
            ));
        }
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(String::from).to_vec();
        hosts.extend(config.allowed_hosts.iter().cloned());
        hosts.extend(config.public_url.as_deref().and_then(public_host));
        let checked = loopback || !config.allowed_hosts.is_empty();
        Ok(Self {
            hosts: checked.then_some(hosts),
            origins: config
                .cors_origins
                .iter()
                .map(|origin| origin.trim_end_matches('/').to_owned())
                .collect(),
            any_origin: config.cors_origins.iter().any(|origin| origin == "*"),
            who,
            strict: !loopback || config.require_token,
            local: ArcSwap::from_pointee(Pass::new(Principal::local())),
        })
    }

    /// Takes over from another guard: whoever needed no token, and needs one now, is turned out.
    pub(super) fn take_over(&self, old: &Self) {
        self.local.store(old.local.load_full());
        self.turn_out();
    }

    /// Ends the pass of those without a token, where one is needed by now.
    pub(super) fn turn_out(&self) {
        if self.needs_token() {
            self.local.swap(Arc::new(Pass::new(Principal::local()))).end();
        }
    }

    fn needs_token(&self) -> bool {
        self.strict || self.who.demands()
    }

    pub(super) fn who(&self) -> &Arc<dyn Authenticator> {
        &self.who
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

    /// Who calls, by the token they bring to the endpoint, or to that of a profile.
    pub(crate) async fn pass(&self, headers: &HeaderMap, profile: Option<&str>) -> Result<Pass, Refused> {
        let Some(bearer) = bearer(headers)? else {
            return if self.needs_token() {
                Err(Refused::Missing)
            } else {
                Ok(Pass::clone(&self.local.load()))
            };
        };
        match self.who.authenticate(bearer, profile) {
            Authenticated::Now(found) => found,
            Authenticated::Later(found) => found.await,
        }
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

/// The bearer that a request brings. Whoever brings one, and be it wrong, wants to be known by it: they are never taken
/// for somebody without.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Refused> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = all.next() else { return Ok(None) };
    if all.next().is_some() {
        return Err(Refused::Ambiguous);
    }
    let parts = value.to_str().ok().and_then(|value| value.split_once(' '));
    let bearer =
        parts.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
    bearer.filter(|bearer| !bearer.is_empty()).map(Some).ok_or(Refused::Malformed)
}

/// The host by which clients reach us through a proxy.
fn public_host(url: &str) -> Option<String> {
    let authority = url.parse::<http::Uri>().ok()?.into_parts().authority?;
    Some(host_name(authority.as_str()).to_owned())
}

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
    fn the_host_of_the_public_address_is_known() {
        #[track_caller]
        fn check(url: &str, expect: Option<&str>) {
            assert_eq!(public_host(url).as_deref(), expect, "{url}");
        }
        check("https://tools.example.com", Some("tools.example.com"));
        check("https://tools.example.com:8443/", Some("tools.example.com"));
        check("http://[::1]:3000", Some("[::1]"));
        check("/mcp", None);
    }

    #[test]
    fn one_bearer_is_read_and_anything_else_is_refused() {
        #[track_caller]
        fn check(values: &[&str], expect: Result<Option<&str>, Refused>) {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
            assert_eq!(bearer(&headers), expect, "{values:?}");
        }
        check(&[], Ok(None));
        check(&["Bearer abc"], Ok(Some("abc")));
        check(&["bearer   abc "], Ok(Some("abc")));
        check(&["Bearer abc def"], Ok(Some("abc def")));
        check(&["Bearer abc", "Bearer abc"], Err(Refused::Ambiguous));
        for wrong in ["", "Bearer", "Bearer ", "abc", "Basic abc", "Bearerabc", "Bearer \u{e4}"] {
            check(&[wrong], Err(Refused::Malformed));
        }
    }
}
