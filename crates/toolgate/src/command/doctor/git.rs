//! Whether there is a git.

use super::{Finding, Scene, State};

pub(super) fn look(scene: &Scene) -> Vec<Finding> {
    vec![match scene.program(&["git"]) {
        Some(path) => Finding::new(State::Ok, format!("`{}`", path.display())),
        None => {
            Finding::new(State::Missing, "no `git` on the search path, which the vault and repositories need")
                .hint("install git if you want it")
        }
    }]
}
