//! Mutants of who may use the admin API.

use super::{ADMIN, ADMIN_LIB, Mutant};

/// The mutants of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "admin-role",
        file: "crates/admin/src/admin.rs",
        find: "if login.role < role {",
        replace: "if false && login.role < role {",
        tests: &[ADMIN],
    },
    Mutant {
        name: "admin-csrf",
        file: "crates/admin/src/admin.rs",
        find: "if !route.is_safe() && !login.is_csrf(csrf) {",
        replace: "if false && !login.is_csrf(csrf) {",
        tests: &[ADMIN],
    },
    Mutant {
        name: "admin-csrf-before-login",
        file: "crates/admin/src/admin.rs",
        find: "if !route.is_safe() && csrf.is_empty() {",
        replace: "if false && csrf.is_empty() {",
        tests: &[ADMIN],
    },
    Mutant {
        name: "admin-host",
        file: "crates/admin/src/access/guard.rs",
        find: "!(local || self.hosts.iter().any(|known| is(known)))",
        replace: "false",
        tests: &[ADMIN, ADMIN_LIB],
    },
    Mutant {
        name: "admin-tls",
        file: "crates/admin/src/access/guard.rs",
        find: "if !(secure || near || self.plain_http) {",
        replace: "if false && !(secure || near || self.plain_http) {",
        tests: &[ADMIN_LIB],
    },
    Mutant {
        name: "admin-origin",
        file: "crates/admin/src/access/guard.rs",
        find: "own_page(request, &way)?;",
        replace: "",
        tests: &[ADMIN, ADMIN_LIB],
    },
    Mutant {
        name: "admin-throttle",
        file: "crates/admin/src/access/throttle.rs",
        find: "waits.max().filter(|wait| !wait.is_zero())",
        replace: "waits.max().filter(|_| false)",
        tests: &[ADMIN, ADMIN_LIB],
    },
    Mutant {
        name: "admin-password",
        file: "crates/admin/src/access/password.rs",
        find: "Ok(bool::from(hash.as_slice().ct_eq(&kept)))",
        replace: "Ok(true || bool::from(hash.as_slice().ct_eq(&kept)))",
        tests: &[ADMIN, ADMIN_LIB],
    },
    Mutant {
        name: "admin-link-once",
        file: "crates/admin/src/access/links.rs",
        find: "self.put(new, Some(used), passwords).await",
        replace: "self.put(new, Some(used).filter(|_| false), passwords).await",
        tests: &[ADMIN],
    },
    Mutant {
        name: "admin-link-first",
        file: "crates/admin/src/access/links.rs",
        find: "if record.first && self.any().await? {",
        replace: "if false && record.first && self.any().await? {",
        tests: &[ADMIN],
    },
    Mutant {
        name: "admin-generation",
        file: "crates/admin/src/access/logins.rs",
        find: "account.filter(|(_, account)| account.generation == record.generation)",
        replace: "account.filter(|_| true)",
        tests: &[ADMIN],
    },
    Mutant {
        name: "admin-last",
        file: "crates/admin/src/access/accounts.rs",
        find: "writes.push(self.holding_another_admin(name).await?);",
        replace: "self.holding_another_admin(name).await?;",
        tests: &[ADMIN],
    },
    Mutant {
        name: "admin-filter",
        file: "crates/admin/src/route/output.rs",
        find: "admin.hub.filtered(Raw::of(value))?",
        replace: "{ let _ = &admin; Raw::of(value) }",
        tests: &[ADMIN],
    },
    Mutant {
        name: "admin-script-whole",
        file: "crates/admin/src/api/scripts.rs",
        find: "&& !is_shown_whole(&ask, &there.source)?",
        replace: "&& false && !is_shown_whole(&ask, &there.source)?",
        tests: &[ADMIN],
    },
];
