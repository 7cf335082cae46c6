//! `toolgate doctor`: what is configured, found, missing or weaker than it could be, each with the next step.
//!
//! It only looks: it makes no folder, starts no program, and speaks to nothing but the configured address, and to the
//! store where the configuration refers to secrets.

mod admin;
mod browser;
mod configuration;
mod data_folder;
mod files;
mod git;
mod http;
mod memory;
mod opencode;
mod packs;
mod platform;
mod report;
mod sandbox;
mod scripts;
mod watches;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use toolgate_config::{ConfigError, Environment, env, process_environment};
use toolgate_host::find_program;

use crate::cli::Cli;
use crate::exit;
use crate::settings::{self, Settings};

/// How something stands, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// Works, but could be stronger.
    Weak,
    /// Not there; what needs it cannot be used.
    Missing,
    /// Has to be mended before Toolgate works as it is configured.
    Broken,
}

/// How one thing stands, and what to do about it.
#[derive(Debug, Serialize)]
struct Finding {
    state: State,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Finding {
    fn new(state: State, message: impl Into<String>) -> Self {
        Self { state, message: message.into(), hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// What the checks look at.
struct Scene {
    environment: Environment,
    settings: Result<Settings, ConfigError>,
}

impl Scene {
    /// The first of these programs that is there.
    fn program(&self, names: &[&str]) -> Option<PathBuf> {
        let path = self.environment.get(env::PATH)?;
        names.iter().find_map(|name| find_program(path, name))
    }
}

/// One thing to look at.
struct Check {
    name: &'static str,
    look: Look,
}

enum Look {
    /// It needs settings, and says nothing where they are broken.
    Settings(fn(&Settings) -> Vec<Finding>),
    /// It needs none.
    Always(fn(&Scene) -> Vec<Finding>),
}

/// Everything that is looked at, in this order.
const CHECKS: &[Check] = &[
    Check { name: "configuration", look: Look::Always(configuration::look) },
    Check { name: "data folder", look: Look::Settings(data_folder::look) },
    Check { name: "workspace", look: Look::Settings(workspace::look) },
    Check { name: "memory", look: Look::Settings(memory::look) },
    Check { name: "vault", look: Look::Settings(packs::vault) },
    Check { name: "web", look: Look::Settings(packs::web) },
    Check { name: "chat", look: Look::Settings(packs::chat) },
    Check { name: "calendar", look: Look::Settings(packs::calendar) },
    Check { name: "github", look: Look::Settings(packs::github) },
    Check { name: "scripts", look: Look::Settings(scripts::look) },
    Check { name: "http", look: Look::Settings(http::look) },
    Check { name: "admin", look: Look::Settings(admin::look) },
    Check { name: "browser", look: Look::Settings(browser::look) },
    Check { name: "opencode", look: Look::Settings(opencode::look) },
    Check { name: "git", look: Look::Always(git::look) },
    Check { name: "platform", look: Look::Always(platform::look) },
    Check { name: "files", look: Look::Always(files::look) },
    Check { name: "sandbox", look: Look::Always(sandbox::look) },
    Check { name: "watches", look: Look::Always(watches::look) },
];

impl Check {
    fn findings(&self, scene: &Scene) -> Vec<Finding> {
        match (&self.look, &scene.settings) {
            (Look::Always(look), _) => look(scene),
            (Look::Settings(look), Ok(settings)) => look(settings),
            (Look::Settings(_), Err(_)) => {
                vec![Finding::new(State::Note, "not looked at, because the configuration is broken")]
            }
        }
    }
}

/// Looks at everything.
pub(crate) fn run(cli: &Cli, json: bool) -> anyhow::Result<ExitCode> {
    let settings = match settings::load(cli) {
        Ok(settings) => Ok(settings),
        // Anything else is no matter of what was configured: there is no working folder, for instance.
        Err(error) => Err(error.downcast::<ConfigError>()?),
    };
    let scene = Scene { environment: process_environment(), settings };
    let found: Vec<(&str, Finding)> = CHECKS
        .iter()
        .flat_map(|check| check.findings(&scene).into_iter().map(|finding| (check.name, finding)))
        .collect();
    report::print(&found, json)?;
    let broken = found.iter().any(|(_, finding)| finding.state == State::Broken);
    Ok(ExitCode::from(match (scene.settings.is_err(), broken) {
        (true, _) => exit::USAGE,
        (false, true) => exit::FAILED,
        (false, false) => 0,
    }))
}
