//! The cookie of a login.

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

/// The cookie of a login, as the address calls for it.
pub(crate) struct Cookie {
    name: String,
    attributes: &'static str,
}

impl Cookie {
    /// For a page that is reached by this `Host`; `secure` where that is by TLS.
    pub(crate) fn of(host: &str, secure: bool) -> Self {
        if secure {
            // Browsers take this name only from the very host, and only by TLS.
            let name = "__Host-toolgate".to_owned();
            return Self { name, attributes: "; Path=/; Secure; HttpOnly; SameSite=Strict" };
        }
        // Cookies do not know ports, and several may run on one machine.
        let port = host.rsplit_once(':').map(|(_, port)| port).filter(|port| is_port(port)).unwrap_or("80");
        Self { name: format!("toolgate-{port}"), attributes: "; Path=/admin; HttpOnly; SameSite=Strict" }
    }

    /// What it holds; nothing where it is there twice, or is nothing of ours.
    pub(crate) fn read<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut ours = pairs.filter(|(name, _)| *name == self.name).map(|(_, value)| value);
        let found = ours.next()?;
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (ours.next().is_none() && !found.is_empty() && found.bytes().all(fits)).then_some(found)
    }

    /// The header that sets it, for as long as the browser runs.
    pub(crate) fn set(&self, text: &str) -> Option<HeaderValue> {
        HeaderValue::from_str(&format!("{}={text}{}", self.name, self.attributes)).ok()
    }

    /// The header that takes it away.
    pub(crate) fn clear(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&format!("{}={}; Max-Age=0", self.name, self.attributes)).ok()
    }
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_as_strict_as_its_address_lets_it_be() {
        #[track_caller]
        fn check(host: &str, secure: bool, expect: &str) {
            assert_eq!(Cookie::of(host, secure).set("abc").unwrap(), expect);
        }
        check("localhost:3000", false, "toolgate-3000=abc; Path=/admin; HttpOnly; SameSite=Strict");
        check("localhost", false, "toolgate-80=abc; Path=/admin; HttpOnly; SameSite=Strict");
        check("[::1]", false, "toolgate-80=abc; Path=/admin; HttpOnly; SameSite=Strict");
        check("[::1]:7", false, "toolgate-7=abc; Path=/admin; HttpOnly; SameSite=Strict");
        check("x.example", true, "__Host-toolgate=abc; Path=/; Secure; HttpOnly; SameSite=Strict");
        let cleared = Cookie::of("localhost:3000", false).clear().unwrap();
        assert_eq!(cleared, "toolgate-3000=; Path=/admin; HttpOnly; SameSite=Strict; Max-Age=0");
    }

    #[test]
    fn one_cookie_is_read_and_anything_else_is_none() {
        #[track_caller]
        fn check(values: &[&str], expect: Option<&str>) {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(COOKIE, HeaderValue::from_str(value).unwrap());
            }
            assert_eq!(Cookie::of("localhost:3000", false).read(&headers), expect, "{values:?}");
        }
        check(&[], None);
        check(&["toolgate-3000=abc"], Some("abc"));
        check(&["a=b; toolgate-3000=abc;c"], Some("abc"));
        check(&["a=b", "toolgate-3000=a_-9"], Some("a_-9"));
        check(&["toolgate-3000=a; toolgate-3000=b"], None);
        check(&["toolgate-3000=a", "toolgate-3000=b"], None);
        check(&["toolgate-3000="], None);
        check(&["toolgate-3000=\"abc\""], None);
        check(&["toolgate-3001=abc", "nonsense"], None);
    }
}
