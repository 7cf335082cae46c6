//! Mutants of what stands around the hub: HTTP, the audit, the confined root.

use super::{AUDIT, GUARD, HOST, Mutant, URIS};

/// The mutants of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "guard-host",
        file: "crates/front/src/http/guard.rs",
        find: "if self.hosts.as_ref().is_some_and(",
        replace: "if false && self.hosts.as_ref().is_some_and(",
        tests: &[GUARD],
    },
    Mutant {
        name: "guard-origin",
        file: "crates/front/src/http/guard.rs",
        find: "Some(origin) if !self.knows_origin(origin, host) => {",
        replace: "Some(origin) if false && !self.knows_origin(origin, host) => {",
        tests: &[GUARD],
    },
    Mutant {
        name: "guard-token",
        file: "crates/front/src/http/guard.rs",
        find: "return if self.needs_token() {",
        replace: "return if false && self.needs_token() {",
        tests: &[GUARD],
    },
    Mutant {
        name: "uris-controls",
        file: "crates/front/src/asked.rs",
        find: "} else if uri.contains(|c: char| c.is_ascii_control()) {",
        replace: "} else if uri.contains(|c: char| false && c.is_ascii_control()) {",
        tests: &[URIS],
    },
    Mutant {
        name: "audit-hash",
        file: "crates/audit/src/record.rs",
        find: "stated.is_some_and(|stated| stated == hash(open))",
        replace: "stated.is_some_and(|stated| true || stated == hash(open))",
        tests: &[AUDIT],
    },
    Mutant {
        name: "audit-link",
        file: "crates/audit/src/verify/strand.rs",
        find: "if before.head != prev {",
        replace: "if false && before.head != prev {",
        tests: &[AUDIT],
    },
    Mutant {
        name: "audit-link-behind",
        file: "crates/audit/src/verify/strand.rs",
        find: "if behind.prev != hash {",
        replace: "if false && behind.prev != hash {",
        tests: &[AUDIT],
    },
    Mutant {
        name: "audit-genesis",
        file: "crates/audit/src/verify/strand.rs",
        find: "if seq == 1 && self.genesis != prev {",
        replace: "if false && seq == 1 && self.genesis != prev {",
        tests: &[AUDIT],
    },
    Mutant {
        name: "audit-hole",
        file: "crates/audit/src/verify/strand.rs",
        find: "for pair in runs.windows(2) {",
        replace: "for pair in runs.windows(2).take(0) {",
        tests: &[AUDIT],
    },
    Mutant {
        name: "audit-beginning",
        file: "crates/audit/src/verify/strand.rs",
        find: "match kept.filter(|kept| *first <= kept.first) {",
        replace: "match kept.or(Some(Kept { first: 0, on_ms: 0 })) {",
        tests: &[AUDIT],
    },
    Mutant {
        name: "files-parent",
        file: "crates/host/src/files/path.rs",
        find: r#"if name == ".." {"#,
        replace: r#"if false && name == ".." {"#,
        tests: &[HOST],
    },
    Mutant {
        name: "files-mount",
        file: "crates/host/src/files/path.rs",
        find: "if rest.is_empty() || rest.starts_with('/') { Ok(rest) }",
        replace: "if true || rest.is_empty() || rest.starts_with('/') { Ok(rest) }",
        tests: &[HOST],
    },
];
