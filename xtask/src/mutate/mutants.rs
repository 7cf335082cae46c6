//! The table of mutants: each is one guard of the product, replaced by a pass-through.

mod admin;
mod approvals;
mod edge;
mod filters;
mod identity;
mod opencode;
mod outbound;
mod pipeline;
mod policy;
mod script;
mod vault;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// The tests of each package: all of them, or those that try what is mutated where the others take long.
const ADMIN: &str = "-p toolgate-admin --test it";
const ADMIN_LIB: &str = "-p toolgate-admin --lib";
const AUDIT: &str = "-p toolgate-audit --test it -- anchors:: calls:: tampering::";
const CALENDAR: &str = "-p toolgate-packs --test it -- calendar::feeds::";
const CHAT: &str = "-p toolgate-packs --test it -- chat::nobody";
const CORE: &str = "-p toolgate-core --test it";
const CONTROL: &str = "-p toolgate-front --test it -- control::";
const GITHUB: &str = "-p toolgate-packs --test it -- github::only";
const GUARD: &str = "-p toolgate --test it -- http::guard";
const HOST: &str = "-p toolgate-host --test it";
const IDENTITY: &str = "-p toolgate-identity --test it";
const OPENCODE: &str = "-p toolgate-opencode --lib";
const OPENCODE_FILE: &str = "-p toolgate-config --test it -- opencode::";
const PAGES: &str = "-p toolgate-front --test it -- pages::";
const POLICY: &str = "-p toolgate-policy --test it";
const POLICY_LIB: &str = "-p toolgate-policy --lib -- pins::";
const REACH: &str = "-p toolgate-host --lib -- outbound::reach";
const REMOTE: &str = "-p toolgate-packs --lib -- vault::git::remote";
const SCRIPT: &str = "-p toolgate-script --lib --test it";
const SECRETS: &str = "-p toolgate-secrets --test it";
const URIS: &str = "-p toolgate-front --test it -- uris::";
const VAULT: &str = "-p toolgate-packs --test it -- vault::";
const VAULT_GIT: &str = "-p toolgate-packs --test it -- vault_git::";
const WEB: &str = "-p toolgate-packs --test it -- web::";
const WORKSPACE: &str = "-p toolgate-packs --test it -- workspace_write::";

/// One guard, replaced by a pass-through.
pub(super) struct Mutant {
    /// Its name.
    pub(super) name: &'static str,
    /// The file it is in.
    pub(super) file: &'static str,
    /// The text of the guard, which is there exactly once.
    pub(super) find: &'static str,
    /// What takes its place.
    pub(super) replace: &'static str,
    /// The tests that must notice: words for `cargo test`, and behind ` -- ` for the test programs.
    pub(super) tests: &'static [&'static str],
}

/// All mutants.
pub(super) fn all() -> impl Iterator<Item = &'static Mutant> {
    [
        policy::MUTANTS,
        pipeline::MUTANTS,
        filters::MUTANTS,
        approvals::MUTANTS,
        identity::MUTANTS,
        edge::MUTANTS,
        outbound::MUTANTS,
        opencode::MUTANTS,
        vault::MUTANTS,
        script::MUTANTS,
        admin::MUTANTS,
    ]
    .into_iter()
    .flatten()
}

impl Mutant {
    /// What its file says with the mutant in it. A guard that was rewritten needs a mutant that was, too.
    pub(super) fn applied(&self, root: &Path) -> Result<String> {
        let Self { name, file, find, replace, .. } = self;
        let text = fs::read_to_string(root.join(file))
            .with_context(|| format!("the mutant `{name}` is for `{file}`, which cannot be read"))?;
        match text.matches(find).count() {
            1 => Ok(text.replacen(find, replace, 1)),
            count => {
                bail!("what the mutant `{name}` replaces is {count} times in `{file}`, not once:\n{find}")
            }
        }
    }
}
