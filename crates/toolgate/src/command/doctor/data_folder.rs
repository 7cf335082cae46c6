//! Whether the data folder can be used, and by us only.

use std::path::Path;

use toolgate_host::{FolderState, Standing};

use super::{Finding, State};
use crate::settings::Settings;

pub(super) fn look(settings: &Settings) -> Vec<Finding> {
    own_folder(&settings.data_dir, "data_dir")
}

/// What there is to say of a folder that is ours alone, and that `key` configures.
pub(super) fn own_folder(path: &Path, key: &str) -> Vec<Finding> {
    let name = path.display();
    let finding = match Standing::of(path) {
        Standing::Folder(folder) => return of_folder(path, key, folder),
        Standing::Missing { makeable: true } => {
            Finding::new(State::Ok, format!("`{name}` is made when it is first needed"))
        }
        Standing::Missing { makeable: false } => {
            Finding::new(State::Broken, format!("`{name}` does not exist and cannot be made"))
                .hint(format!("make it, or name another folder with `{key}`"))
        }
        Standing::NotAFolder => Finding::new(State::Broken, format!("`{name}` is no folder"))
            .hint(format!("move it out of the way, or name another folder with `{key}`")),
        Standing::Hidden => Finding::new(State::Broken, format!("`{name}` cannot be looked at"))
            .hint("see who may enter the folders above it"),
    };
    vec![finding]
}

fn of_folder(path: &Path, key: &str, folder: FolderState) -> Vec<Finding> {
    let name = path.display();
    let mut findings = Vec::new();
    if !folder.writable {
        findings.push(
            Finding::new(State::Broken, format!("`{name}` cannot be written"))
                .hint(format!("run `chmod u+rwx {name}`, or name another folder with `{key}`")),
        );
    }
    if !folder.ours {
        findings.push(
            Finding::new(
                State::Weak,
                format!("`{name}` belongs to another user, who can change what is in it"),
            )
            .hint(format!("name a folder of your own with `{key}`")),
        );
    }
    if folder.mode & 0o077 != 0 {
        let message = format!("`{name}` is open to other users (mode {:04o})", folder.mode);
        findings.push(Finding::new(State::Weak, message).hint(format!("run `chmod 700 {name}`")));
    }
    if findings.is_empty() {
        findings.push(Finding::new(State::Ok, format!("`{name}` is ours alone")));
    }
    findings
}
