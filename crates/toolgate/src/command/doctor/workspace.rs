//! Whether the folder of the workspace can be used.

use std::path::Path;

use toolgate_host::Standing;

use super::{Finding, State};
use crate::settings::{PackName, Settings};

pub(super) fn look(settings: &Settings) -> Vec<Finding> {
    if !settings.packs.contains(&PackName::Workspace) {
        return vec![Finding::new(State::Note, "off: `packs` leaves it out")];
    }
    let Some(root) = &settings.workspace.root else {
        return vec![
            Finding::new(
                State::Note,
                "no folder is configured: the client's first one is used, else our own",
            )
            .hint("name one with `workspace.root` or `--workspace`"),
        ];
    };
    vec![named_folder(root, "workspace.root")]
}

/// How a folder stands that a person named by a key.
pub(super) fn named_folder(root: &Path, key: &str) -> Finding {
    let name = root.display();
    match Standing::of(root) {
        Standing::Folder(folder) if folder.writable => Finding::new(State::Ok, format!("`{name}`")),
        Standing::Folder(_) => Finding::new(State::Weak, format!("`{name}` can be read but not written"))
            .hint(format!("run as a user who may write it, or name another folder with `{key}`")),
        // It is not made: a typo should not become an empty folder.
        Standing::Missing { .. } => Finding::new(State::Broken, format!("`{name}` does not exist"))
            .hint(format!("make it, or name another folder with `{key}`")),
        Standing::NotAFolder => Finding::new(State::Broken, format!("`{name}` is no folder"))
            .hint(format!("name a folder with `{key}`")),
        Standing::Hidden => Finding::new(State::Broken, format!("`{name}` cannot be looked at"))
            .hint("see who may enter the folders above it"),
    }
}
