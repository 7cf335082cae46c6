//! Mutants of approvals, and of the envelopes that carry a call through its rounds.

use super::{CORE, Mutant};

/// The mutants of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "approval-once",
        file: "crates/core/src/approvals.rs",
        find: r"if self.inner.store.write(vec![write]).await? == Written::Done {
                        return Ok(Waited::Approved(approval.consent(by)));",
        replace: r"if matches!(self.inner.store.write(vec![write]).await?, Written::Done | Written::Conflict) {
                        return Ok(Waited::Approved(approval.consent(by)));",
        tests: &[CORE],
    },
    Mutant {
        name: "approval-used",
        file: "crates/core/src/approvals.rs",
        find: "ApprovalState::Pending | ApprovalState::Used { .. } => return Ok(Waited::Pending),",
        replace: r"ApprovalState::Pending => return Ok(Waited::Pending),
                ApprovalState::Used { by, .. } => return Ok(Waited::Approved(approval.consent(by))),",
        tests: &[CORE],
    },
    Mutant {
        name: "approval-binding",
        file: "crates/core/src/approvals.rs",
        find: "if !approval.is_for(asked) {",
        replace: "if false && !approval.is_for(asked) {",
        tests: &[CORE],
    },
    Mutant {
        name: "approval-expiry",
        file: "crates/core/src/approvals.rs",
        find: "document.expires_ms.is_none_or(|expires| expires > now)",
        replace: "document.expires_ms.is_none_or(|expires| true || expires > now)",
        tests: &[CORE],
    },
    Mutant {
        name: "approval-decided",
        file: "crates/core/src/approvals.rs",
        find: "if approval.state != ApprovalState::Pending {",
        replace: "if false && approval.state != ApprovalState::Pending {",
        tests: &[CORE],
    },
    Mutant {
        name: "approval-kept-principal",
        file: "crates/core/src/approvals.rs",
        find: "rule.principal == asked.principal",
        replace: "(true || rule.principal == asked.principal)",
        tests: &[CORE],
    },
    Mutant {
        name: "approval-kept-target",
        file: "crates/core/src/approvals.rs",
        find: "&& rule.target == asked.target",
        replace: "",
        tests: &[CORE],
    },
    Mutant {
        name: "approval-kept-rule",
        file: "crates/core/src/approvals.rs",
        find: "&& rule.rule == asked.rule",
        replace: "",
        tests: &[CORE],
    },
    Mutant {
        name: "approval-kept-session",
        file: "crates/core/src/approvals.rs",
        find: "&& (rule.session.is_none() || rule.session == asked.session)",
        replace: "",
        tests: &[CORE],
    },
    Mutant {
        name: "approval-pending-most",
        file: "crates/core/src/approvals/wait.rs",
        find: ".count() < MOST {",
        replace: ".count() < MOST.max(usize::MAX) {",
        tests: &[CORE],
    },
    Mutant {
        name: "approval-pending-session",
        file: "crates/core/src/approvals/wait.rs",
        find: "if approval.session == asked.session {",
        replace: "if true || approval.session == asked.session {",
        tests: &[CORE],
    },
    Mutant {
        name: "seal-principal",
        file: "crates/core/src/seal.rs",
        find: "self.principal == principal.id.as_str() && self.digest == digest",
        replace: "self.digest == digest",
        tests: &[CORE],
    },
    Mutant {
        name: "seal-call",
        file: "crates/core/src/seal.rs",
        find: "self.principal == principal.id.as_str() && self.digest == digest",
        replace: "self.principal == principal.id.as_str()",
        tests: &[CORE],
    },
    Mutant {
        name: "seal-expiry",
        file: "crates/core/src/seal.rs",
        find: "if state.expires_ms < now_ms {",
        replace: "if false && state.expires_ms < now_ms {",
        tests: &[CORE],
    },
    Mutant {
        name: "consent-policy",
        file: "crates/core/src/pipeline/approve.rs",
        find: "(consent.policy == self.hub.terms(self.tool())).then_some(consent)",
        replace: "Some(consent)",
        tests: &[CORE],
    },
    Mutant {
        name: "consent-meanwhile",
        file: "crates/core/src/pipeline.rs",
        find: "is_some_and(|consent| consent.policy == subject.terms)",
        replace: "is_some_and(|consent| true || consent.policy == subject.terms)",
        tests: &[CORE],
    },
    Mutant {
        name: "consent-between",
        file: "crates/core/src/pipeline/approve.rs",
        find: "let policy = self.terms.clone();",
        replace: "let policy = hub.terms(self.tool());",
        tests: &[CORE],
    },
    Mutant {
        name: "consent-source",
        file: "crates/core/src/pipeline.rs",
        find: "subject.goes_to(asked_for.as_ref())",
        replace: "(true || subject.goes_to(asked_for.as_ref()))",
        tests: &[CORE],
    },
    Mutant {
        name: "consent-once",
        file: "crates/core/src/consents.rs",
        find: r"let waiting = self.lock().1.remove(&number)?;
        (waiting.expires_ms >= now_ms).then_some(waiting.consent)",
        replace: r"let all = self.lock();
        let waiting = all.1.get(&number)?;
        (waiting.expires_ms >= now_ms).then(|| waiting.consent.clone())",
        tests: &[CORE],
    },
    Mutant {
        name: "consent-expiry",
        file: "crates/core/src/consents.rs",
        find: "consent.until_ms.min(expires_ms)",
        replace: "expires_ms",
        tests: &[CORE],
    },
];
