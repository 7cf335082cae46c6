//! Where settings come from: files, environment and flags.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use toolgate_config::{
    ConfigError, Document, Environment, Loader, data_dir, opencode_config_dir, process_environment,
    user_config_dir,
};
use toolgate_packs::calendar::feed_key;

use super::Settings;
use crate::cli::{Cli, Command};

/// Where settings come from. They can be read again and again; environment and flags stay what they are.
#[derive(Clone)]
pub(crate) struct Sources {
    loader: Loader,
    environment: Environment,
}

/// Settings, and the document that says where each comes from.
pub(crate) struct Loaded {
    pub(crate) settings: Settings,
    pub(crate) document: Document,
}

impl Sources {
    /// As the command line says.
    pub(crate) fn of(cli: &Cli) -> anyhow::Result<Self> {
        let environment = process_environment();
        let here = std::env::current_dir().context("the working folder cannot be read")?;
        let mut loader = Loader::new()
            .file(cli.global.config.clone())
            .discover(&here, user_config_dir(&environment).as_deref())
            .opencode(&here, opencode_config_dir(&environment).as_deref())
            .environment(&environment)
            .flag("log.level", cli.global.log_level.map(|level| level.as_str()), "--log-level")
            .flag(
                "workspace.root",
                cli.global.workspace.as_ref().map(|dir| dir.to_string_lossy()),
                "--workspace",
            );
        if let Command::Serve(serve) = &cli.command {
            loader = loader
                .flag("transport", serve.http.then_some("http"), "--http")
                .flag("http.bind", serve.host.clone(), "--host")
                .flag("http.port", serve.port, "--port");
        }
        Ok(Self { loader, environment })
    }

    /// Reads everything.
    pub(crate) fn load(&self) -> Result<Loaded, ConfigError> {
        let document = self.loader.load()?;
        let mut settings = document.read(Settings::read)?;
        settings.file = document.file().map(Into::into);
        settings.looked_for = document.looked_for().to_vec();
        settings.warnings = document.warnings().iter().map(ToString::to_string).collect();
        if settings.data_dir.as_os_str().is_empty() {
            settings.data_dir = data_dir(&self.environment)?;
        }
        settings.data_dir = document.resolve("data_dir", &settings.data_dir);
        for (key, root) in [
            ("workspace.root", &mut settings.workspace.root),
            ("memory.root", &mut settings.memory.root),
            ("vault.root", &mut settings.vault.root),
            ("opencode.default_project", &mut settings.opencode.default_project),
            ("opencode.config_path", &mut settings.opencode.config_path),
            ("opencode.program", &mut settings.opencode.program),
            ("scripts.dir", &mut settings.scripts.dir),
            ("browser.program", &mut settings.browser.program),
            ("browser.uploads", &mut settings.browser.uploads),
        ] {
            *root = root.take().map(|path| document.resolve(key, &path));
        }
        for (name, feed) in &mut settings.calendar.feeds {
            let key = format!("{}.file", feed_key(name));
            feed.file = feed.file.take().map(|path| document.resolve(&key, &path));
        }
        for (name, table) in &mut settings.mcp {
            let key = format!("mcp.{name}.cwd");
            let folder = table.cwd.take().map(|path| document.resolve(&key, path.as_ref()));
            table.cwd = folder.map(|path| path.to_string_lossy().into_owned());
        }
        Ok(Loaded { settings, document })
    }

    /// The data folder, as far as it can be told where something else is wrong with the configuration.
    pub(crate) fn data_dir(&self) -> Option<PathBuf> {
        let document = self.loader.load().ok();
        let written = document.as_ref().and_then(|document| {
            document.text("data_dir").map(|path| document.resolve("data_dir", Path::new(path)))
        });
        written.or_else(|| data_dir(&self.environment).ok())
    }

    /// The file that is read, or that is to be written: the one that is named or found, else the user's.
    pub(crate) fn own_file(&self) -> Option<PathBuf> {
        let users =
            || user_config_dir(&self.environment).map(|folder| folder.join(toolgate_config::FILE_NAME));
        self.loader.own_file().or_else(users)
    }

    /// The user's file, if there is one that another file would now hide.
    pub(crate) fn users_file(&self) -> Option<PathBuf> {
        let path = user_config_dir(&self.environment)?.join(toolgate_config::FILE_NAME);
        path.exists().then_some(path)
    }
}

/// Reads a file alone; `text` is what it would hold, if it is not to be read.
pub(crate) fn check(path: &Path, text: Option<&str>) -> Result<Settings, ConfigError> {
    let loader = Loader::new().only(path);
    let loader = text.map_or(loader.clone(), |text| loader.text(text));
    loader.load()?.read(Settings::read)
}
