//! Whether there is an OpenCode.

use super::{Finding, Scene, State};

pub(super) fn look(scene: &Scene) -> Vec<Finding> {
    vec![match scene.program(&["opencode"]) {
        Some(path) => Finding::new(State::Ok, format!("`{}`", path.display())),
        None => Finding::new(State::Missing, "no `opencode` on the search path, which OpenCode tools drive")
            .hint("install OpenCode if you want them"),
    }]
}
