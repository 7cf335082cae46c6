//! The sources of a configuration, laid over each other.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::document::{Document, Files};
use crate::env::{self, Environment};
use crate::error::ConfigError;
use crate::node::{Table, lay_over, single};
use crate::origin::Origin;
use crate::{file, opencode, parse};

/// Where OpenCode's file is.
const CONFIG_PATH: &str = "opencode.config_path";

/// Gathers the sources of a configuration; later ones win: OpenCode's file, ours, environment,
/// flags.
#[derive(Debug, Clone, Default)]
pub struct Loader {
    file: Option<(PathBuf, Option<Origin>)>,
    text: Option<String>,
    folders: Vec<PathBuf>,
    opencode: Vec<PathBuf>,
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
        self.file = path.map(|path| (path.into(), Some(Origin::Flag("--config".to_owned()))));
        self
    }

    /// Reads this file and no other; that it is missing is an error.
    #[must_use]
    pub fn only(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some((path.into(), None));
        self
    }

    /// Takes this text for what the named file holds, to see what it would mean.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Looks for a file where none is named: in the working folder, else in the user's configuration folder.
    #[must_use]
    pub fn discover(mut self, working_dir: &Path, user_config_dir: Option<&Path>) -> Self {
        self.folders = std::iter::once(working_dir).chain(user_config_dir).map(Path::to_owned).collect();
        self
    }

    /// Looks for OpenCode's file where `opencode.config_path` names none: in the working folder, else in
    /// OpenCode's configuration folder.
    #[must_use]
    pub fn opencode(mut self, working_dir: &Path, opencode_config_dir: Option<&Path>) -> Self {
        self.opencode = std::iter::once(working_dir).chain(opencode_config_dir).map(Path::to_owned).collect();
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
    pub fn load(&self) -> Result<Document, ConfigError> {
        let mut files = Files::default();
        let mut table = self.read_file(&mut files)?;
        lay_over(&mut table, env::overlay(&self.environment));
        for (key, value, flag) in &self.flags {
            lay_over(&mut table, single(key, value.clone(), &Origin::Flag(flag.clone())));
        }
        let mut document = Document::new(table, env::warnings(&self.environment));
        self.add_opencode(&mut document, &mut files);
        document.files = files;
        Ok(document)
    }

    /// The file that is read, or would be if it were there: the one that is named, else the one that is
    /// found.
    #[must_use]
    pub fn own_file(&self) -> Option<PathBuf> {
        self.named().map(|(path, _)| path).or_else(|| file::find(&self.folders))
    }

    /// The file that is named, and by what.
    fn named(&self) -> Option<(PathBuf, Option<Origin>)> {
        self.file.clone().or_else(|| {
            let path = self.environment.get(env::CONFIG)?;
            Some((PathBuf::from(path), Some(Origin::Variable(env::CONFIG.to_owned()))))
        })
    }

    fn read_file(&self, files: &mut Files) -> Result<Table, ConfigError> {
        let (path, asked) = match self.named() {
            Some((path, asked)) => {
                files.looked_for.push(path.clone());
                (path, asked)
            }
            None => {
                files.looked_for.extend(self.folders.iter().map(|folder| folder.join(file::FILE_NAME)));
                match file::find(&self.folders) {
                    Some(path) => (path, None),
                    None => return Ok(Table::new()),
                }
            }
        };
        let text = match &self.text {
            Some(text) => text.clone(),
            None => file::read(&path, asked.as_ref())?,
        };
        let table = parse::parse(&path, &text)?;
        files.own = Some(path);
        Ok(table)
    }

    /// Puts what OpenCode's file says below what is configured so far.
    fn add_opencode(&self, document: &mut Document, files: &mut Files) {
        let named = document.text(CONFIG_PATH).map(|path| document.resolve(CONFIG_PATH, Path::new(path)));
        let asked = named.is_some().then(|| document.origin(CONFIG_PATH));
        let places = named.clone().map_or_else(|| opencode::places(&self.opencode), |path| vec![path]);
        files.opencode = named.or_else(|| opencode::find(&places));
        files.looked_for.extend(places);
        if let Some(path) = &files.opencode {
            let (table, odd) = opencode::read(path, asked.as_ref());
            document.lay_under(table, odd);
        }
    }
}
