//! What other parts tell, as the API shows it.

use toolgate_admin::{
    Explained, PinFinding, PinnedTool, PolicyStep, ScriptInfo, SecretInfo, SettingOrigin, Token, Upstream,
};
use toolgate_audit::AuditError;
use toolgate_config::Origin;
use toolgate_core::{Error, Kind, SourceState, SourceStatus};
use toolgate_identity::TokenInfo;
use toolgate_policy::Explanation;
use toolgate_policy::pins::{PinReport, Severity};
use toolgate_secrets::SecretError;

/// What the policy says.
pub(super) fn explained(told: Explanation) -> Explained {
    let step = |step: toolgate_policy::Step| PolicyStep {
        rule: step.rule,
        then: step.then.as_str().to_owned(),
        matches: step.matches,
        why: step.why,
    };
    Explained {
        principal: told.principal,
        roles: told.roles,
        target: told.target,
        profile: told.profile,
        gives: told.gives.as_str().to_owned(),
        rule: told.rule,
        reason: told.reason,
        listed: told.listed,
        tried: told.tried.into_iter().map(step).collect(),
    }
}

/// A token.
pub(super) fn token(info: TokenInfo) -> Token {
    Token {
        id: info.id,
        state: info.state.to_string(),
        principal: info.principal,
        roles: info.roles,
        note: info.note,
        created_ms: info.created_ms,
        created_by: info.created_by,
        expires_ms: info.expires_ms,
        last_used_ms: info.last_used_ms,
        revoked_ms: info.revoked_ms,
    }
}

/// A secret.
pub(super) fn secret(info: toolgate_secrets::SecretInfo) -> SecretInfo {
    let toolgate_secrets::SecretInfo { name, created_ms, updated_ms } = info;
    SecretInfo { name, created_ms, updated_ms }
}

/// A tool of another server.
pub(super) fn pin(report: PinReport) -> PinnedTool {
    let word = |severity: Severity| {
        match severity {
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
        }
        .to_owned()
    };
    let finding = |finding: toolgate_policy::pins::Finding| PinFinding {
        part: finding.part.as_str().to_owned(),
        severity: word(finding.severity),
        says: finding.says,
    };
    PinnedTool {
        source: report.source,
        tool: report.tool,
        standing: report.standing.as_str().to_owned(),
        severity: report.severity.map(word),
        findings: report.findings.into_iter().map(finding).collect(),
        first_seen_ms: report.first_seen_ms,
        accepted_ms: report.accepted_ms,
        accepted_by: report.accepted_by,
        digest: report.digest,
        acceptable: report.accept.is_some(),
    }
}

/// A script.
pub(super) fn script(info: toolgate_script::ScriptInfo) -> ScriptInfo {
    ScriptInfo {
        name: info.name,
        state: info.state.as_str().to_owned(),
        hash: info.hash.to_string(),
        description: info.description,
        author: info.author,
        version: info.version,
        secrets: info.secrets,
        tools: info.tools,
        hosts: info.hosts,
        remark: info.remark,
    }
}

/// An upstream; `status` is how it stands, where the hub has it.
pub(super) fn upstream(name: &str, reach: String, status: Option<SourceStatus>) -> Upstream {
    let state = status.as_ref().map(|status| status.state);
    let status = status.unwrap_or_default();
    Upstream {
        name: name.to_owned(),
        state,
        enabled: state != Some(SourceState::Disabled),
        reach,
        error: status.error,
        hint: status.hint,
        transport: status.transport,
        version: status.version,
        era: status.era,
        connections: status.connections,
        processes: status.processes,
        in_flight: status.in_flight,
        lost: status.lost,
        tools: status.tools,
        resources: status.resources,
        prompts: status.prompts,
        notes: status.notes,
        stderr: status.stderr,
        removable: false,
    }
}

/// Where a value comes from.
pub(super) fn origin(origin: &Origin) -> SettingOrigin {
    match origin {
        Origin::Default => SettingOrigin::Default,
        Origin::OpenCode(place) | Origin::File(place) => SettingOrigin::File {
            path: place.path.display().to_string(),
            line: place.line,
            column: place.column,
        },
        Origin::Variable(name) => SettingOrigin::Variable { name: name.clone() },
        Origin::Flag(name) => SettingOrigin::Flag { name: name.clone() },
    }
}

/// Why a secret was not kept.
pub(super) fn secret_error(error: SecretError) -> Error {
    let hint = error.hint();
    match error {
        SecretError::Store(error) => error.into(),
        SecretError::Name(_) | SecretError::Value(_) => {
            Error::new(Kind::InvalidInput, error.to_string()).hint(hint)
        }
        SecretError::BadKey
        | SecretError::BadKeyFile { .. }
        | SecretError::OpenKeyFile { .. }
        | SecretError::MissingKey { .. }
        | SecretError::WrongKey { .. }
        | SecretError::LaterVersion { .. }
        | SecretError::KeyFile { .. }
        | SecretError::Busy { .. }
        | SecretError::NoRandom => Error::new(Kind::Internal, error.to_string()).hint(hint).because(error),
    }
}

/// Why the record cannot be read.
pub(super) fn audit_error(error: AuditError) -> Error {
    let hint = error.next_step().unwrap_or("`toolgate doctor` tells what is wrong").to_owned();
    Error::new(Kind::Internal, "the record cannot be read").hint(hint).because(error)
}

/// What a command would say on standard error, as an error of the API.
pub(super) fn command_error(error: anyhow::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => error,
        Err(error) => {
            let text = format!("{error:#}");
            let (message, hint) = text.split_once("\nhint: ").unwrap_or((&text, "look at the settings"));
            Error::new(Kind::InvalidInput, message.to_owned()).hint(hint.to_owned())
        }
    }
}
