//! Servers that want to know who we are: signing in, staying in, being thrown out, and being lied to.

mod bond;
mod failing;
mod issuer;
mod living;
mod machine;
mod realm;
mod secret;
mod signing_in;

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_host::Clock;
use toolgate_testkit::builder;
use toolgate_upstream::{Authorizer, Holder, Login, MemoryTokens, OauthError, State, Upstream};

use crate::rig::{Rig, plan, surroundings, with};
use crate::web::Web;
use realm::Realm;

/// An upstream that is signed in to.
struct Guarded {
    realm: Realm,
    web: Web,
    rig: Rig,
    authorizer: Arc<Authorizer>,
    tokens: Arc<MemoryTokens>,
}

/// A rig whose upstream can be signed in to.
fn signed(table: Value, tokens: Arc<MemoryTokens>, clock: Clock) -> (Rig, Arc<Authorizer>) {
    let mut plan = plan(table);
    let surroundings = surroundings();
    let authorizer = plan.authorize(tokens, &surroundings, clock).unwrap();
    let upstream = Arc::new(Upstream::start(plan, surroundings, None));
    let hub = builder([upstream.clone()]).build().unwrap();
    (Rig { hub, upstream, place: Arc::new(tempfile::tempdir().unwrap()) }, authorizer)
}

/// What signs in by a table, in a process with these variables.
fn authorizer(
    table: Value,
    tokens: Arc<MemoryTokens>,
    clock: Clock,
    variables: &[(&str, &str)],
) -> Arc<Authorizer> {
    let mut surroundings = surroundings();
    surroundings.variables.extend(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    plan(table).authorize(tokens, &surroundings, clock).unwrap()
}

/// A table with more in `oauth`.
fn oauth(table: Value) -> Value {
    json!({"oauth": table})
}

impl Guarded {
    async fn start(behaviour: &str, more: Value) -> Self {
        let realm = Realm::start("").await;
        let web = realm.web(behaviour).await;
        Self::over(realm, web, more, Arc::default())
    }

    /// The same, over what is there already.
    fn over(realm: Realm, web: Web, more: Value, tokens: Arc<MemoryTokens>) -> Self {
        let (rig, authorizer) = signed(with(web.table(), more), tokens.clone(), realm.clock.clone());
        Self { realm, web, rig, authorizer, tokens }
    }

    /// What another process would sign in with.
    fn elsewhere(&self, more: Value) -> Arc<Authorizer> {
        let mut plan = plan(with(self.web.table(), more));
        plan.authorize(self.tokens.clone(), &surroundings(), self.realm.clock.clone()).unwrap()
    }

    async fn sign_in(&self) {
        sign_in(&self.authorizer, Holder::Shared).await.unwrap();
        self.is(State::Connected).await;
    }

    async fn is(&self, state: State) {
        self.rig.until(&format!("{state:?}"), |rig| rig.status().state == state).await;
    }

    async fn echo(&self) -> Value {
        let call = self.rig.call(toolgate_testkit::client_legacy(), "fake_echo", json!({"b": "x"}), None);
        toolgate_testkit::Expect::complete(call.await)
    }
}

/// A person with a browser, who agrees.
async fn browse(login: &Login) -> String {
    let browser = reqwest::Client::new();
    browser.get(login.url().clone()).send().await.unwrap().text().await.unwrap()
}

async fn sign_in(authorizer: &Arc<Authorizer>, holder: Holder) -> Result<(), OauthError> {
    let login = authorizer.begin(holder).await?;
    let (done, _page) = tokio::join!(login.wait(), browse(&login));
    done
}
