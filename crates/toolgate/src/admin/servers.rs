//! Other MCP servers, as the page adds, removes and switches them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use toolgate_admin::{NewUpstream, SignIn, Upstream};
use toolgate_core::{Error, Hub, Kind, Result};
use toolgate_upstream::{Authorizer, Holder, UpstreamConfig};

use super::AdminSources;
use super::office::{blocking, reload};
use super::shown;
use super::sign_ins::SignIns;
use crate::command::servers_file::{self as file, File};
use crate::parts::Parts;
use crate::settings::{Reloader, Sources};
use crate::upstreams::{self, Grants, Kept};

/// How long a change of the settings may take to come into force before nobody waits for it any more.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether it has.
const PAUSE: Duration = Duration::from_millis(25);

/// Other MCP servers: their tables, how they stand, and what is kept of them.
pub(super) struct Servers {
    hub: Hub,
    parts: Parts,
    kept: Kept,
    grants: Arc<Grants>,
    reloader: Arc<Reloader>,
    sources: Sources,
    sign_ins: SignIns,
    /// One change of the file at a time.
    writing: tokio::sync::Mutex<()>,
}

impl Servers {
    pub(super) fn new(from: &AdminSources) -> Self {
        let tasks = from.hub.tasks().clone();
        Self {
            kept: Kept::new(from.parts.database.clone()),
            grants: Grants::new(&from.parts, &tasks),
            sign_ins: SignIns::new(tasks),
            hub: from.hub.clone(),
            parts: from.parts.clone(),
            reloader: from.reloader.clone(),
            sources: from.sources.clone(),
            writing: tokio::sync::Mutex::default(),
        }
    }

    pub(super) async fn list(&self) -> Result<Vec<Upstream>> {
        let mut all = self.all().await?;
        all.iter_mut().for_each(|upstream| upstream.stderr.clear());
        Ok(all)
    }

    pub(super) async fn show(&self, name: &str) -> Result<Upstream> {
        let all = self.all().await?;
        all.into_iter().find(|upstream| upstream.name == name).ok_or_else(|| missing(name))
    }

    async fn all(&self) -> Result<Vec<Upstream>> {
        let settings = self.reloader.newest().settings;
        let (mut statuses, file) = (self.hub.upstreams(), self.file().await);
        let upstream = |(name, table): (&String, &UpstreamConfig)| {
            let place = statuses.iter().position(|status| status.name == *name);
            let status = place.map(|place| statuses.swap_remove(place));
            let mut upstream = shown::upstream(name, crate::command::reach(table), status);
            upstream.removable = file.as_ref().is_ok_and(|file| file.has(name));
            upstream
        };
        Ok(settings.mcp.iter().map(upstream).collect())
    }

    pub(super) async fn add(&self, new: NewUpstream) -> Result<Upstream> {
        let _writing = self.writing.lock().await;
        let file = self.file().await?;
        if file.has(&new.name) || self.reloader.newest().settings.mcp.contains_key(&new.name) {
            let message = format!("there is a server `{}` already", new.name);
            return Err(Error::new(Kind::InvalidInput, message).hint("choose another name"));
        }
        let text = file::with(file.text(), &new.name, &table(&new)).map_err(shown::command_error)?;
        self.write(file, text).await?;
        self.until(|| self.has(&new.name)).await;
        self.show(&new.name).await
    }

    pub(super) async fn remove(&self, name: &str) -> Result<()> {
        let _writing = self.writing.lock().await;
        self.table(name)?;
        let file = self.file().await?;
        if !file.has(name) {
            let message = format!("`{}` has no server `{name}`", file.path.display());
            return Err(Error::new(Kind::InvalidInput, message)
                .hint("it is set by another file, a variable or a flag; remove it there"));
        }
        let text = file::without(file.text(), name).map_err(shown::command_error)?;
        // What lets us in is given back, as long as we know how. The table goes last, so that it can be done again.
        let authorizer = self.authorizer(name).await.ok();
        self.grants.forget(name, authorizer.as_deref()).await.map_err(shown::secret_error)?;
        self.write(file, text).await?;
        self.kept.forget(name).await?;
        self.until(|| !self.has(name)).await;
        Ok(())
    }

    pub(super) async fn switch(&self, name: &str, on: bool) -> Result<()> {
        let table = self.table(name)?;
        // What the table says anyway needs no switch.
        self.kept.set_switch(name, (on != table.enabled).then_some(on)).await?;
        Ok(())
    }

    pub(super) async fn sign_in(&self, name: &str) -> Result<SignIn> {
        let authorizer = self.authorizer(name).await?;
        if !authorizer.needs_person() {
            let message = format!("`{name}` is signed in to by the machine itself");
            return Err(Error::new(Kind::InvalidInput, message).hint("connect to it anew"));
        }
        let login =
            authorizer.begin(Holder::Shared).await.map_err(|error| crate::command::sign_in_error(&error))?;
        Ok(self.sign_ins.begin(name, login))
    }

    pub(super) async fn finish_sign_in(&self, name: &str, address: &str) -> Result<()> {
        self.sign_ins.finish(name, address).await
    }

    pub(super) async fn sign_out(&self, name: &str) -> Result<()> {
        let authorizer = self.authorizer(name).await?;
        authorizer.logout(Holder::Shared).await.map_err(|error| crate::command::sign_in_error(&error))?;
        Ok(())
    }

    async fn authorizer(&self, name: &str) -> Result<Arc<Authorizer>> {
        let table = self.table(name)?;
        let secrets = self.parts.secrets.load().await.map_err(shown::secret_error)?;
        let found = upstreams::authorizer(name, &table, &secrets, &self.grants, self.hub.tasks());
        let bad = |error: toolgate_upstream::BadConfig| {
            Error::new(Kind::InvalidInput, error.to_string()).hint(error.hint().to_owned())
        };
        found.map_err(bad)?.ok_or_else(|| {
            Error::new(Kind::InvalidInput, format!("`{name}` is not signed in to"))
                .hint("it is a program, its address is not `https`, or its table already says who we are")
        })
    }

    fn table(&self, name: &str) -> Result<UpstreamConfig> {
        self.reloader.newest().settings.mcp.get(name).cloned().ok_or_else(|| missing(name))
    }

    async fn file(&self) -> Result<File> {
        let sources = self.sources.clone();
        blocking(move || File::of(&sources)).await?.map_err(shown::command_error)
    }

    /// Writes the file and brings it into force; where that cannot be, the file stays as it was.
    async fn write(&self, file: File, text: String) -> Result<()> {
        file.write(text.clone()).await.map_err(shown::command_error)?;
        let Err(error) = reload(&self.reloader).await else { return Ok(()) };
        file.restore(&text).await.map_err(shown::command_error)?;
        reload(&self.reloader).await?;
        Err(error)
    }

    fn has(&self, name: &str) -> bool {
        self.hub.upstream_states().iter().any(|(source, _)| source.as_str() == name)
    }

    async fn until(&self, holds: impl Fn() -> bool) {
        let begun = Instant::now();
        while !holds() && begun.elapsed() < PATIENCE {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// The table of a new server, as it is written.
fn table(new: &NewUpstream) -> Map<String, Value> {
    let mut table = Map::new();
    let mut put = |key: &str, value: Value| drop(table.insert(key.to_owned(), value));
    if let Some(command) = &new.command {
        put("command", command.as_str().into());
    }
    if !new.args.is_empty() {
        put("args", json!(new.args));
    }
    if let Some(url) = &new.url {
        put("url", url.as_str().into());
    }
    if new.oauth {
        put("oauth", true.into());
    }
    for (key, texts) in [("env", &new.env), ("headers", &new.headers)] {
        if !texts.is_empty() {
            put(key, json!(texts));
        }
    }
    if let Some(cwd) = &new.cwd {
        put("cwd", cwd.as_str().into());
    }
    if let Some(timeout) = new.timeout {
        put("timeout", timeout.into());
    }
    table
}

fn missing(name: &str) -> Error {
    let shown: String = name.chars().take(64).flat_map(char::escape_default).collect();
    Error::new(Kind::NotFound, format!("there is no server `{shown}`")).hint("load the list again")
}
