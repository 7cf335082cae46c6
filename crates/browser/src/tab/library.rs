//! Calls of the library within a page.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_core::{Error, Kind};

use super::{Halt, Spot, Tab};
use crate::library;

/// How often a page that is being left is tried again.
const TRIES: usize = 5;

/// A page that did not answer for so long would not answer at all: something runs in it that does not end.
const STUCK: Duration = Duration::from_secs(10);

/// Waits only until a page had a moment to itself; one that is busy may stay so.
pub(crate) const SETTLE: &str = "settle";

impl Tab {
    /// Calls a function of the library in a frame. What keeps the page from answering all the time is stopped, so that
    /// the next call is answered.
    pub(crate) async fn run(
        &self,
        spot: &Spot,
        (name, args): (&'static str, Value),
        limit: Duration,
    ) -> Result<Value, Halt> {
        let done = self.run_somewhere(spot, (name, args), limit).await;
        let is_late = matches!(&done, Err(Halt::Failed(error)) if error.kind() == Kind::Timeout);
        if !is_late || name == SETTLE || limit < STUCK {
            return done;
        }
        self.tell_in(&spot.session, "Runtime.terminateExecution", json!({}));
        let words = format!("the page did not answer within {} ms", limit.as_millis());
        Err(Error::new(Kind::Timeout, words)
            .hint("what kept it busy was stopped: try again, or navigate elsewhere")
            .into())
    }

    /// The same. A page that is left meanwhile is tried again where it leads.
    async fn run_somewhere(
        &self,
        spot: &Spot,
        (name, args): (&'static str, Value),
        limit: Duration,
    ) -> Result<Value, Halt> {
        let end = Instant::now() + limit;
        let mut spot = spot.clone();
        for _ in 1..TRIES {
            match self.run_once(&spot, (name, &args), end).await {
                Err(Halt::Left) if spot.prefix.is_empty() && Instant::now() < end => {
                    self.state().worlds.remove(&spot.frame);
                    spot = self.main_spot();
                }
                other => return other,
            }
        }
        self.run_once(&spot, (name, &args), end).await
    }

    async fn run_once(&self, spot: &Spot, (name, args): (&str, &Value), end: Instant) -> Result<Value, Halt> {
        let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(100));
        let world = self.world(spot, left).await?;
        let call = json!({
            "executionContextId": world,
            "functionDeclaration": library::CALL,
            "arguments": [{"value": name}, {"value": args}],
            "returnByValue": true,
            "awaitPromise": true,
        });
        let told: Value = self.call_in(&spot.session, ("Runtime.callFunctionOn", call), left).await?;
        if told["exceptionDetails"].is_object() {
            let why = told["exceptionDetails"]["exception"]["description"].as_str().unwrap_or_default();
            return Err(unreadable("the page could not be read").because(why.to_owned()).into());
        }
        let value = told["result"]["value"].clone();
        if let Some(last) = value["last"].as_u64() {
            let mut state = self.state();
            state.last_ref = state.last_ref.max(last);
        }
        Ok(value)
    }

    /// The world of the library in a frame.
    pub(super) async fn world(&self, spot: &Spot, limit: Duration) -> Result<i64, Halt> {
        let known = self.state().worlds.get(&spot.frame).cloned();
        if let Some((_, world)) = known.filter(|(session, _)| *session == spot.session) {
            return Ok(world);
        }
        let make = json!({"frameId": spot.frame, "worldName": "toolgate"});
        let made: Value = self.call_in(&spot.session, ("Page.createIsolatedWorld", make), limit).await?;
        let world = made["executionContextId"].as_i64().ok_or(Halt::Left)?;
        let source = library::source(&spot.prefix, self.state().last_ref);
        let put = json!({"expression": source, "contextId": world, "returnByValue": true});
        let done: Value = self.call_in(&spot.session, ("Runtime.evaluate", put), limit).await?;
        if done["result"]["value"] != true {
            let why = done["exceptionDetails"]["exception"]["description"].as_str().unwrap_or_default();
            return Err(unreadable("the page cannot be looked at").because(why.to_owned()).into());
        }
        self.state().worlds.insert(spot.frame.clone(), (spot.session.clone(), world));
        Ok(world)
    }

    /// An element as an object, for methods that want one.
    pub(crate) async fn object(&self, spot: &Spot, what: Value, limit: Duration) -> Result<String, Halt> {
        let world = self.world(spot, limit).await?;
        let call = json!({
            "executionContextId": world,
            "functionDeclaration": library::ELEMENT,
            "arguments": [{"value": what}],
        });
        let told: Value = self.call_in(&spot.session, ("Runtime.callFunctionOn", call), limit).await?;
        told["result"]["objectId"].as_str().map(Into::into).ok_or(Halt::Left)
    }
}

/// A page that is made so that we cannot look at it is no fault of the caller's, nor of ours.
fn unreadable(words: &'static str) -> Error {
    Error::new(Kind::ConnectionFailed, words).hint("`take_screenshot` shows it as people see it")
}
