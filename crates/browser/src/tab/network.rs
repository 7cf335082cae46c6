//! Requests of a page.

use std::collections::HashMap;
use std::time::Instant;

use serde_json::Value;

use crate::ring::Ring;
use crate::text::brief;

/// How many requests are kept.
const REQUESTS: usize = 500;

/// A request, and what came of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) id: String,
    pub(crate) session: String,
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) kind: String,
    pub(crate) status: Option<u64>,
    pub(crate) mime: String,
    pub(crate) bytes: Option<u64>,
    /// Why it failed.
    pub(crate) failed: String,
    pub(crate) sent: Vec<(String, String)>,
    pub(crate) received: Vec<(String, String)>,
    /// What was sent with it, where it is not too much.
    pub(crate) body: String,
    started: f64,
    /// How many milliseconds it took.
    pub(crate) took: Option<u64>,
}

/// The requests of a page.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) requests: Ring<Request>,
    /// What is under way, and who tells its end.
    open: HashMap<String, String>,
    /// Since when nothing is under way.
    quiet: Instant,
}

impl Default for Network {
    fn default() -> Self {
        Self { requests: Ring::new(REQUESTS), open: HashMap::new(), quiet: Instant::now() }
    }
}

impl Network {
    /// Since when nothing is under way; nothing if something is.
    pub(crate) fn quiet_since(&self) -> Option<Instant> {
        self.open.is_empty().then_some(self.quiet)
    }

    /// The addresses of requests that are under way.
    pub(crate) fn under_way(&self) -> Vec<String> {
        let open = self.requests.iter().filter(|(_, request)| self.open.contains_key(&request.id));
        open.map(|(_, request)| request.url.clone()).collect()
    }

    /// How the server of the page answered, if it did.
    pub(crate) fn document_status(&self) -> Option<u64> {
        let (_, request) = self.requests.iter().rev().find(|(_, request)| request.kind == "Document")?;
        request.status
    }

    /// The end of this request is told to somebody else: a worker has its own script.
    pub(super) fn taken_over(&mut self, url: &str) {
        let of = |(_, request): (u64, &Request)| (request.url == url).then(|| request.id.clone());
        let ids: Vec<String> = self.requests.iter().filter_map(of).collect();
        ids.iter().for_each(|id| self.ended(id));
    }

    /// Whoever would tell the end of these requests is gone.
    pub(super) fn session_gone(&mut self, session: &str) {
        self.keep(|_, of| of != session);
    }

    /// Another document is there, or none: only its own request is still of interest.
    pub(super) fn only(&mut self, document: Option<&str>) {
        self.keep(|id, _| Some(id) == document);
    }

    fn keep(&mut self, is_kept: impl Fn(&str, &str) -> bool) {
        let count = self.open.len();
        self.open.retain(|id, session| is_kept(id, session));
        if self.open.len() < count {
            self.quiet = Instant::now();
        }
    }

    pub(super) fn apply(&mut self, session: &str, method: &str, params: &Value) {
        let id = text(params, "requestId");
        match method {
            "Network.requestWillBeSent" => self.begun(session, id, params),
            "Network.responseReceived" => {
                let answer = &params["response"];
                self.update(&id, |request| {
                    request.status = answer["status"].as_u64();
                    request.mime = brief(&text(answer, "mimeType"), 100);
                    request.received = headers(&answer["headers"]);
                });
            }
            "Network.loadingFinished" => {
                let at = params["timestamp"].as_f64();
                self.update(&id, |request| {
                    request.bytes = params["encodedDataLength"].as_f64().map(|bytes| bytes.max(0.0) as u64);
                    request.took = at.map(|at| ((at - request.started) * 1000.0).max(0.0) as u64);
                });
                self.ended(&id);
            }
            "Network.loadingFailed" => {
                let blocked = params["blockedReason"].as_str();
                let why = blocked.or(params["errorText"].as_str()).unwrap_or("it failed");
                let why = brief(why, 300);
                self.update(&id, |request| request.failed = why);
                self.ended(&id);
            }
            "Network.webSocketCreated" => {
                let request = Request {
                    id,
                    session: session.to_owned(),
                    method: "GET".into(),
                    url: brief(&text(params, "url"), 4000),
                    kind: "WebSocket".into(),
                    ..Request::default()
                };
                self.requests.push(request);
            }
            "Network.webSocketHandshakeResponseReceived" => {
                let status = params["response"]["status"].as_u64();
                self.update(&id, |request| request.status = status);
            }
            "Network.webSocketFrameError" => {
                let why = brief(&text(params, "errorMessage"), 300);
                self.update(&id, |request| request.failed = why);
            }
            _ => {}
        }
    }

    fn begun(&mut self, session: &str, id: String, params: &Value) {
        // A redirect is told as the beginning of the next request, under the same id.
        let redirect = &params["redirectResponse"];
        if redirect.is_object() {
            self.update(&id, |request| {
                request.status = redirect["status"].as_u64();
                request.received = headers(&redirect["headers"]);
            });
        }
        let request = &params["request"];
        let url = text(request, "url");
        if url.starts_with("data:") || url.starts_with("blob:") {
            return;
        }
        let kind = text(params, "type");
        if kind != "EventSource" && kind != "Ping" {
            self.open.insert(id.clone(), session.to_owned());
        }
        self.requests.push(Request {
            id,
            session: session.to_owned(),
            method: brief(&text(request, "method"), 40),
            url: brief(&url, 4000),
            kind,
            sent: headers(&request["headers"]),
            body: brief(request["postData"].as_str().unwrap_or_default(), 4000),
            started: params["timestamp"].as_f64().unwrap_or_default(),
            ..Request::default()
        });
    }

    fn update(&mut self, id: &str, change: impl FnOnce(&mut Request)) {
        if let Some(request) = self.requests.latest_mut(|request| request.id == id) {
            change(request);
        }
    }

    fn ended(&mut self, id: &str) {
        if self.open.remove(id).is_some() {
            self.quiet = Instant::now();
        }
    }
}

/// Headers, those that let someone in hidden.
fn headers(value: &Value) -> Vec<(String, String)> {
    let named: HashMap<&str, &Value> =
        value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value)).collect();
    let mut all: Vec<(String, String)> = named
        .into_iter()
        .take(100)
        .map(|(name, value)| {
            let value = value.as_str().unwrap_or_default();
            (brief(name, 100), if is_secret(name) { "[hidden]".to_owned() } else { brief(value, 500) })
        })
        .collect();
    all.sort();
    all
}

fn is_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    toolgate_host::is_telling(name) || ["csrf", "session"].iter().any(|word| lower.contains(word))
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}
