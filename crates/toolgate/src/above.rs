//! The hubs in front of this one: each has this one among its servers, or a hub that has.

use std::fs::canonicalize;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toolgate_config::{Environment, env};
use toolgate_upstream::UpstreamConfig;

use crate::settings::Settings;

/// How many hubs may stand in a row: what goes in a circle by no file that we know would start programs without end.
const MOST_IN_A_ROW: usize = 4;

/// The hubs in front of this one, the first of them first.
pub(crate) struct Above(Vec<Place>);

/// What a hub reads, and where it keeps things.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    /// Its configuration file; empty without one.
    file: String,
    folder: String,
}

impl Place {
    fn of(settings: &Settings) -> Self {
        let file = settings.file.as_deref().map(name).unwrap_or_default();
        Self { file, folder: name(&settings.data_dir) }
    }
}

impl Above {
    /// As the hub right in front of this one tells; none where nobody does.
    pub(crate) fn of(environment: &Environment) -> Self {
        let told = environment.get(env::ABOVE).and_then(|all| serde_json::from_str(all).ok());
        Self(told.unwrap_or_default())
    }

    /// Why a hub with these settings starts no servers, if it does not.
    pub(crate) fn forbids_servers(&self, settings: &Settings) -> Option<String> {
        let Place { file, .. } = Place::of(settings);
        if !file.is_empty() && self.0.iter().any(|hub| hub.file == file) {
            return Some(format!("a hub in front of this one has those of `{file}`"));
        }
        (self.0.len() >= MOST_IN_A_ROW).then(|| format!("{MOST_IN_A_ROW} hubs in a row look like a circle"))
    }

    /// Whether one of them is on this data folder: then commands ask that one, and clients attach to it.
    pub(crate) fn is_on(&self, folder: &Path) -> bool {
        let folder = name(folder);
        self.0.iter().any(|hub| hub.folder == folder)
    }

    /// Has a program told what is in front of it: these hubs, and one with these settings.
    pub(crate) fn tell(&self, settings: &Settings, table: &mut UpstreamConfig) {
        if table.command.is_some() {
            table.env.insert(env::ABOVE.into(), self.with(settings));
        }
    }

    fn with(&self, settings: &Settings) -> String {
        let mut all = self.0.clone();
        all.push(Place::of(settings));
        serde_json::json!(all).to_string()
    }
}

/// The same name for a file or a folder, however one comes to it.
pub(crate) fn name(path: &Path) -> String {
    canonicalize(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(file: Option<&Path>) -> Settings {
        Settings { file: file.map(Into::into), data_dir: "/no/data".into(), ..Settings::default() }
    }

    fn told(told: impl Into<String>) -> Above {
        Above::of(&Environment::from_iter([(env::ABOVE, told)]))
    }

    /// What a hub that reads `file` finds behind hubs that read these.
    #[track_caller]
    fn check(files: &[&str], file: Option<&str>, expect: Option<&str>) {
        let mut above = told("");
        for file in files {
            above = told(above.with(&settings(Some(Path::new(file)))));
        }
        let found = above.forbids_servers(&settings(file.map(Path::new)));
        assert_eq!(found.as_deref(), expect, "{files:?}");
    }

    #[test]
    fn the_servers_of_a_hub_in_front_are_not_started_again() {
        check(&[], Some("/no/a"), None);
        check(&["/no/b"], Some("/no/a"), None);
        check(&["/no/a"], Some("/no/a"), Some("a hub in front of this one has those of `/no/a`"));
        check(&["/no/a", "/no/b"], Some("/no/a"), Some("a hub in front of this one has those of `/no/a`"));
    }

    #[test]
    fn what_no_hub_said_is_as_nothing() {
        for text in ["1", "{}", "[1]", "[", "\\0"] {
            assert!(told(text).forbids_servers(&settings(Some(Path::new("/no/a")))).is_none(), "{text}");
        }
    }

    #[test]
    fn hubs_without_a_file_are_counted() {
        let mut above = told("");
        for _ in 0..MOST_IN_A_ROW {
            assert_eq!(above.forbids_servers(&settings(None)), None);
            above = told(above.with(&settings(None)));
        }
        assert_eq!(above.forbids_servers(&settings(None)).unwrap(), "4 hubs in a row look like a circle");
    }

    #[test]
    fn a_file_is_the_same_by_another_way() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        let [file, detour] = ["f.toml", "a/../f.toml"].map(|way| folder.path().join(way));
        std::fs::write(&file, "").unwrap();
        let above = told(told("").with(&settings(Some(&detour))));
        assert!(above.forbids_servers(&settings(Some(&file))).is_some());
    }

    #[test]
    fn a_data_folder_belongs_to_the_hub_in_front() {
        let above = told(told("").with(&settings(None)));
        assert!(above.is_on(Path::new("/no/data")) && !above.is_on(Path::new("/no/other")));
    }
}
