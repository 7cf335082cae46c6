//! Mutants of what OpenCode's tools may reach and write, and of what is shown of it.

use super::{Mutant, OPENCODE, OPENCODE_FILE, WORKSPACE};

/// The mutants of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "opencode-own-project",
        file: "crates/opencode/src/directory.rs",
        find: "if self.path.starts_with(root) {",
        replace: "if true || self.path.starts_with(root) {",
        tests: &[OPENCODE],
    },
    Mutant {
        name: "opencode-file-in-settings",
        file: "crates/opencode/src/settings/plain.rs",
        find: "if words.to_ascii_lowercase().contains(\"{file:\") {",
        replace: "if false {",
        tests: &[OPENCODE],
    },
    Mutant {
        name: "opencode-variable-in-settings",
        file: "crates/opencode/src/settings/plain.rs",
        find: "if holds_variable(words) && !may_name {",
        replace: "if false && !may_name {",
        tests: &[OPENCODE],
    },
    Mutant {
        name: "opencode-telling-name",
        file: "crates/opencode/src/hidden.rs",
        find: "Value::String(_) if is_telling => HIDDEN.into(),",
        replace: "",
        tests: &[OPENCODE],
    },
    Mutant {
        name: "opencode-server-elsewhere",
        file: "crates/config/src/opencode.rs",
        find: "if !is_here(&host) => {",
        replace: "if false && !is_here(&host) => {",
        tests: &[OPENCODE_FILE],
    },
    Mutant {
        name: "workspace-own-file",
        file: "crates/packs/src/workspace/write.rs",
        find: "own == place.join(real.as_str())",
        replace: "false && own == place.join(real.as_str())",
        tests: &[WORKSPACE],
    },
];
