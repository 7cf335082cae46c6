//! The sources of a configuration, laid over each other.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::document::Document;
use crate::env::{self, Environment};
use crate::error::ConfigError;
use crate::node::{Table, lay_over, single};
use crate::origin::Origin;
use crate::{file, parse};

/// Gathers the sources of a configuration; later ones win: file, environment, flags.
#[derive(Debug, Default)]
pub struct Loader {
    file: Option<PathBuf>,
    folders: Vec<PathBuf>,
    environment: Environment,
    flags: Vec<(String, Value, String)>,
}

impl Loader {
    /// A loader without any source: its document is all defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads this file, named by `--config`, and no other; that it is missing is an error.
    #[must_use]
    pub fn file(mut self, path: Option<impl Into<PathBuf>>) -> Self {
        self.file = path.map(Into::into);
        self
    }

    /// Looks for a file where none is named: in the working folder, else in the user's configuration folder.
    #[must_use]
    pub fn discover(mut self, working_dir: &Path, user_config_dir: Option<&Path>) -> Self {
        self.folders = std::iter::once(working_dir).chain(user_config_dir).map(Path::to_owned).collect();
        self
    }

    /// Reads the variables that [`env::VARIABLES`] names.
    #[must_use]
    pub fn environment(mut self, environment: &Environment) -> Self {
        self.environment = environment.clone();
        self
    }

    /// Sets a dotted key to what a flag of the command line says, if it says anything.
    #[must_use]
    pub fn flag(mut self, key: &str, value: Option<impl Into<Value>>, flag: &str) -> Self {
        self.flags.extend(value.map(|value| (key.to_owned(), value.into(), flag.to_owned())));
        self
    }

    /// Reads and merges everything.
    ///
    /// # Errors
    /// The file cannot be read, or is not TOML. What is wrong with a value shows when it is read.
    pub fn load(self) -> Result<Document, ConfigError> {
        let (path, mut table) = self.read_file()?;
        lay_over(&mut table, env::overlay(&self.environment));
        for (key, value, flag) in self.flags {
            lay_over(&mut table, single(&key, value, &Origin::Flag(flag)));
        }
        Ok(Document::new(table, path, env::warnings(&self.environment)))
    }

    fn read_file(&self) -> Result<(Option<PathBuf>, Table), ConfigError> {
        let by_flag = self.file.clone().map(|path| (path, Origin::Flag("--config".to_owned())));
        let by_variable = || {
            let path = self.environment.get(env::CONFIG)?;
            Some((PathBuf::from(path), Origin::Variable(env::CONFIG.to_owned())))
        };
        let named = by_flag.or_else(by_variable);
        let (path, asked) = match named {
            Some((path, asked)) => (path, Some(asked)),
            None => match file::find(&self.folders) {
                Some(path) => (path, None),
                None => return Ok((None, Table::new())),
            },
        };
        let text = file::read(&path, asked.as_ref())?;
        let table = parse::parse(&path, &text)?;
        Ok((Some(path), table))
    }
}
