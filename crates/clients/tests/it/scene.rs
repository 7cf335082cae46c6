//! A client's file in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolgate_clients::{Action, Client, ConfigFile, Local, Plan, Problem, Remote, Server};

/// The name of the entry that tests write.
pub(crate) const NAME: &str = "toolgate";

pub(crate) struct Scene {
    folder: TempDir,
    client: Client,
}

impl Scene {
    /// A client without a file.
    pub(crate) fn empty(client: Client) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), client }
    }

    /// A client with this file.
    pub(crate) fn new(client: Client, content: impl AsRef<[u8]>) -> Self {
        let scene = Self::empty(client);
        fs::write(scene.path(), content).unwrap();
        scene
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    pub(crate) fn content(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    /// The names of all files, in order.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn read(&self) -> Result<ConfigFile, Problem> {
        ConfigFile::read(self.client, &self.path())
    }

    pub(crate) fn plan(&self, server: &Server) -> Plan {
        self.read().unwrap().set(NAME, server).unwrap().unwrap()
    }

    /// Writes our entry.
    #[track_caller]
    pub(crate) fn set(&self, server: &Server) -> Action {
        let plan = self.plan(server);
        plan.apply().unwrap();
        assert_eq!(fs::read(self.path()).unwrap(), plan.after());
        plan.action()
    }

    /// Takes it back.
    #[track_caller]
    pub(crate) fn undo(&self) -> Action {
        let plan = self.read().unwrap().undo(NAME).unwrap();
        plan.apply().unwrap();
        plan.action()
    }
}

/// A server that a client starts.
pub(crate) fn local() -> Server {
    Server::Local(Local { command: "/bin/toolgate".into(), args: vec!["serve".into()], ..Local::default() })
}

/// The same with a variable.
pub(crate) fn lean() -> Server {
    let env = [("TOOLGATE_PACKS".to_owned(), "workspace".to_owned())].into();
    Server::Local(Local { command: "/bin/toolgate".into(), args: vec!["serve".into()], env })
}

/// A server that runs elsewhere.
pub(crate) fn remote() -> Server {
    Server::Remote(Remote::http("http://127.0.0.1:3000/mcp"))
}
