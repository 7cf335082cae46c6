//! Whether there is a browser.

use toolgate_browser::installed;
use toolgate_config::process_environment;

use super::{Finding, State};
use crate::settings::{PackName, Settings};

pub(super) fn look(settings: &Settings) -> Vec<Finding> {
    if !settings.packs.contains(&PackName::Browser) {
        return vec![Finding::new(State::Note, "off: `packs` leaves it out")];
    }
    let environment = process_environment();
    let program = installed(&settings.browser, |name| environment.get(name).map(Into::into));
    vec![match program {
        Some(path) if path.is_file() => Finding::new(State::Ok, format!("`{}`", path.display())),
        Some(path) => Finding::new(State::Missing, format!("there is no `{}`", path.display()))
            .hint("set `browser.program` to a Chromium"),
        None => Finding::new(State::Missing, "no Chromium on the search path, which browser tools drive")
            .hint("install `chromium` if you want them"),
    }]
}
