//! What tests play on: the API over a hub, a store and a desk, and someone who asks.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate_admin::{Accounts, Admin, AdminConfig, AdminParts, Body, Cost, NewLink, Reach, Request, Role};
use toolgate_core::{Approvals, Hub, HubBuilder, Outcome};
use toolgate_host::Clock;
use toolgate_testkit::{FakeSource, MemoryStore, builder, text};

use crate::books::Books;

pub(crate) const PASSWORD: &str = "correct horse battery";

/// The API over a hub, a store and a desk.
pub(crate) struct Stage {
    pub(crate) admin: Admin,
    pub(crate) hub: Hub,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) desk: Arc<Books>,
    pub(crate) clock: Clock,
}

/// Someone who is logged in.
#[derive(Debug, Clone)]
pub(crate) struct User {
    pub(crate) cookie: String,
    pub(crate) csrf: String,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(|hub| hub)
    }

    /// The same, over a hub that is built otherwise.
    pub(crate) fn with(build: impl FnOnce(HubBuilder) -> HubBuilder) -> Self {
        let clock = Clock::manual(1_800_000_000_000);
        let store = Arc::new(MemoryStore::on(clock.clone()));
        let source = FakeSource::new("desk")
            .tool("echo", |_, _| async { Ok(Outcome::Complete(text("it was called"))) });
        let hub = builder([Arc::new(source)]).approvals(Approvals::new(store.clone(), clock.clone()));
        let hub = build(hub.clock(clock.clone())).build().unwrap();
        let desk = Arc::new(Books::default());
        let parts = AdminParts {
            hub: hub.clone(),
            store: store.clone(),
            desk: desk.clone(),
            clock: clock.clone(),
            cost: Cost::LEAST,
        };
        let admin = Admin::new(parts, &AdminConfig::default(), &Reach::default());
        Self { admin, hub, store, desk, clock }
    }

    pub(crate) fn accounts(&self) -> Accounts {
        Accounts::new(self.store.clone(), self.clock.clone())
    }

    /// A request in the making.
    pub(crate) fn ask(&self, method: &str, path: &str) -> Ask<'_> {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost:3000"));
        let path = format!("/admin/api{path}");
        Ask { stage: self, method: method.parse().unwrap(), path, headers, body: Bytes::new() }
    }

    /// Someone new with this role.
    pub(crate) async fn user(&self, role: Role) -> User {
        let account = Some(format!("{role}{}", self.accounts().list().await.unwrap().len()));
        let new = NewLink { account, role, first: false, by: "a test".into() };
        let (link, _) = self.accounts().link(new).await.unwrap();
        let set_up = self.ask("POST", "/setup").csrf("0");
        set_up.json(&json!({"link": link.expose(), "password": PASSWORD})).send().await.user()
    }

    /// Someone who may change everything.
    pub(crate) async fn admin(&self) -> User {
        self.user(Role::Admin).await
    }

    /// What the API says of this, to someone who may see it.
    pub(crate) async fn get(&self, user: &User, path: &str) -> Value {
        let reply = self.ask("GET", path).by(user).send().await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    }

    /// Has something done.
    pub(crate) async fn post(&self, user: &User, path: &str, body: &Value) -> Reply {
        self.ask("POST", path).by(user).json(body).send().await
    }
}

/// A request in the making.
pub(crate) struct Ask<'a> {
    stage: &'a Stage,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Ask<'_> {
    /// As someone who is logged in.
    pub(crate) fn by(self, user: &User) -> Self {
        self.header("cookie", &user.cookie).csrf(&user.csrf)
    }

    pub(crate) fn csrf(self, token: &str) -> Self {
        self.header("x-csrf-token", token)
    }

    pub(crate) fn json(mut self, body: &Value) -> Self {
        self.body = body.to_string().into();
        self.header(CONTENT_TYPE.as_str(), "application/json")
    }

    pub(crate) fn body(mut self, content_type: &str, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self.header(CONTENT_TYPE.as_str(), content_type)
    }

    /// Sets a header, in place of one that is there.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(HeaderName::try_from(name).unwrap(), HeaderValue::from_str(value).unwrap());
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    /// A path that is not of the API.
    pub(crate) fn at(mut self, path: &str) -> Self {
        self.path = path.to_owned();
        self
    }

    pub(crate) async fn open(self) -> (Reply, Option<mpsc::Receiver<Bytes>>) {
        let (path, query) = self.path.split_once('?').unwrap_or((&self.path, ""));
        let request = Request {
            method: self.method,
            path: path.to_owned(),
            query: query.to_owned(),
            headers: self.headers,
            body: self.body,
            peer: "127.0.0.1:50000".parse().unwrap(),
        };
        let (parts, body) = self.stage.admin.answer(request).await.into_parts();
        let (body, stream) = match body {
            Body::Whole(body) => (body, None),
            Body::Stream(stream) => (Bytes::new(), Some(stream)),
        };
        (Reply { status: parts.status.as_u16(), headers: parts.headers, body }, stream)
    }

    pub(crate) async fn send(self) -> Reply {
        let (mut reply, stream) = self.open().await;
        let mut whole = reply.body.to_vec();
        if let Some(mut stream) = stream {
            while let Some(piece) = stream.recv().await {
                whole.extend_from_slice(&piece);
            }
        }
        reply.body = whole.into();
        reply
    }
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The word of the problem that this is.
    #[track_caller]
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        let kind = problem["type"].as_str().unwrap();
        kind.strip_prefix("urn:toolgate:problem:").unwrap().to_owned()
    }

    /// Whoever is logged in by this.
    #[track_caller]
    pub(crate) fn user(&self) -> User {
        assert_eq!(self.status, 200, "{}", self.text());
        let set = self.headers.get(SET_COOKIE).unwrap().to_str().unwrap();
        let csrf = self.json()["csrf"].as_str().unwrap().to_owned();
        User { cookie: set.split(';').next().unwrap().to_owned(), csrf }
    }
}
