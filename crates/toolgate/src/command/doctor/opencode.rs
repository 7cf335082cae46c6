//! Whether there is an OpenCode.

use toolgate_config::process_environment;
use toolgate_opencode::{Surroundings, installed, shown_address};

use super::{Finding, State};
use crate::settings::{PackName, Settings};

pub(super) fn look(settings: &Settings) -> Vec<Finding> {
    let config = &settings.opencode;
    if !settings.packs.contains(&PackName::Opencode) {
        return vec![Finding::new(State::Note, "off: `packs` leaves it out")];
    }
    if let Some(url) = &config.server_url {
        return vec![Finding::new(State::Ok, format!("the server at `{}`", shown_address(url)))];
    }
    if !config.auto_start {
        let words = format!("only one that answers at `{}`", Surroundings::USUAL_URL);
        let hint = "set `opencode.auto_start` to true to have one started";
        return vec![Finding::new(State::Note, words).hint(hint)];
    }
    let environment = process_environment();
    let program = installed(config, |name| environment.get(name).map(Into::into));
    vec![match program.filter(|path| path.is_file()) {
        Some(path) => Finding::new(State::Ok, format!("`{}`", path.display())),
        None => Finding::new(State::Missing, "no `opencode` on the search path, which OpenCode tools drive")
            .hint("install OpenCode if you want them: `npm install -g opencode-ai`"),
    }]
}
