//! Requests to GitHub: its limits are honoured, and its refusals put in words.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use toolgate_core::{Error, Kind, Result, RunHandle};
use toolgate_host::Clock;
use url::Url;

use crate::service::{Lost, Patience, Reply, Service, limited};

/// What is told while GitHub wants no requests.
const FULL: &str = "GitHub takes no more requests for now";
/// How long it is left alone at most, whatever it says: its count begins anew every hour.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// GitHub's API.
#[derive(Debug)]
pub(super) struct Api {
    service: Service,
    clock: Clock,
    /// Until when GitHub wants no more requests, in milliseconds since 1970: in general, and for searches.
    barred: [AtomicU64; 2],
}

/// One request.
#[derive(Debug, Clone)]
pub(super) struct Ask<'a> {
    pub(super) path: &'a [&'a str],
    pub(super) query: Vec<(&'static str, String)>,
    /// What to post; without it something is only read.
    pub(super) post: Option<Value>,
}

/// What GitHub answered.
#[derive(Debug)]
pub(super) struct Got {
    pub(super) body: Value,
    /// Whether there is another page behind this one.
    pub(super) more: bool,
    /// How many more requests it takes for now.
    pub(super) left: Option<u64>,
}

impl Api {
    pub(super) fn new(service: Service, clock: Clock) -> Self {
        Self { service, clock, barred: Default::default() }
    }

    /// Asks GitHub, and again if it asks to wait for a while that is not too long.
    pub(super) async fn ask(&self, run: &RunHandle, ask: &Ask<'_>) -> Result<Got> {
        let barred = &self.barred[usize::from(ask.path.first() == Some(&"search"))];
        let mut patience = Patience::new(run);
        loop {
            self.check(barred)?;
            let reply = match &ask.post {
                Some(body) => self.service.post(self.address(ask), body).await,
                None => self.service.get(self.address(ask)).await,
            };
            let reply = reply.map_err(|lost| unanswered(lost, ask))?;
            let Some(delay) = self.delay(&reply) else {
                if reply.header("x-ratelimit-remaining") == Some("0") {
                    self.bar(barred, self.until_reset(&reply));
                }
                return self.read(reply, ask);
            };
            if !patience.wait(self.service.name(), delay).await {
                self.bar(barred, delay);
                return Err(limited(FULL.into(), delay));
            }
        }
    }

    fn address(&self, ask: &Ask<'_>) -> Url {
        let mut url = self.service.at(ask.path.iter().copied());
        if !ask.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&ask.query);
        }
        url
    }

    /// Whether GitHub has said that it wants no requests for now; asking all the same would make it longer.
    fn check(&self, barred: &AtomicU64) -> Result<()> {
        let left = barred.load(Ordering::Acquire).saturating_sub(self.clock.unix_ms());
        if left == 0 { Ok(()) } else { Err(limited(FULL.into(), Some(Duration::from_millis(left)))) }
    }

    fn bar(&self, barred: &AtomicU64, delay: Option<Duration>) {
        let delay =
            delay.map_or(0, |delay| u64::try_from(delay.min(LONGEST).as_millis()).unwrap_or(u64::MAX));
        barred.store(self.clock.unix_ms().saturating_add(delay), Ordering::Release);
    }

    /// Whether an answer asks to wait, and how long if it says so.
    fn delay(&self, reply: &Reply) -> Option<Option<Duration>> {
        if !matches!(reply.status, 403 | 429) {
            return None;
        }
        let used_up = reply.header("x-ratelimit-remaining") == Some("0");
        let said = reply.text("/message").unwrap_or_default().to_ascii_lowercase();
        let asks =
            reply.status == 429 || used_up || reply.retry_after().is_some() || said.contains("rate limit");
        asks.then(|| reply.retry_after().or_else(|| self.until_reset(reply).filter(|_| used_up)))
    }

    fn until_reset(&self, reply: &Reply) -> Option<Duration> {
        let reset: u64 = reply.header("x-ratelimit-reset")?.parse().ok()?;
        Some(Duration::from_millis(reset.saturating_mul(1000).saturating_sub(self.clock.unix_ms())))
    }

    fn read(&self, reply: Reply, ask: &Ask<'_>) -> Result<Got> {
        if !(200..300).contains(&reply.status) {
            return Err(self.refused(&reply, ask));
        }
        let more = reply.header("link").is_some_and(|link| link.contains("rel=\"next\""));
        let left = reply.header("x-ratelimit-remaining").and_then(|left| left.parse().ok());
        match reply.body {
            Some(body) => Ok(Got { body, more, left }),
            None => Err(self.strange(reply.status, ask)),
        }
    }

    /// An answer that is none of GitHub's.
    pub(super) fn strange(&self, status: u16, ask: &Ask<'_>) -> Error {
        doubtful(self.service.strange(status), ask)
    }

    fn refused(&self, reply: &Reply, ask: &Ask<'_>) -> Error {
        let said =
            reply.text("/message").map(|said| format!(": {}", self.service.words(said))).unwrap_or_default();
        match reply.status {
            401 => Error::new(Kind::Unauthorized, "GitHub does not accept the token")
                .hint("ask the person who runs Toolgate to store the token again"),
            403 => Error::new(Kind::Denied, format!("GitHub does not let the token do that{said}"))
                .hint("ask the person who runs Toolgate for a token with more permissions"),
            404 => Error::new(Kind::NotFound, "GitHub does not know it, or the token may not see it")
                .hint("check `owner`, `repo` and the number"),
            410 => Error::new(Kind::NotFound, format!("it is gone or switched off{said}")),
            301 | 302 | 307 | 308 => Error::new(Kind::NotFound, "the repository has another name by now")
                .hint("look up its present name, and use that"),
            400 | 422 => Error::new(
                Kind::InvalidInput,
                format!("GitHub does not take it{said}{}", self.details(reply)),
            ),
            status @ 500.. => {
                doubtful(Error::new(Kind::ConnectionFailed, format!("GitHub answered {status}")), ask)
            }
            status => self.strange(status, ask),
        }
    }

    /// Which fields are wrong, where GitHub says so.
    fn details(&self, reply: &Reply) -> String {
        let errors = reply.body.as_ref().and_then(|body| body.get("errors")?.as_array());
        let word = |error: &Value, key: &str| error.get(key).and_then(Value::as_str).map(str::to_owned);
        let told = errors.into_iter().flatten().take(5).map(|error| {
            let what = word(error, "message").or_else(|| word(error, "code")).unwrap_or_default();
            let field = word(error, "field").map(|field| format!("{field}: ")).unwrap_or_default();
            self.service.words(&format!("{field}{what}"))
        });
        let told: Vec<String> = told.filter(|told| !told.is_empty()).collect();
        if told.is_empty() { String::new() } else { format!(" ({})", told.join("; ")) }
    }
}

/// There is no answer; what was to be posted may have been posted all the same.
fn unanswered(lost: Lost, ask: &Ask<'_>) -> Error {
    if lost.error.kind() == Kind::Upstream && ask.post.is_none() {
        return lost.error.hint("ask for fewer at once with `per_page`");
    }
    if lost.arrived { doubtful(lost.error, ask) } else { lost.error }
}

/// The error of a request that may have had its effect; to send it again might do it twice.
fn doubtful(error: Error, ask: &Ask<'_>) -> Error {
    if ask.post.is_none() {
        return error;
    }
    let message = format!("it may have been created or not: {error}");
    Error::new(Kind::Upstream, message)
        .hint("look at GitHub whether it is there, before you try again")
        .because(error)
}
