//! Mutants of what hides secrets, and of the places that ask it to.

use super::{AUDIT, CONTROL, CORE, Mutant, PAGES, SECRETS};

/// The mutants of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "filter-outcome",
        file: "crates/core/src/pipeline.rs",
        find: r"let outcome = hub.filters.outcome(outcome);
",
        replace: "",
        tests: &[CORE],
    },
    Mutant {
        name: "filter-unbegun",
        file: "crates/core/src/hub/admission.rs",
        find: "let outcome = self.filters.outcome(Outcome::Failed(error));",
        replace: "let outcome = Outcome::Failed(error);",
        tests: &[CORE, SECRETS],
    },
    Mutant {
        name: "filter-page",
        file: "crates/core/src/view.rs",
        find: r#"self.filters.page(Raw::trusted(format!("{{{body}{tail}}}").into()))"#,
        replace: r#"Ok(Raw::trusted(format!("{{{body}{tail}}}").into()))"#,
        tests: &[CORE],
    },
    Mutant {
        name: "filter-progress",
        file: "crates/core/src/run/handle.rs",
        find: "Progress(self.shared.hub.filters.json(progress.0))",
        replace: "progress",
        tests: &[CORE],
    },
    Mutant {
        name: "filter-log",
        file: "crates/core/src/run/handle.rs",
        find: "let params = self.shared.hub.filters.json(params);",
        replace: "",
        tests: &[CORE],
    },
    Mutant {
        name: "filter-other",
        file: "crates/core/src/run/handle.rs",
        find: "params: self.shared.hub.filters.json(params) }",
        replace: "params }",
        tests: &[CORE],
    },
    Mutant {
        name: "filter-question",
        file: "crates/core/src/run/handle.rs",
        find: "question.params = self.shared.hub.filters.json(question.params.clone());",
        replace: "",
        tests: &[CORE, SECRETS],
    },
    Mutant {
        name: "filter-question-key",
        file: "crates/core/src/run/handle.rs",
        find: "if !self.shared.hub.filters.lets_pass(&question.key) {",
        replace: "if false && !self.shared.hub.filters.lets_pass(&question.key) {",
        tests: &[CORE],
    },
    Mutant {
        name: "filter-method",
        file: "crates/core/src/run/handle.rs",
        find: "if !self.shared.hub.filters.lets_pass(method) {",
        replace: "if false && !self.shared.hub.filters.lets_pass(method) {",
        tests: &[CORE],
    },
    Mutant {
        name: "filter-title",
        file: "crates/core/src/run/handle.rs",
        find: "self.shared.hub.filters.text(operation).unwrap_or_else(|| operation.to_owned())",
        replace: "operation.to_owned()",
        tests: &[CORE, SECRETS],
    },
    Mutant {
        name: "filter-recorded-name",
        file: "crates/core/src/pipeline/record.rs",
        find: "name: &hub.filters.clean(target.name()),",
        replace: "name: target.name(),",
        tests: &[CORE, AUDIT, SECRETS],
    },
    Mutant {
        name: "filter-recorded-arguments",
        file: "crates/core/src/pipeline/record.rs",
        find: ".then(|| hub.filters.page(handle.params().clone()))",
        replace: ".then(|| Ok::<_, Error>(handle.params().clone()))",
        tests: &[CORE, AUDIT, SECRETS],
    },
    Mutant {
        name: "filter-approval-arguments",
        file: "crates/core/src/pipeline/approve.rs",
        find: "shown(&self.hub.filters.json(self.arguments.clone()))",
        replace: "shown(self.arguments)",
        tests: &[CORE, SECRETS],
    },
    Mutant {
        name: "filter-api",
        file: "crates/front/src/http/info.rs",
        find: "match shared.hub.filtered(Raw::of(&body)) {",
        replace: "match Ok::<_, toolgate_core::Error>(Raw::of(&body)) {",
        tests: &[PAGES],
    },
    Mutant {
        name: "filter-control",
        file: "crates/front/src/control/server.rs",
        find: "match self.shared.hub.filtered(Raw::trusted(frame)) {",
        replace: "match Ok::<_, toolgate_core::Error>(Raw::trusted(frame)) {",
        tests: &[CONTROL],
    },
    Mutant {
        name: "redact-json",
        file: "crates/secrets/src/redact.rs",
        find: "fn json(&self, raw: Raw) -> Raw {",
        replace: r"fn json(&self, raw: Raw) -> Raw {
        if true {
            return raw;
        }",
        tests: &[SECRETS],
    },
    Mutant {
        name: "redact-text",
        file: "crates/secrets/src/redact.rs",
        find: "let redacted = self.bytes(text.as_bytes())?;",
        replace: "let redacted = self.bytes(text.as_bytes()).filter(|_| false)?;",
        tests: &[SECRETS],
    },
    Mutant {
        name: "redact-writer",
        file: "crates/secrets/src/redact/writer.rs",
        find: "match self.redactor.line(lines) {",
        replace: "match self.redactor.line(lines).filter(|_| false) {",
        tests: &[SECRETS],
    },
    Mutant {
        name: "redact-stream",
        file: "crates/secrets/src/redact/stream.rs",
        find: "pub fn push(&mut self, part: &[u8]) -> Vec<u8> {",
        replace: r"pub fn push(&mut self, part: &[u8]) -> Vec<u8> {
        if true {
            return part.to_vec();
        }",
        tests: &[SECRETS],
    },
    Mutant {
        name: "redact-opening",
        file: "crates/secrets/src/redact/patterns.rs",
        find: "let hit = Hit { start, end: end + rest,",
        replace: "let hit = Hit { start, end: end + rest.min(0),",
        tests: &[SECRETS],
    },
    Mutant {
        name: "redact-lines",
        file: "crates/secrets/src/redact/patterns.rs",
        find: "decode::lines(text, |part| {",
        replace: "decode::lines(&[], |part| {",
        tests: &[SECRETS],
    },
    Mutant {
        name: "redact-stream-lines",
        file: "crates/secrets/src/redact/stream.rs",
        find: "if let Some(joined) = decode::join(text) {",
        replace: "if let Some(joined) = decode::join(text).filter(|_| false) {",
        tests: &[SECRETS],
    },
];
