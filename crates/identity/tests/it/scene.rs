//! A server with tools behind it, tokens in a store in memory, and ways to ask it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::{Hub, Outcome};
use toolgate_front::http::{Access, HttpConfig, Server};
use toolgate_host::{Clock, Secret, Tasks};
use toolgate_identity::{Identity, IdentityConfig, NewToken, TokenInfo, Tokens};
use toolgate_testkit::{FakeSource, MemoryStore, builder, text};

use crate::web::{Ask, Reply};

/// When the clocks of these tests begin, in milliseconds since 1970.
pub(crate) const NOON: u64 = 1_900_000_000_000;

/// The token of the configuration, where there is one.
pub(crate) const SINGLE: &str = "a-long-random-word-1234";

/// A running server.
pub(crate) struct Scene {
    pub(crate) address: SocketAddr,
    pub(crate) clock: Clock,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) tokens: Tokens,
    pub(crate) identity: Identity,
    pub(crate) access: Access,
    pub(crate) tasks: Tasks,
    pub(crate) hub: Hub,
}

impl Scene {
    /// A server on a clock that is moved by hand.
    pub(crate) async fn start(config: HttpConfig) -> Self {
        Self::on(Clock::manual(NOON), config).await
    }

    pub(crate) async fn on(clock: Clock, config: HttpConfig) -> Self {
        let tasks = Tasks::new();
        let store = Arc::new(MemoryStore::on(clock.clone()));
        let tokens = Tokens::new(store.clone(), clock.clone());
        let wanted = identity_config(&config);
        let identity = Identity::start(Some(tokens.clone()), &wanted, clock.clone(), &tasks).await.unwrap();
        let source = FakeSource::new("fake")
            .tool("whoami", |permitted, _| {
                let name = permitted.principal().id.to_string();
                async move { Ok(Outcome::Complete(text(&name))) }
            })
            .tool("wait", |_, _| std::future::pending())
            .tool("work", |_, run| async move {
                run.detach().await?;
                std::future::pending().await
            });
        let hub = builder([Arc::new(source)]).profile("lean").build().unwrap();
        let config = HttpConfig { port: 0, ..config };
        let server = Server::bind(hub.clone(), config, Arc::new(identity.clone())).await.unwrap();
        let (address, access) = (server.address(), server.access());
        tasks.spawn(server.serve(tasks.stopping()));
        Self { address, clock, store, tokens, identity, access, tasks, hub }
    }

    /// Brings another configuration into force.
    pub(crate) fn configure(&self, config: &HttpConfig) {
        self.identity.set_config(&identity_config(config)).unwrap();
        self.access.set(config).unwrap();
    }

    pub(crate) fn get(&self, path: &str) -> Ask {
        Ask::new(self.address, "GET", path)
    }

    pub(crate) fn post(&self, body: &Value) -> Ask {
        Ask::new(self.address, "POST", "/mcp").body(body)
    }

    /// A call of the tool that tells who called it.
    pub(crate) fn whoami(&self) -> Ask {
        self.post(&call("whoami"))
    }

    /// Begins a session with a token; tells its id.
    pub(crate) async fn begin_session(&self, token: &str) -> String {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let reply = self.post(&hello).bearer(token).send().await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.header("mcp-session-id").unwrap().to_owned()
    }

    /// A token for a principal.
    pub(crate) async fn token(&self, principal: &str) -> (Secret, TokenInfo) {
        self.token_for(principal, None).await
    }

    pub(crate) async fn token_for(
        &self,
        principal: &str,
        expires_in: Option<Duration>,
    ) -> (Secret, TokenInfo) {
        let (principal, roles) = (principal.parse().unwrap(), vec!["reader".parse().unwrap()]);
        let new =
            NewToken { principal, roles, expires_in, note: "a test".into(), created_by: "local".into() };
        self.tokens.create(new).await.unwrap()
    }
}

fn identity_config(http: &HttpConfig) -> IdentityConfig {
    let token = http.token.clone().map(Secret::new);
    IdentityConfig { token, public_url: http.public_url.clone(), oauth: http.oauth.clone() }
}

pub(crate) fn call(tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": {}}})
}

/// Who called, by what the tool answered.
#[track_caller]
pub(crate) fn caller(reply: &Reply) -> String {
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

/// Waits until something is so.
pub(crate) async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let all = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(crate::web::PATIENCE, all).await.unwrap_or_else(|_| panic!("never: {what}"));
}
