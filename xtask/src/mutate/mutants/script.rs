//! Mutants of scripts: their approval, what they reach, and what holds them.

use super::{CORE, Mutant, SCRIPT};

/// The mutants of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "script-approval",
        file: "crates/script/src/scripts.rs",
        find: "if state != State::Approved {",
        replace: "if false && state != State::Approved {",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-approved-hash",
        file: "crates/script/src/scripts.rs",
        find: "said.word == Word::Approved && said.hash == *hash",
        replace: "said.word == Word::Approved",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-seen",
        file: "crates/script/src/scripts.rs",
        find: "if script.hash != *seen {",
        replace: "if false && script.hash != *seen {",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-code-secrets",
        file: "crates/script/src/scripts.rs",
        find: "script.header.secrets.clear();",
        replace: "",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-secret",
        file: "crates/script/src/desk.rs",
        find: "if !self.script.header.grants_secret(name) {",
        replace: "if false && !self.script.header.grants_secret(name) {",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-host",
        file: "crates/script/src/desk/http.rs",
        find: "if !header.grants_host(&url) {",
        replace: "if false && !header.grants_host(&url) {",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-redirect",
        file: "crates/script/src/desk/http.rs",
        find: "|hop| header.grants_host(hop)",
        replace: "|_| true",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-tool",
        file: "crates/script/src/desk/tool.rs",
        find: "if !self.script.header.grants_tool(name) {",
        replace: "if false && !self.script.header.grants_tool(name) {",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-count",
        file: "crates/script/src/desk.rs",
        find: "fetch_add(1, Ordering::Relaxed) < most",
        replace: "fetch_add(0, Ordering::Relaxed) <= most",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-depth",
        file: "crates/script/src/language.rs",
        find: "if let Some((line, column)) = depth::too_deep(source) {",
        replace: "if let Some((line, column)) = depth::too_deep(source).filter(|_| false) {",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-frame",
        file: "crates/script/src/frame.rs",
        find: "if length > most {",
        replace: "if false && length > most {",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-wall",
        file: "crates/script/src/pool/wall.rs",
        find: "timeout_at(self.until, waited_for)",
        replace: "timeout_at(self.until + std::time::Duration::from_secs(600), waited_for)",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-memory",
        file: "crates/host/src/confine.rs",
        find: "set(Resource::As, memory)",
        replace: "Ok(drop(memory))",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "script-kernel",
        file: "crates/host/src/confine.rs",
        find: "let seccomp = give_up_kernel();",
        replace: "let seccomp = true;",
        tests: &[SCRIPT],
    },
    Mutant {
        name: "nested-limits",
        file: "crates/core/src/hub/admission.rs",
        find: "true => limiter.take_nested(principal, target),",
        replace: "true => Ok(()),",
        tests: &[CORE],
    },
    Mutant {
        name: "nested-search",
        file: "crates/core/src/run/handle.rs",
        find: "via_search: true,",
        replace: "via_search: false,",
        tests: &[CORE],
    },
];
