//! The user's folders, as the XDG base directory specification places them.

use std::path::PathBuf;

use crate::env::{self, Environment};
use crate::error::{ConfigError, Problem};

/// Our folder within each of the user's.
const NAME: &str = "toolgate";

/// Where the user's `toolgate.toml` is looked for; none for a user without a home.
#[must_use]
pub fn user_config_dir(environment: &Environment) -> Option<PathBuf> {
    base(environment, env::XDG_CONFIG_HOME, ".config", NAME)
}

/// Where OpenCode keeps the user's configuration; none for a user without a home.
#[must_use]
pub fn opencode_config_dir(environment: &Environment) -> Option<PathBuf> {
    base(environment, env::XDG_CONFIG_HOME, ".config", "opencode")
}

/// Where everything that outlives the process is kept, unless the configuration says otherwise.
///
/// # Errors
/// The environment names no folder: neither a data folder nor a home.
pub fn data_dir(environment: &Environment) -> Result<PathBuf, ConfigError> {
    if let Some(path) = environment.get(env::DATA_DIR) {
        return Ok(path.into());
    }
    base(environment, env::XDG_DATA_HOME, ".local/share", NAME).ok_or_else(|| {
        let message = format!("there is no folder for data: `{}` is not set", env::HOME);
        Problem::new(None, message).hint(format!("set `{}` to a folder", env::DATA_DIR)).into()
    })
}

/// A relative path is invalid there, says the specification, and is passed over.
fn base(environment: &Environment, variable: &str, below_home: &str, name: &str) -> Option<PathBuf> {
    let absolute = |name| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute(variable).or_else(|| Some(absolute(env::HOME)?.join(below_home)))?;
    Some(folder.join(name))
}
