//! The desk where a script's wishes are answered: only what its approval granted, under the caller's policy.

mod http;
mod tool;

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use toolgate_core::{Error, RunHandle};
use toolgate_wire::Raw;

use crate::pack::ScriptPack;
use crate::pool::{Answering, Over, Wall};
use crate::shelf::Script;
use crate::talk::Ask;

/// What the names of our own tools begin with: a script does not run scripts this way.
pub(crate) const OWN: &str = "script_";

/// How often a script may ask for anything at all, beside what is counted by itself.
const ASKS: u32 = 5000;

/// Answers what one run of a script asks for.
pub(crate) struct Desk<'a> {
    pub(crate) pack: &'a ScriptPack,
    pub(crate) script: &'a Script,
    pub(crate) run: &'a RunHandle,
    asks: AtomicU32,
    requests: AtomicU32,
    calls: AtomicU32,
}

/// An answer, or why there is none, in the words that the script gets.
type Answer = Result<Raw, String>;

impl<'a> Desk<'a> {
    pub(crate) fn new(pack: &'a ScriptPack, script: &'a Script, run: &'a RunHandle) -> Self {
        let (asks, requests, calls) = Default::default();
        Self { pack, script, run, asks, requests, calls }
    }

    async fn load(&self, name: &str) -> Answer {
        let loaded = self.pack.scripts.cleared(name, |_| {}).await.map_err(|error| told(&error))?;
        Ok(Raw::string(&loaded.source))
    }

    fn secret(&self, name: &str) -> Answer {
        if !self.script.header.grants_secret(name) {
            return Err(format!(
                "the secret `{name}` is not among the `@secrets` that `{}` was approved with",
                self.script.name
            ));
        }
        Ok((self.pack.secrets)(name).map_or(Raw::NULL, |secret| Raw::string(secret.expose())))
    }

    fn secrets(&self) -> Raw {
        let names = self.script.header.secrets.iter();
        let there: Vec<&String> = names.filter(|name| (self.pack.secrets)(name).is_some()).collect();
        Raw::of(&there)
    }

    async fn tools(&self) -> Raw {
        let view = self.run.view().await;
        let granted = view.tools().filter(|tool| self.script.header.grants_tool(tool.name.as_str()));
        let others = granted.filter(|tool| !tool.name.as_str().starts_with(OWN));
        let described = others.map(|tool| {
            let description = tool.raw.get("description");
            let description = description.as_ref().and_then(|text| text.as_string()).unwrap_or_default();
            json!({"name": tool.name.as_str(), "description": description})
        });
        Raw::of(&described.collect::<Vec<_>>())
    }

    /// Counts one more; an error if that is one too many.
    fn count(count: &AtomicU32, most: u32, what: &str) -> Result<(), String> {
        match count.fetch_add(1, Ordering::Relaxed) < most {
            true => Ok(()),
            false => Err(format!("a script may make no more than {most} {what}")),
        }
    }
}

impl Answering for Desk<'_> {
    async fn answer(&self, ask: Ask, wall: &mut Wall) -> Result<Answer, Over> {
        if let Err(why) = Self::count(&self.asks, ASKS, "requests of any kind") {
            return Ok(Err(why));
        }
        Ok(match ask {
            Ask::Load { name } => wall.limit(self.load(&name)).await?,
            Ask::Secret { name } => self.secret(&name),
            Ask::Secrets => Ok(self.secrets()),
            Ask::Tools => Ok(wall.limit(self.tools()).await?),
            Ask::Http(ask) => wall.limit(self.http(ask)).await?,
            Ask::Tool { name, arguments } => self.tool(&name, arguments, wall).await?,
        })
    }
}

/// An error as a script is told of it.
pub(super) fn told(error: &Error) -> String {
    let after = error.detail().and_then(|detail| detail.get("retryAfterMs"));
    let after = after.map(|ms| format!("it may be called again in {} ms", ms.as_str()));
    match after.as_deref().or_else(|| error.next_step()) {
        Some(hint) => format!("{} ({hint})", error.message()),
        None => error.message().to_owned(),
    }
}
