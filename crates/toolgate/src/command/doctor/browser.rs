//! Whether there is a browser.

use super::{Finding, Scene, State};

/// The lighter ones first.
const NAMES: &[&str] = &["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

pub(super) fn look(scene: &Scene) -> Vec<Finding> {
    vec![match scene.program(NAMES) {
        Some(path) => Finding::new(State::Ok, format!("`{}`", path.display())),
        None => Finding::new(State::Missing, "no Chromium on the search path, which browser tools drive")
            .hint("install `chromium` if you want them"),
    }]
}
