//! A desk with one of everything, to see that it is passed on.

use std::sync::Mutex;

use serde_json::json;
use toolgate_admin::{
    About, AuditFilter, AuditPage, Desk, Explained, LookedAtScript, MadeToken, NewToken, NewUpstream,
    PinFinding, PinnedTool, PolicyQuestion, PolicyStep, PrincipalInfo, ScriptInfo, ScriptsGlance, SecretInfo,
    Setting, SettingOrigin, SettingsInForce, SignIn, Token, Told, Upstream,
};
use toolgate_core::{Error, Kind, Note, Result, SourceState};
use toolgate_host::Secret;

/// The hash of the one script that there is.
pub(crate) const HASH: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[derive(Default)]
pub(crate) struct Books {
    /// What the scripts look like at a glance.
    pub(crate) scripts: Mutex<ScriptsGlance>,
    /// Secrets are kept while nobody holds it.
    pub(crate) safe: tokio::sync::Mutex<()>,
}

fn told<'a, T: Send + 'a>(value: T) -> Told<'a, T> {
    Box::pin(async move { Ok(value) })
}

/// The one that there is, by name.
fn only<'a, T: Send + 'a>(name: &str, value: T) -> Told<'a, T> {
    let found = if name == "one" { Ok(value) } else { Err(Error::new(Kind::NotFound, "there is none")) };
    Box::pin(async move { found })
}

fn token(principal: &str) -> Token {
    Token {
        id: "one".into(),
        state: "active".into(),
        principal: principal.into(),
        roles: vec!["ops".into()],
        note: "for a test".into(),
        created_ms: 1,
        created_by: "someone".into(),
        expires_ms: Some(2),
        last_used_ms: None,
        revoked_ms: None,
    }
}

fn pin() -> PinnedTool {
    let finding = PinFinding { part: "schema".into(), severity: "high".into(), says: "-a\n+b".into() };
    PinnedTool {
        source: "one".into(),
        tool: "tool".into(),
        standing: "held".into(),
        severity: Some("high".into()),
        findings: vec![finding],
        first_seen_ms: 1,
        accepted_ms: Some(1),
        accepted_by: None,
        digest: Some("abc".into()),
        acceptable: true,
    }
}

fn script(state: &str, remark: &str) -> ScriptInfo {
    ScriptInfo {
        name: "one".into(),
        state: state.into(),
        hash: HASH.into(),
        description: "Does something.".into(),
        author: String::new(),
        version: String::new(),
        secrets: vec!["ONE".into()],
        tools: vec!["echo".into()],
        hosts: Vec::new(),
        remark: remark.into(),
    }
}

/// Whether these are the bytes that are there.
fn seen<'a>(name: &str, hash: &str, info: ScriptInfo) -> Told<'a, ScriptInfo> {
    if hash == HASH {
        return only(name, info);
    }
    Box::pin(async { Err(Error::new(Kind::Conflict, "it is not what was looked at")) })
}

fn upstream(name: &str) -> Upstream {
    Upstream {
        name: name.into(),
        state: Some(SourceState::NeedsAuth),
        enabled: true,
        reach: "https://h.example/mcp".into(),
        error: Some("who are you?".into()),
        hint: Some("sign in".into()),
        transport: "http".into(),
        version: Some("2025-11-25".into()),
        era: Some("legacy".into()),
        connections: 1,
        processes: vec![7],
        in_flight: 0,
        lost: 0,
        tools: 3,
        resources: 0,
        prompts: 0,
        notes: vec![Note { what: "broken JSON".into(), times: 1, detail: "{".into() }],
        stderr: vec!["a line".into()],
        removable: true,
    }
}

impl Desk for Books {
    fn about(&self) -> About {
        About { version: "1.2.3".into(), started_ms: 5, address: None, store: "memory".into() }
    }

    fn explain(&self, question: PolicyQuestion) -> Result<Explained> {
        let step =
            PolicyStep { rule: "all".into(), then: "allow".into(), matches: true, why: "it does".into() };
        Ok(Explained {
            principal: question.principal,
            target: question.target,
            gives: "allow".into(),
            rule: "all".into(),
            listed: true,
            tried: vec![step],
            ..Explained::default()
        })
    }

    fn principals(&self) -> Told<'_, Vec<PrincipalInfo>> {
        told(vec![PrincipalInfo { name: "ada".into(), configured: true, ..PrincipalInfo::default() }])
    }

    fn tokens(&self) -> Told<'_, Vec<Token>> {
        told(vec![token("ada")])
    }

    fn make_token(&self, new: NewToken, by: String) -> Told<'_, MadeToken> {
        let info = Token { created_by: by, ..token(&new.principal) };
        told(MadeToken { token: "tg_one_secret".into(), info })
    }

    fn revoke_token(&self, id: String) -> Told<'_, Token> {
        only(&id, token("ada"))
    }

    fn secrets(&self) -> Told<'_, Vec<SecretInfo>> {
        told(vec![SecretInfo { name: "ONE".into(), created_ms: 1, updated_ms: 2 }])
    }

    fn set_secret(&self, _: String, _: Secret) -> Told<'_, ()> {
        Box::pin(async {
            let _safe = self.safe.lock().await;
            Ok(())
        })
    }

    fn remove_secret(&self, name: String) -> Told<'_, ()> {
        only(&name, ())
    }

    fn audit(&self, filter: AuditFilter) -> Told<'_, AuditPage> {
        let record = |count: u32| json!({"time_ms": count, "target": "tool:x"}).as_object().cloned().unwrap();
        told(match filter.after.as_deref() {
            None => {
                // Of one target the second page cannot be read.
                let next = if filter.target.is_some() { "gone" } else { "2" };
                AuditPage { items: vec![record(3), record(2)], next: Some(next.into()) }
            }
            Some("2") => AuditPage { items: vec![record(1)], next: None },
            Some(_) => return Box::pin(async { Err(Error::new(Kind::Internal, "the store is gone")) }),
        })
    }

    fn pins(&self) -> Told<'_, Vec<PinnedTool>> {
        told(vec![pin()])
    }

    fn pin(&self, source: String, _: String) -> Told<'_, PinnedTool> {
        only(&source, pin())
    }

    fn accept_pin(&self, source: String, _: String, _: String, _: String) -> Told<'_, PinnedTool> {
        only(&source, pin())
    }

    fn scripts(&self) -> Told<'_, Vec<ScriptInfo>> {
        told(vec![script("modified", "")])
    }

    fn script(&self, name: String) -> Told<'_, LookedAtScript> {
        only(
            &name,
            LookedAtScript {
                info: script("modified", ""),
                source: "result = 'sesame'\n".into(),
                whole: true,
                approved: Some("result = 1\n".into()),
                diff: Some("-result = 1\n+result = 'sesame'\n".into()),
                decided_by: Some("someone".into()),
                decided_ms: Some(3),
            },
        )
    }

    fn approve_script(&self, name: String, hash: String, by: String) -> Told<'_, ScriptInfo> {
        seen(&name, &hash, script("approved", &by))
    }

    fn reject_script(
        &self,
        name: String,
        hash: String,
        reason: Option<String>,
        by: String,
    ) -> Told<'_, ScriptInfo> {
        seen(&name, &hash, script("rejected", &format!("{by}: {reason:?}")))
    }

    fn put_script(&self, name: String, source: String, hash: Option<String>) -> Told<'_, ScriptInfo> {
        seen(&name, hash.as_deref().unwrap_or(HASH), script("pending", &source))
    }

    fn glance_at_scripts(&self) -> Told<'_, Option<ScriptsGlance>> {
        told(Some(*self.scripts.lock().unwrap()))
    }

    fn upstreams(&self) -> Told<'_, Vec<Upstream>> {
        told(vec![upstream("one")])
    }

    fn upstream(&self, name: String) -> Told<'_, Upstream> {
        only(&name, upstream("one"))
    }

    fn add_upstream(&self, new: NewUpstream) -> Told<'_, Upstream> {
        told(upstream(&new.name))
    }

    fn remove_upstream(&self, name: String) -> Told<'_, ()> {
        only(&name, ())
    }

    fn switch_upstream(&self, name: String, _: bool) -> Told<'_, ()> {
        only(&name, ())
    }

    fn sign_in(&self, name: String) -> Told<'_, SignIn> {
        only(&name, SignIn { url: "https://login.example/".into(), expires_ms: 9 })
    }

    fn finish_sign_in(&self, name: String, _: String) -> Told<'_, ()> {
        only(&name, ())
    }

    fn sign_out(&self, name: String) -> Told<'_, ()> {
        only(&name, ())
    }

    fn settings(&self) -> Told<'_, SettingsInForce> {
        let setting = |key: &str, origin| Setting { key: key.into(), value: 1.into(), hidden: false, origin };
        let file = SettingOrigin::File { path: "toolgate.toml".into(), line: 1, column: 2 };
        let items = vec![setting("a", SettingOrigin::Default), setting("b", file)];
        told(SettingsInForce { items, ..SettingsInForce::default() })
    }

    fn reload(&self) -> Told<'_, String> {
        told("nothing changed".into())
    }
}
