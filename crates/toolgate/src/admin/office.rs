//! What the API asks for, looked up and done where it is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use toolgate_admin::{
    About, AuditFilter, AuditPage, Desk, Explained, LookedAtScript, MadeToken, NewToken, NewUpstream,
    PinnedTool, PolicyQuestion, PrincipalInfo, ScriptInfo, ScriptsGlance, SecretInfo, Setting,
    SettingsInForce, SignIn, Token, Told, Upstream,
};
use toolgate_core::{AuditQuery, AuditRow, Error, Kind, Result};
use toolgate_host::Secret;
use toolgate_identity::TokenState;
use toolgate_policy::{Question, read_target};
use toolgate_secrets::{BadName, SecretName};
use toolgate_wire::Raw;

use super::scripts::ScriptDesk;
use super::servers::Servers;
use super::{AdminSources, shown};
use crate::settings::{Reloader, Sources};

/// The rest of the program, as the API needs it.
pub(super) struct Office {
    from: AdminSources,
    servers: Servers,
    scripts: ScriptDesk,
    about: About,
}

impl Office {
    pub(super) fn new(from: AdminSources, about: About) -> Self {
        Self { servers: Servers::new(&from), scripts: ScriptDesk::new(&from), from, about }
    }

    async fn find_principals(&self) -> Result<Vec<PrincipalInfo>> {
        let settings = self.from.reloader.newest().settings;
        let mut all: BTreeMap<String, (PrincipalInfo, BTreeSet<String>)> = BTreeMap::new();
        for (name, table) in &settings.principals {
            let (info, roles) = all.entry(name.clone()).or_default();
            info.configured = true;
            roles.extend(table.roles.iter().cloned());
        }
        let tokens = self.from.tokens.list().await?;
        for token in tokens.into_iter().filter(|token| token.state == TokenState::Active) {
            let (info, roles) = all.entry(token.principal).or_default();
            info.tokens += 1;
            info.last_used_ms = info.last_used_ms.max(token.last_used_ms);
            roles.extend(token.roles);
        }
        for connection in self.from.hub.connections() {
            let (info, roles) = all.entry(connection.principal.id.to_string()).or_default();
            info.connections += 1;
            roles.extend(connection.principal.roles.iter().map(ToString::to_string));
        }
        let info = |(name, (info, roles)): (String, (PrincipalInfo, BTreeSet<String>))| PrincipalInfo {
            name,
            roles: roles.into_iter().collect(),
            ..info
        };
        Ok(all.into_iter().map(info).collect())
    }

    async fn find_audit(&self, filter: AuditFilter) -> Result<AuditPage> {
        let limit = filter.limit.unwrap_or(100);
        let before = filter.after.as_deref().map(read_cursor).transpose()?;
        let query = AuditQuery {
            since_ms: filter.since_ms,
            until_ms: filter.until_ms,
            principal: filter.principal,
            target: filter.target,
            outcome: filter.outcome,
            before,
            limit,
            ..AuditQuery::default()
        };
        let rows = self.from.parts.audit.archive().search(&query).await.map_err(shown::audit_error)?;
        let next = rows.last().filter(|_| rows.len() >= limit as usize).map(cursor);
        let item = |row: &AuditRow| serde_json::from_str::<Map<String, Value>>(&row.line).ok();
        Ok(AuditPage { items: rows.iter().filter_map(item).collect(), next })
    }

    async fn load_settings(&self) -> Result<SettingsInForce> {
        let newest = self.from.reloader.newest();
        let sources = self.from.sources.clone();
        let read = blocking(move || read_settings(&sources)).await?;
        let (file, items) = read.unwrap_or_default();
        Ok(SettingsInForce {
            file,
            items,
            restart: newest.restart,
            error: newest.error.map(|error| error.to_string()),
            warnings: newest.settings.warnings.clone(),
        })
    }
}

/// Every value with its origin; none where the files cannot be read, which the reloader tells.
fn read_settings(sources: &Sources) -> Option<(Option<String>, Vec<Setting>)> {
    let loaded = sources.load().ok()?;
    let leaves = loaded.document.in_force(loaded.settings.values());
    let item = |leaf: &toolgate_config::Leaf| {
        let hidden = leaf.secret && !leaf.value.is_null();
        let value = if hidden { Value::Null } else { leaf.value.clone() };
        Setting { key: leaf.key.clone(), value, hidden, origin: shown::origin(&leaf.origin) }
    };
    let file = loaded.document.file().map(|path| path.display().to_string());
    Some((file, leaves.iter().map(item).collect()))
}

/// Reads the settings anew; what cannot be read is told.
pub(super) async fn reload(reloader: &Arc<Reloader>) -> Result<String> {
    let reloader = reloader.clone();
    let read = blocking(move || reloader.now()).await?;
    read.map_err(|why| Error::new(Kind::InvalidInput, why).hint("the old settings stay in force"))
}

/// Work that reads or writes files.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Error::new(Kind::Internal, "the work was not done").because(error))
}

/// Where a page ends.
fn cursor(row: &AuditRow) -> String {
    format!("{}-{}-{}", row.time_ms, row.sequence, row.writer)
}

fn read_cursor(text: &str) -> Result<(u64, String, i64)> {
    let mut parts = text.splitn(3, '-');
    let mut next = || parts.next().unwrap_or_default();
    let (time, sequence, writer) = (next().parse().ok(), next().parse().ok(), next().to_owned());
    let fine = !writer.is_empty() && writer.bytes().all(|byte| byte.is_ascii_graphic());
    match (time, sequence) {
        (Some(time), Some(sequence)) if fine => Ok((time, writer, sequence)),
        _ => Err(Error::new(Kind::InvalidInput, "`after` is nothing that a page said").hint("leave it out")),
    }
}

impl Desk for Office {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn explain(&self, asked: PolicyQuestion) -> Result<Explained> {
        let target = read_target(&asked.target)?;
        let question = Question {
            args: Raw::of(&asked.arguments),
            hints: asked.hints,
            source: asked.source.as_deref(),
            profile: asked.profile.as_deref(),
            ..Question::new(&asked.principal, &target)
        };
        Ok(shown::explained(self.from.rules.current().explain(&question)))
    }

    fn principals(&self) -> Told<'_, Vec<PrincipalInfo>> {
        Box::pin(self.find_principals())
    }

    fn tokens(&self) -> Told<'_, Vec<Token>> {
        Box::pin(async { Ok(self.from.tokens.list().await?.into_iter().map(shown::token).collect()) })
    }

    fn make_token(&self, new: NewToken, by: String) -> Told<'_, MadeToken> {
        Box::pin(async move {
            let new = toolgate_identity::NewToken {
                principal: new.principal.parse()?,
                roles: new.roles.iter().map(|role| role.parse()).collect::<Result<_>>()?,
                expires_in: new.expires_in_seconds.map(Duration::from_secs),
                note: new.note,
                created_by: by,
            };
            let (secret, info) = self.from.tokens.create(new).await?;
            Ok(MadeToken { token: secret.expose().to_owned(), info: shown::token(info) })
        })
    }

    fn revoke_token(&self, id: String) -> Told<'_, Token> {
        Box::pin(async move { self.from.tokens.revoke(&id).await.map(shown::token) })
    }

    fn secrets(&self) -> Told<'_, Vec<SecretInfo>> {
        Box::pin(async {
            let all = self.from.parts.secrets.list().await.map_err(shown::secret_error)?;
            Ok(all.into_iter().map(shown::secret).collect())
        })
    }

    fn set_secret(&self, name: String, value: Secret) -> Told<'_, ()> {
        Box::pin(async move {
            let name: SecretName = name.parse().map_err(|bad: BadName| shown::secret_error(bad.into()))?;
            self.from.parts.secrets.set(&name, &value).await.map_err(shown::secret_error)
        })
    }

    fn remove_secret(&self, name: String) -> Told<'_, ()> {
        Box::pin(async move {
            let missing =
                || Error::new(Kind::NotFound, "there is no such secret").hint("load the list again");
            let name: SecretName = name.parse().map_err(|_| missing())?;
            let was_there = self.from.parts.secrets.remove(&name).await.map_err(shown::secret_error)?;
            if was_there { Ok(()) } else { Err(missing()) }
        })
    }

    fn audit(&self, filter: AuditFilter) -> Told<'_, AuditPage> {
        Box::pin(self.find_audit(filter))
    }

    fn pins(&self) -> Told<'_, Vec<PinnedTool>> {
        Box::pin(async {
            let mut all = self.from.parts.pins.list().await?;
            all.sort_by(|a, b| (b.standing, &a.source, &a.tool).cmp(&(a.standing, &b.source, &b.tool)));
            Ok(all.into_iter().map(shown::pin).collect())
        })
    }

    fn pin(&self, source: String, tool: String) -> Told<'_, PinnedTool> {
        Box::pin(async move { self.from.parts.pins.show(&source, &tool).await.map(shown::pin) })
    }

    fn accept_pin(&self, source: String, tool: String, digest: String, by: String) -> Told<'_, PinnedTool> {
        Box::pin(async move {
            let accepted = self.from.parts.pins.accept_exactly(&source, &tool, &digest, &by).await?;
            // The pins know it already, so nobody else tells the hub.
            self.from.hub.policy_changed();
            Ok(shown::pin(accepted))
        })
    }

    fn scripts(&self) -> Told<'_, Vec<ScriptInfo>> {
        Box::pin(self.scripts.list())
    }

    fn script(&self, name: String) -> Told<'_, LookedAtScript> {
        Box::pin(async move { self.scripts.show(&name).await })
    }

    fn approve_script(&self, name: String, hash: String, by: String) -> Told<'_, ScriptInfo> {
        Box::pin(async move { self.scripts.approve(&name, &hash, &by).await })
    }

    fn reject_script(
        &self,
        name: String,
        hash: String,
        reason: Option<String>,
        by: String,
    ) -> Told<'_, ScriptInfo> {
        Box::pin(async move { self.scripts.reject(&name, &hash, reason.as_deref(), &by).await })
    }

    fn put_script(&self, name: String, source: String, seen: Option<String>) -> Told<'_, ScriptInfo> {
        Box::pin(async move { self.scripts.put(&name, source, seen.as_deref()).await })
    }

    fn glance_at_scripts(&self) -> Told<'_, Option<ScriptsGlance>> {
        Box::pin(self.scripts.glance())
    }

    fn upstreams(&self) -> Told<'_, Vec<Upstream>> {
        Box::pin(self.servers.list())
    }

    fn upstream(&self, name: String) -> Told<'_, Upstream> {
        Box::pin(async move { self.servers.show(&name).await })
    }

    fn add_upstream(&self, new: NewUpstream) -> Told<'_, Upstream> {
        Box::pin(self.servers.add(new))
    }

    fn remove_upstream(&self, name: String) -> Told<'_, ()> {
        Box::pin(async move { self.servers.remove(&name).await })
    }

    fn switch_upstream(&self, name: String, on: bool) -> Told<'_, ()> {
        Box::pin(async move { self.servers.switch(&name, on).await })
    }

    fn sign_in(&self, name: String) -> Told<'_, SignIn> {
        Box::pin(async move { self.servers.sign_in(&name).await })
    }

    fn finish_sign_in(&self, name: String, address: String) -> Told<'_, ()> {
        Box::pin(async move { self.servers.finish_sign_in(&name, &address).await })
    }

    fn sign_out(&self, name: String) -> Told<'_, ()> {
        Box::pin(async move { self.servers.sign_out(&name).await })
    }

    fn settings(&self) -> Told<'_, SettingsInForce> {
        Box::pin(self.load_settings())
    }

    fn reload(&self) -> Told<'_, String> {
        Box::pin(reload(&self.from.reloader))
    }
}
