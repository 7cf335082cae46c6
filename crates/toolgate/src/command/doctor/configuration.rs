//! Whether the configuration can be read, and from where it comes.

use std::path::Path;

use toolgate_config::{FILE_NAME, Problem};

use super::{Finding, Scene, State};
use crate::settings::Settings;

pub(super) fn look(scene: &Scene) -> Vec<Finding> {
    let settings = match &scene.settings {
        Ok(settings) => settings,
        Err(error) => return error.problems().iter().map(broken).collect(),
    };
    let first = match &settings.file {
        Some(file) => Finding::new(State::Ok, format!("read from `{}`", file.display())),
        None => Finding::new(State::Note, format!("no `{FILE_NAME}`: the defaults are in force"))
            .hint("run `toolgate config init` to write one"),
    };
    let open = settings.file.as_deref().filter(|file| is_in_reach(file, settings)).map(|file| {
        Finding::new(
            State::Weak,
            format!("`{}` lies in the workspace, where tools can change it", file.display()),
        )
        .hint("move it to the user's configuration folder, and start where there is none")
    });
    let warnings = settings.warnings.iter().map(|warning| Finding::new(State::Weak, warning));
    std::iter::once(first).chain(open).chain(warnings).collect()
}

/// Whether the tools could write the configuration that governs them.
fn is_in_reach(file: &Path, settings: &Settings) -> bool {
    let root = settings.workspace.root.as_deref().and_then(|root| root.canonicalize().ok());
    let file = file.canonicalize().ok();
    root.zip(file).is_some_and(|(root, file)| file.starts_with(root))
}

fn broken(problem: &Problem) -> Finding {
    let origin = problem.origin().map(|origin| format!("{origin}: ")).unwrap_or_default();
    let finding = Finding::new(State::Broken, format!("{origin}{}", problem.message()));
    match problem.suggestion() {
        Some(hint) => finding.hint(hint),
        None => finding,
    }
}
