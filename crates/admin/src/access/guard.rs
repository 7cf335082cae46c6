//! By which name, from which page and over which way a request comes, before anything else is looked at.

use http::header::{HOST, HeaderName, ORIGIN};
use http::{HeaderMap, Method, StatusCode};

use crate::body::Request;
use crate::config::{AdminConfig, Reach};
use crate::problem::Problem;

/// What browsers say of where a request comes from.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Names of this machine, for this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// By which names the page may be reached, and how safely.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    hosts: Vec<String>,
    /// The name by which it is reached over TLS.
    secure: Option<String>,
    plain_http: bool,
}

/// How a request came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Way {
    /// The `Host` it named.
    pub(crate) host: String,
    /// Whether that is reached over TLS.
    pub(crate) secure: bool,
}

impl Guard {
    pub(crate) fn new(config: &AdminConfig, reach: &Reach) -> Self {
        let public = reach.public_url.as_deref().and_then(split);
        let hosts = reach.hosts.iter().cloned().chain(public.iter().map(|(_, host)| host.clone()));
        let secure = public.as_ref().filter(|(tls, _)| *tls).map(|(_, host)| host.clone());
        Self { hosts: hosts.collect(), secure, plain_http: config.plain_http }
    }

    /// How a request came in; refused where that is by a strange name, from a strange page, or in the clear.
    pub(crate) fn admit(&self, request: &Request) -> Result<Way, Problem> {
        let headers = &request.headers;
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
        let is = |known: &str| known.eq_ignore_ascii_case(name(host));
        let local = LOOPBACK.into_iter().any(is);
        if hosts.next().is_some() || !(local || self.hosts.iter().any(|known| is(known))) {
            let detail = "this server is not known by that name";
            return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "host", detail)
                .hint("add it to `http.allowed_hosts`, or set `http.public_url`"));
        }
        let secure = self.secure.as_deref().is_some_and(is);
        let near = local && request.peer.ip().to_canonical().is_loopback();
        if !(secure || near || self.plain_http) {
            return Err(Problem::forbidden("tls", "the page is not used over the network without TLS").hint(
                "put a proxy with TLS in front and set `http.public_url`, or set `admin.plain_http = true`",
            ));
        }
        let way = Way { host: host.to_owned(), secure };
        own_page(request, &way)?;
        Ok(way)
    }
}

/// A request of another page is refused, whatever it asks for. A browser says where it comes from; a program need not.
fn own_page(request: &Request, way: &Way) -> Result<(), Problem> {
    let headers = &request.headers;
    let foreign = || {
        Problem::forbidden("origin", "pages of other origins may not use this").hint("open `/admin` itself")
    };
    let mut origins = headers.get_all(ORIGIN).iter();
    if let Some(origin) = origins.next() {
        let by = |scheme: &str| origin.to_str().ok().and_then(|origin| origin.strip_prefix(scheme));
        // Where it may be reached in the clear, a proxy may all the same speak TLS.
        let own = by("https://").or_else(|| by("http://").filter(|_| !way.secure));
        if origins.next().is_some() || own.is_none_or(|own| !own.eq_ignore_ascii_case(&way.host)) {
            return Err(foreign());
        }
    }
    match headers.get(FETCH_SITE).map(|site| site.as_bytes()) {
        // `none`: someone typed the address, or opened a link from outside a browser.
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) if request.method == Method::GET && is_navigation(headers) => Ok(()),
        Some(_) => Err(foreign()),
    }
}

/// Whether someone follows a link to the page itself: it may stand anywhere, and what it opens does nothing by itself.
fn is_navigation(headers: &HeaderMap) -> bool {
    let says = |name: &'static str, what: &[u8]| {
        headers.get(HeaderName::from_static(name)).is_some_and(|value| value.as_bytes() == what)
    };
    says("sec-fetch-mode", b"navigate") && says("sec-fetch-dest", b"document")
}

/// Whether an address is by TLS, and its host without a port.
fn split(url: &str) -> Option<(bool, String)> {
    let uri = url.parse::<http::Uri>().ok()?;
    Some((uri.scheme_str()? == "https", name(uri.authority()?.as_str()).to_owned()))
}

/// The name in a `Host` header, without its port.
fn name(host: &str) -> &str {
    match host.rfind(':') {
        Some(colon) if !host[colon..].contains(']') => &host[..colon],
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderValue;

    use super::*;

    const NEAR: &str = "127.0.0.1:5000";
    const FAR: &str = "192.0.2.7:5000";

    fn request(method: Method, peer: &str, headers: &[(&'static str, &str)]) -> Request {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        let (path, query) = ("/admin".into(), String::new());
        Request { method, path, query, headers: all, body: Bytes::new(), peer: peer.parse().unwrap() }
    }

    fn guard(plain_http: bool) -> Guard {
        let config = AdminConfig { plain_http, ..AdminConfig::default() };
        let reach =
            Reach { hosts: vec!["box.lan".into()], public_url: Some("https://tools.example:8443/".into()) };
        Guard::new(&config, &reach)
    }

    #[test]
    fn a_request_comes_by_a_known_name_and_over_the_network_by_tls() {
        #[track_caller]
        fn check(host: &str, peer: &str, plain: bool, expect: Result<bool, u16>) {
            let found = guard(plain).admit(&request(Method::GET, peer, &[("host", host)]));
            let found = found.map(|way| way.secure).map_err(|problem| problem.status().as_u16());
            assert_eq!(found, expect, "{host} {peer} {plain}");
        }
        check("localhost:3000", NEAR, false, Ok(false));
        check("LOCALHOST", NEAR, false, Ok(false));
        check("[::1]:3000", "[::1]:5000", false, Ok(false));
        check("127.0.0.1", "[::ffff:127.0.0.1]:5000", false, Ok(false));
        check("localhost:3000", FAR, false, Err(403));
        check("localhost:3000", FAR, true, Ok(false));
        check("box.lan:3000", NEAR, false, Err(403));
        check("box.lan:3000", FAR, true, Ok(false));
        check("tools.example:8443", FAR, false, Ok(true));
        check("Tools.Example", NEAR, false, Ok(true));
        check("evil.example", NEAR, true, Err(421));
        check("localhost.evil.example", NEAR, true, Err(421));
        check("", NEAR, true, Err(421));
        let twice = request(Method::GET, NEAR, &[("host", "localhost"), ("host", "evil.example")]);
        assert!(guard(false).admit(&twice).is_err());
    }

    #[test]
    fn only_the_page_itself_asks() {
        #[track_caller]
        fn check(method: &Method, headers: &[(&'static str, &str)], expect: bool) {
            let headers = [&[("host", "localhost:3000")], headers].concat();
            let found = guard(false).admit(&request(method.clone(), NEAR, &headers));
            assert_eq!(found.is_ok(), expect, "{method} {headers:?}");
        }
        let (get, post) = (Method::GET, Method::POST);
        check(&post, &[], true);
        check(&post, &[("origin", "http://localhost:3000")], true);
        check(&post, &[("origin", "http://localhost:3001")], false);
        check(&post, &[("origin", "https://evil.example")], false);
        check(&post, &[("origin", "null")], false);
        check(&get, &[("origin", "http://localhost.evil.example")], false);
        check(&post, &[("origin", "http://localhost:3000"), ("origin", "http://evil.example")], false);
        check(&get, &[("sec-fetch-site", "same-origin")], true);
        check(&get, &[("sec-fetch-site", "none")], true);
        check(&get, &[("sec-fetch-site", "cross-site")], false);
        check(&get, &[("sec-fetch-site", "same-site")], false);
        let link = [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        check(&get, &link, true);
        check(&post, &link, false);
    }

    #[test]
    fn a_page_behind_tls_has_an_origin_with_tls() {
        let guard = guard(true);
        let ask = |host: &str, origin: &str| {
            guard.admit(&request(Method::POST, NEAR, &[("host", host), ("origin", origin)])).is_ok()
        };
        assert!(ask("tools.example:8443", "https://tools.example:8443"));
        assert!(!ask("tools.example:8443", "http://tools.example:8443"));
        assert!(ask("box.lan", "http://box.lan") && ask("box.lan", "https://box.lan"));
    }
}
