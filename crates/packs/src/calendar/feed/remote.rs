//! A feed that another server has.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use http::header::{ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use toolgate_core::Kind;
use toolgate_host::Secret;
use toolgate_host::outbound::{Beside, FetchError, FetchLimits, Fetcher, Opened, Reach, is_allowed};
use url::{Url, form_urlencoded};

use super::{Answer, Mark, Trouble};
use crate::Unready;

/// How many redirects are followed.
const REDIRECTS: usize = 5;

/// How long a text has to be to be a secret, and how long the path of an address.
const LEAST_SECRET: usize = 8;
const LEAST_PATH: usize = 24;

const ACCEPT: &str = "text/calendar, text/plain;q=0.5, */*;q=0.1";

/// A feed at an address that a person configured. Its own host may be anywhere; where a redirect leads has to be public.
#[derive(Debug)]
pub(crate) struct Remote {
    url: Secret,
    credentials: Option<HeaderValue>,
    fetcher: Fetcher,
}

impl Remote {
    /// A feed at an address; `key` is where that is configured.
    pub(crate) fn new(key: &str, url: &Secret, time: Duration, bytes: usize) -> Result<Self, Unready> {
        let written = with_https(url.expose());
        let Some(mut url) = Url::parse(&written).ok().filter(|_| is_allowed(&written)) else {
            let hint = "give an address with `https` or `webcal`; `http` is only for this machine";
            return Err(Unready::wrong(key, "is no address that a secret may be sent to", hint));
        };
        let credentials = credentials(&url);
        // An address with a host can have a user, so it can also have none.
        let bare = url.set_username("").and_then(|()| url.set_password(None));
        let host = url.host_str().and_then(|host| host.parse().ok());
        let (Some(host), Ok(())) = (host, bare) else {
            return Err(Unready::wrong(key, "has no host", "give an address with `https`"));
        };
        let reach = Reach { allow: vec![host], ..Reach::default() };
        let fetcher = Fetcher::new(reach, FetchLimits { time, bytes, redirects: REDIRECTS });
        Ok(Self { url: Secret::new(url.into()), credentials, fetcher })
    }

    pub(super) async fn ask(&self, known: &Mark) -> Result<Answer, Trouble> {
        let mut beside = Beside { credentials: self.credentials.clone(), secret: true, ..Beside::default() };
        for (name, value) in [(IF_NONE_MATCH, &known.entity), (IF_MODIFIED_SINCE, &known.modified)] {
            if let Some(value) = value {
                beside.headers.insert(name, value.clone());
            }
        }
        let opened = self.fetcher.open_with(self.url.expose(), ACCEPT, &beside).await;
        let opened = opened.map_err(|error| trouble(&error))?;
        if opened.status == 304 && *known != Mark::default() {
            return Ok(Answer::Same);
        }
        if opened.status != 200 {
            return Err(refused(opened.status));
        }
        let mark = mark(&opened);
        let body = opened.read().await.map_err(|error| trouble(&error))?;
        Ok(Answer::New { body, mark })
    }
}

/// An address as it is asked: `webcal` is only a word for programs that subscribe to calendars.
fn with_https(written: &str) -> String {
    let written = written.trim();
    let rest = ["webcal://", "webcals://"].iter().find_map(|scheme| {
        let (start, rest) = written.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    rest.map_or_else(|| written.to_owned(), |rest| format!("https://{rest}"))
}

/// All that tells where a feed is: the address as it is written and as it is asked, its path, and the password in it.
pub fn address_forms(written: &Secret) -> Vec<Secret> {
    let asked = with_https(written.expose());
    let mut forms = vec![written.expose().trim().to_owned(), asked.clone()];
    if let Ok(mut url) = Url::parse(&asked) {
        forms.extend(url.password().map(plain));
        // One that has no host has no user either.
        if url.set_username("").is_ok() && url.set_password(None).is_ok() {
            forms.push(url.to_string());
        }
        // A short path is one that others have, too.
        let path = &url[url::Position::BeforePath..];
        forms.extend(Some(path.to_owned()).filter(|path| path.len() >= LEAST_PATH));
    }
    // What is shorter is in any text, and opens nothing.
    forms.retain(|form| form.len() >= LEAST_SECRET);
    forms.sort();
    forms.dedup();
    forms.into_iter().map(Secret::new).collect()
}

fn mark(opened: &Opened) -> Mark {
    let header = |name| opened.headers.get(name).cloned();
    Mark { entity: header(ETAG), modified: header(LAST_MODIFIED), file: None }
}

/// The user and the password in an address, as a header.
fn credentials(url: &Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let pair = format!("{}:{}", plain(url.username()), plain(url.password().unwrap_or_default()));
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// A part of an address with its escapes undone.
fn plain(text: &str) -> String {
    // In this form a plus would be a blank.
    let pair = format!("x={}", text.replace('+', "%2B").replace('&', "%26"));
    form_urlencoded::parse(pair.as_bytes()).next().map(|(_, text)| text.into_owned()).unwrap_or_default()
}

/// What a failed fetch means, without the address that stands in it.
fn trouble(error: &FetchError) -> Trouble {
    let (kind, message) = match error {
        FetchError::Address { .. } | FetchError::Credentials { .. } => {
            (Kind::ConnectionFailed, "is redirected to an address that cannot be asked".to_owned())
        }
        FetchError::InTheClear { .. } => {
            (Kind::Denied, "is redirected to an address without `https`".to_owned())
        }
        FetchError::Denied { .. } | FetchError::TooNear { .. } => {
            (Kind::Denied, "leads to a host that is at no public address".to_owned())
        }
        FetchError::Redirects { most, .. } => {
            (Kind::ConnectionFailed, format!("is redirected more than {most} times"))
        }
        FetchError::Late { time, .. } => {
            (Kind::Timeout, format!("did not come in whole within {} s", time.as_secs_f32()))
        }
        FetchError::Unreachable { .. } => {
            (Kind::ConnectionFailed, "could not be reached, or broke off".to_owned())
        }
        FetchError::TooLarge { most, .. } => (Kind::InvalidInput, format!("has more than {most} bytes")),
        FetchError::Coding { .. } => {
            (Kind::ConnectionFailed, "comes in a coding that is not understood".to_owned())
        }
    };
    Trouble { kind, message }
}

fn refused(status: u16) -> Trouble {
    let (kind, why) = match status {
        401 | 403 | 407 => (Kind::Unauthorized, "its address or password is no longer good"),
        404 | 410 => (Kind::NotFound, "its address is no longer good"),
        429 => (Kind::RateLimited, "it is asked too often"),
        500.. => (Kind::ConnectionFailed, "its server has a problem of its own"),
        _ => (Kind::ConnectionFailed, "that is no feed"),
    };
    Trouble::new(kind, format!("answered {status}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expect: Option<(&str, Option<&str>)>) {
        let secret = Secret::new(url.into());
        let made = Remote::new("calendar.feeds.x.url", &secret, Duration::from_secs(1), 1);
        match (made, expect) {
            (Ok(remote), Some((url, credentials))) => {
                let told = remote.credentials.as_ref().map(|value| value.to_str().unwrap());
                assert_eq!((remote.url.expose(), told), (url, credentials));
                assert!(!format!("{remote:?}").contains("sesame"), "{remote:?}");
            }
            (Err(error), None) => assert!(!error.to_string().contains("sesame"), "{error}"),
            (made, _) => panic!("{url}: {made:?}"),
        }
    }

    #[test]
    fn an_address_is_a_secret_in_all_its_forms() {
        #[track_caller]
        fn check(url: &str, expect: &[&str]) {
            let forms = address_forms(&Secret::new(url.into()));
            assert_eq!(forms.iter().map(Secret::expose).collect::<Vec<_>>(), expect);
        }
        check(
            "webcal://h.example/private-123456789/x.ics",
            &[
                "/private-123456789/x.ics",
                "https://h.example/private-123456789/x.ics",
                "webcal://h.example/private-123456789/x.ics",
            ],
        );
        check(
            "https://an:pass%20word@h.example/c",
            &["https://an:pass%20word@h.example/c", "https://h.example/c", "pass word"],
        );
        check("https://h.example/feed.ics", &["https://h.example/feed.ics"]);
        check("nonsense", &["nonsense"]);
    }

    #[test]
    fn an_address_is_taken_where_a_secret_may_be_sent() {
        check("https://h.example/sesame.ics", Some(("https://h.example/sesame.ics", None)));
        check(" WebCal://h.example/sesame\n", Some(("https://h.example/sesame", None)));
        check("http://127.0.0.1:8080/x", Some(("http://127.0.0.1:8080/x", None)));
        check("https://[::1]/x", Some(("https://[::1]/x", None)));
        let basic = Some("Basic YW46YStiJmM=");
        check("https://an:a+b%26c@h.example/x", Some(("https://h.example/x", basic)));
        for bad in ["", "sesame", "http://h.example/sesame", "file:///sesame", "webcal:sesame", "https://"] {
            check(bad, None);
        }
    }
}
