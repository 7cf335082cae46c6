//! Everything that the policy adds to a hub, put together as the product does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, ensure};
use toolgate_audit::{Audit, AuditConfig, Parts};
use toolgate_core::{HubBuilder, Reading, SharedStore};
use toolgate_host::{Clock, Tasks};
use toolgate_policy::config::{LimitsConfig, PolicyConfig};
use toolgate_policy::{Known, LimitSettings, Limits, Policy, RulesGate};
use toolgate_secrets::Redactor;
use toolgate_store::{Options, StoreConfig};

use crate::samples;

/// A dozen rules, none of which matches the call, so that every one is looked at.
const RULES: &str = r#"
default = "allow"

[[rules]]
name = "no-secret-files"
then = "deny"
targets = ["workspace_read"]
when = 'has(args.path) && args.path.startsWith("secret/")'

[[rules]]
name = "no-deletes"
then = "deny"
targets = ["*_delete", "*_remove"]

[[rules]]
name = "writes-are-asked"
then = "ask"
targets = ["workspace_*"]
read_only = false

[[rules]]
name = "guests-read"
then = "deny"
principals = ["guest", "guest-*"]
read_only = false

[[rules]]
name = "no-shell"
then = "deny"
source = "shell*"

[[rules]]
name = "web-is-asked"
then = "ask"
open_world = true

[[rules]]
name = "destructive-is-asked"
then = "ask"
destructive = true

[[rules]]
name = "bots-have-no-memory"
then = "deny"
principals = ["bot-*"]
targets = ["memory_*"]

[[rules]]
name = "no-system-files"
then = "deny"
targets = ["resource:file:///etc/*", "subscription:file:///etc/*"]

[[rules]]
name = "no-drafts"
then = "deny"
targets = ["prompt:draft_*"]

[[rules]]
name = "alice-deploys"
then = "allow"
principals = ["alice"]
targets = ["deploy_*"]

[[rules]]
name = "nobody-else-deploys"
then = "deny"
targets = ["deploy_*"]
"#;

/// A part of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Rules,
    Limits,
    Redaction,
    Audit,
}

impl Part {
    pub(crate) const ALL: [Self; 4] = [Self::Rules, Self::Limits, Self::Redaction, Self::Audit];

    /// Adds it to a hub, with what metrics read of it.
    pub(crate) fn add(self, builder: HubBuilder, data_dir: &Path, tasks: &Tasks) -> Result<HubBuilder> {
        Ok(match self {
            Self::Rules => builder.gate(Box::new(RulesGate::new(rules()?))),
            Self::Limits => builder.limiter(Arc::new(limits()?)),
            Self::Redaction => {
                let redactor = redactor()?;
                let hidden = redactor.clone();
                builder.filter(Box::new(redactor)).reading(Reading::Redactions, move || hidden.redactions())
            }
            Self::Audit => {
                let audit = audit(data_dir.into(), tasks)?;
                let records = audit.clone();
                let count = move || records.state().head.map_or(0, |head| head.seq);
                builder.recorder(Arc::new(audit)).reading(Reading::AuditRecords, count)
            }
        })
    }
}

/// One that hides all secrets.
pub(crate) fn redactor() -> Result<Redactor> {
    let redactor = Redactor::new();
    let left_out = redactor.set(samples::secrets())?;
    ensure!(left_out.is_empty(), "these are too short: {left_out:?}");
    Ok(redactor)
}

fn rules() -> Result<toolgate_policy::Compiled> {
    let policy: PolicyConfig = toml::from_str(RULES)?;
    let (principals, roles, profiles) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let policy = Policy { policy: &policy, principals: &principals, roles: &roles, profiles: &profiles };
    Ok(policy.load(&Known::default())?)
}

/// Limits that are counted, and never reached.
fn limits() -> Result<Limits> {
    let limits = LimitsConfig { rate: 1e6, burst: 100_000, ..LimitsConfig::default() };
    Ok(Limits::new(LimitSettings::load(&limits, &BTreeMap::new())?, Clock::system()))
}

/// The audit as it is by default, with its spool and a SQLite file.
fn audit(data_dir: PathBuf, tasks: &Tasks) -> Result<Audit> {
    let store: SharedStore =
        toolgate_store::open(StoreConfig::default().place(&data_dir)?, tasks, Options::default());
    let parts = Parts { data_dir, store, tasks: tasks.clone(), clock: Clock::system() };
    Ok(Audit::new(parts, AuditConfig::default()))
}
