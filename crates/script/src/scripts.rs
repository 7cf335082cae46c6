//! The scripts that there are, how they stand, and who may change that.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use toolgate_core::{Error, Kind, PrincipalId, Result, SharedStore};
use toolgate_host::Clock;

use crate::config::ScriptsConfig;
use crate::decision::{Decision, Decisions, Word, code_name, is_code};
use crate::hash::Hash;
use crate::shelf::{Script, Shelf};

/// How a script stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nobody has looked at it yet.
    Pending,
    /// It may run.
    Approved,
    /// An administrator said no.
    Rejected,
    /// It was approved, and is not what it was.
    Modified,
}

impl State {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Modified => "modified",
        }
    }
}

/// What is known of a script, for people and models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScriptInfo {
    /// The name of the script.
    pub name: String,
    /// Whether it may run: `pending`, `approved`, `rejected` or `modified`.
    #[schemars(with = "String")]
    pub state: State,
    /// The hash of its bytes.
    pub hash: Hash,
    /// What it does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// Which version it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The secrets it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The tools it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The hosts it asks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// What is wrong with it, or why it was rejected.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remark: String,
}

/// A script that someone looks at.
#[derive(Debug, Clone)]
pub struct Looked {
    /// The script as it is now.
    pub script: Script,
    /// What is known of it.
    pub info: ScriptInfo,
    /// The bytes that were approved last, where it is not what they are.
    pub approved: Option<String>,
    /// Who decided, and when, in milliseconds since 1970.
    pub decided: Option<(String, u64)>,
}

/// The scripts that there are. Clones are the same.
#[derive(Clone)]
pub struct Scripts(Arc<Inner>);

struct Inner {
    shelf: Shelf,
    decisions: Decisions,
    /// What the configuration approves.
    allow: BTreeSet<Hash>,
    most: u64,
}

impl Scripts {
    /// The scripts of the configured folder, or else of `folder`.
    pub fn new(config: &ScriptsConfig, folder: PathBuf, store: SharedStore, clock: Clock) -> Self {
        let folder = config.dir.clone().unwrap_or(folder);
        let most = config.max_source_bytes;
        let allow = config.allow.iter().cloned().collect();
        let (shelf, decisions) = (Shelf::new(folder, most), Decisions::new(store, clock));
        Self(Arc::new(Inner { shelf, decisions, allow, most }))
    }

    /// The folder they are in, which is made if it is missing.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make_folder(&self) -> Result<&Path> {
        self.0.shelf.make()?;
        Ok(self.folder())
    }

    /// The folder they are in.
    pub fn folder(&self) -> &Path {
        self.0.shelf.folder()
    }

    /// All scripts in order; then the code that somebody wanted to run and that is no file.
    pub async fn list(&self) -> Result<Vec<ScriptInfo>> {
        let decisions = self.0.decisions.all().await?;
        let mut all = self.files_by(&decisions).await?;
        let mut code: Vec<_> = decisions.into_iter().filter(|(name, _)| is_code(name)).collect();
        code.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, decision) in code {
            let script = Script::new(name, decision.source.clone());
            all.push(self.info(&script, Some(&decision)));
        }
        Ok(all)
    }

    /// All scripts of the folder, in order.
    pub(crate) async fn files(&self) -> Result<Vec<ScriptInfo>> {
        self.files_by(&self.0.decisions.all().await?).await
    }

    async fn files_by(&self, decisions: &HashMap<String, Decision>) -> Result<Vec<ScriptInfo>> {
        let mut all = Vec::new();
        for name in self.0.shelf.names().await? {
            // One that vanished since, or cannot be read, is no script that could be run.
            let Ok(script) = self.0.shelf.read(&name).await else { continue };
            all.push(self.info(&script, decisions.get(&name)));
        }
        Ok(all)
    }

    /// A script as it is now, and how it stands.
    pub async fn look(&self, name: &str) -> Result<Looked> {
        let (script, decision) = self.read(name).await?;
        let info = self.info(&script, decision.as_ref());
        let approved = decision.as_ref().and_then(Decision::approved);
        let approved = approved.filter(|approved| *approved != script.source).map(ToOwned::to_owned);
        let decided = decision.filter(|decision| decision.word != Word::Waiting);
        let decided = decided.map(|decision| (decision.by, decision.at_ms));
        Ok(Looked { script, info, approved, decided })
    }

    /// Approves exactly the bytes that were seen, with the secrets, tools and hosts that their header names.
    ///
    /// # Errors
    /// The script is another one by now, or its header cannot be granted.
    pub async fn approve(&self, name: &str, seen: &Hash, by: &str) -> Result<Script> {
        let script = self.seen(name, seen).await?;
        if let Some(problem) = script.header.problems.first() {
            return Err(Error::new(
                Kind::InvalidInput,
                format!("`{}` cannot be approved: {problem}", script.name),
            ));
        }
        self.0.decisions.say(&script, Word::Approved, by, None).await?;
        Ok(script)
    }

    /// Rejects exactly the bytes that were seen.
    ///
    /// # Errors
    /// The script is another one by now.
    pub async fn reject(&self, name: &str, seen: &Hash, by: &str, reason: Option<&str>) -> Result<Script> {
        let script = self.seen(name, seen).await?;
        self.0.decisions.say(&script, Word::Rejected, by, reason).await?;
        Ok(script)
    }

    /// Puts a new version into the folder, in the place of the one that was seen; without one, it has to be new. It may
    /// run only where these very bytes are approved.
    ///
    /// # Errors
    /// What is there is not what was seen, or this cannot be a script.
    pub async fn put(&self, name: &str, source: String, seen: Option<&Hash>) -> Result<ScriptInfo> {
        let script = self.0.shelf.write(name, source, seen.cloned()).await?;
        let decision = self.0.decisions.of(&script.name).await?;
        Ok(self.info(&script, decision.as_ref()))
    }

    /// A script that may run: read once, and judged by what was read. `noted` hears which it is, whether it may or not.
    pub(crate) async fn cleared(&self, name: &str, noted: impl FnOnce(&Script)) -> Result<Script> {
        let script = self.0.shelf.read(name).await?;
        noted(&script);
        let decision = self.0.decisions.of(&script.name).await?;
        self.clear(script, decision.as_ref(), None)
    }

    /// Code that may run; what is not approved is kept for an administrator to look at. It never has secrets.
    pub(crate) async fn cleared_code(
        &self,
        code: String,
        by: &PrincipalId,
        noted: impl FnOnce(&Script),
    ) -> Result<Script> {
        if u64::try_from(code.len()).unwrap_or(u64::MAX) > self.0.most {
            let error =
                Error::new(Kind::InvalidInput, format!("the code has more than {} bytes", self.0.most));
            return Err(error.hint("do less at once, or store it as a script"));
        }
        let mut script = Script::new(String::new(), code);
        script.name = code_name(&script.hash);
        script.header.secrets.clear();
        noted(&script);
        let decision = self.0.decisions.of(&script.name).await?;
        let mut kept = None;
        if decision.is_none() && !self.0.allow.contains(&script.hash) {
            kept = Some(self.0.decisions.keep_waiting(&script, by).await?);
        }
        self.clear(script, decision.as_ref(), kept)
    }

    fn clear(&self, script: Script, decision: Option<&Decision>, kept: Option<bool>) -> Result<Script> {
        let state = self.state(&script.hash, decision);
        if state != State::Approved {
            return Err(unapproved(&script, state, decision, kept));
        }
        match script.header.problems.first() {
            Some(problem) => {
                Err(Error::new(Kind::InvalidInput, format!("`{}` cannot run: {problem}", script.name)))
            }
            None => Ok(script),
        }
    }

    async fn seen(&self, name: &str, seen: &Hash) -> Result<Script> {
        let (script, _) = self.read(name).await?;
        if script.hash != *seen {
            return Err(changed(&script.name, Some(&script.hash)));
        }
        Ok(script)
    }

    async fn read(&self, name: &str) -> Result<(Script, Option<Decision>)> {
        if is_code(name) {
            let Some(decision) = self.0.decisions.of(name).await? else {
                return Err(Error::new(Kind::NotFound, "there is no such code")
                    .hint("`toolgate script list` shows what waits"));
            };
            return Ok((Script::new(name.to_owned(), decision.source.clone()), Some(decision)));
        }
        let script = self.0.shelf.read(name).await?;
        let decision = self.0.decisions.of(&script.name).await?;
        Ok((script, decision))
    }

    /// How these bytes stand. A refusal of exactly these bytes counts for more than the configuration.
    fn state(&self, hash: &Hash, decision: Option<&Decision>) -> State {
        match decision {
            Some(said) if said.hash == *hash && said.word == Word::Rejected => State::Rejected,
            _ if self.0.allow.contains(hash) => State::Approved,
            Some(said) if said.word == Word::Approved && said.hash == *hash => State::Approved,
            Some(said) if said.word == Word::Approved => State::Modified,
            _ => State::Pending,
        }
    }

    fn info(&self, script: &Script, decision: Option<&Decision>) -> ScriptInfo {
        let (header, state) = (&script.header, self.state(&script.hash, decision));
        let reason = decision.filter(|_| state == State::Rejected).and_then(|said| said.reason.clone());
        ScriptInfo {
            name: script.name.clone(),
            state,
            hash: script.hash.clone(),
            description: header.description.clone().unwrap_or_default(),
            author: header.author.clone().unwrap_or_default(),
            version: header.version.clone().unwrap_or_default(),
            secrets: if is_code(&script.name) { Vec::new() } else { header.secrets.clone() },
            tools: header.tools.clone(),
            hosts: header.hosts.iter().map(ToString::to_string).collect(),
            remark: header.problems.first().cloned().or(reason).unwrap_or_default(),
        }
    }
}

/// The answer to who looked at something else.
pub(crate) fn changed(name: &str, now: Option<&Hash>) -> Error {
    let now = now.map_or_else(|| "gone".to_owned(), |hash| format!("now {hash}"));
    Error::new(Kind::Conflict, format!("`{name}` is not what was looked at: it is {now}"))
        .hint("look at it again, then decide")
}

/// The answer to who wants to run what is not approved.
fn unapproved(script: &Script, state: State, decision: Option<&Decision>, kept: Option<bool>) -> Error {
    let name = &script.name;
    let mut text = format!(
        "Script '{name}' is pending approval. An administrator must review and approve this script before it can be \
         executed.\n\nState: {}, {}",
        state.as_str(),
        script.hash
    );
    let reason = decision.filter(|_| state == State::Rejected).and_then(|said| said.reason.as_deref());
    if let Some(reason) = reason {
        text.push_str(&format!("\nReason: {reason}"));
    }
    if kept == Some(false) {
        text.push_str("\nToo much code waits for approval already, so this was not kept.");
    }
    let hint = format!("ask an administrator to look at it with `toolgate script approve {name}`");
    Error::new(Kind::NeedsApproval, text).as_sentence().hint(hint)
}
