//! Mutants of the vault: what is hidden, what git may run and reach, and what was not changed.

use super::{HOST, Mutant, REMOTE, VAULT, VAULT_GIT};

/// The mutants of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "vault-hidden",
        file: "crates/packs/src/vault.rs",
        find: "if !is_hidden(Path::new(path.as_str())) {",
        replace: "if true || !is_hidden(Path::new(path.as_str())) {",
        tests: &[VAULT],
    },
    Mutant {
        name: "vault-hidden-by-a-link",
        file: "crates/packs/src/vault.rs",
        find: "visible(real, path)",
        replace: "Ok(real)",
        tests: &[VAULT],
    },
    Mutant {
        name: "vault-hidden-write",
        file: "crates/packs/src/vault/write.rs",
        find: "protected: |path: &Path| is_hidden(path),",
        replace: "protected: |path: &Path| false && is_hidden(path),",
        tests: &[VAULT],
    },
    Mutant {
        name: "vault-unchanged",
        file: "crates/packs/src/vault/edit.rs",
        find: "if old.is_some_and(|old| old == new.as_bytes()) {",
        replace: "if false && old.is_some_and(|old| old == new.as_bytes()) {",
        tests: &[VAULT],
    },
    Mutant {
        name: "vault-git-own-configuration",
        file: "crates/packs/src/vault/git/command.rs",
        find: ".variable(\"GIT_DIR\", &places.own)",
        replace: ".variable(\"GIT_DIR\", places.notes.join(\".git\"))",
        tests: &[VAULT_GIT],
    },
    Mutant {
        name: "vault-git-redirects",
        file: "crates/packs/src/vault/git/repository.rs",
        find: "\\tfollowRedirects = false",
        replace: "\\tfollowRedirects = true",
        tests: &[VAULT_GIT],
    },
    Mutant {
        name: "vault-git-address",
        file: "crates/packs/src/vault/git/remote.rs",
        find: "|| text.contains(\"::\")",
        replace: "|| (false && text.contains(\"::\"))",
        tests: &[REMOTE],
    },
    Mutant {
        name: "files-folders-in-protected-places",
        file: "crates/host/src/files/write.rs",
        find: "free(&real_to_be(dir, path.native()))?;",
        replace: "",
        tests: &[HOST],
    },
];
