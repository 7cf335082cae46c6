//! Whether the configuration can be read, and from where it comes.

use toolgate_config::{FILE_NAME, Problem};

use super::{Finding, Scene, State};

pub(super) fn look(scene: &Scene) -> Vec<Finding> {
    let settings = match &scene.settings {
        Ok(settings) => settings,
        Err(error) => return error.problems().iter().map(broken).collect(),
    };
    let first = match &settings.file {
        Some(file) => Finding::new(State::Ok, format!("read from `{}`", file.display())),
        None => Finding::new(State::Note, format!("no `{FILE_NAME}`: the defaults are in force")).hint(
            format!("write a `{FILE_NAME}` in the working folder or in the user's configuration folder"),
        ),
    };
    let warnings = settings.warnings.iter().map(|warning| Finding::new(State::Weak, warning));
    std::iter::once(first).chain(warnings).collect()
}

fn broken(problem: &Problem) -> Finding {
    let origin = problem.origin().map(|origin| format!("{origin}: ")).unwrap_or_default();
    let finding = Finding::new(State::Broken, format!("{origin}{}", problem.message()));
    match problem.suggestion() {
        Some(hint) => finding.hint(hint),
        None => finding,
    }
}
