//! What a new configuration changes, and what of that needs a restart.

use toolgate_config::differences;

use super::Settings;

/// What can change while the program runs: keys, and tables as a whole. Anything else needs a restart.
const LIVE: &[&str] = &[
    "admin",
    "approvals",
    "audit",
    "browser",
    "calendar",
    "catalog",
    "chat",
    "experimental",
    "github",
    "http.allowed_hosts",
    "http.cors_origins",
    "http.oauth",
    "http.public_url",
    "http.require_token",
    "http.token",
    "limits",
    "log.level",
    "mcp",
    "memory",
    "opencode",
    "output",
    "packs",
    "pins",
    "policy",
    "principals",
    "profiles",
    "roles",
    "scripts",
    "vault",
    "web",
    "workspace",
];

/// The keys whose values differ, by whether the new value can come into force at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Those that can.
    pub(crate) live: Vec<String>,
    /// Those that need a restart.
    pub(crate) restart: Vec<String>,
}

impl Change {
    pub(crate) fn between(old: &Settings, new: &Settings) -> Self {
        let (live, restart) =
            differences(old.values(), new.values()).into_iter().partition(|key| is_live(key));
        Self { live, restart }
    }
}

fn is_live(key: &str) -> bool {
    LIVE.iter()
        .any(|live| key.strip_prefix(live).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{PackName, check};

    /// The keys that change when these two files follow each other: live ones, then the others.
    #[track_caller]
    fn check_change(old: &str, new: &str, live: &[&str], restart: &[&str]) {
        let read = |text| check("toolgate.toml".as_ref(), Some(text)).unwrap();
        let change = Change::between(&read(old), &read(new));
        assert_eq!(
            (change.live.as_slice(), change.restart.as_slice()),
            (&owned(live)[..], &owned(restart)[..])
        );
    }

    fn owned(keys: &[&str]) -> Vec<String> {
        keys.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_differs_is_named_and_parted() {
        check_change("", "# nothing", &[], &[]);
        check_change("", "http.port = 3000", &[], &[]);
        check_change("", "http.port = 3001", &[], &["http.port"]);
        check_change("http.token = '1'", "http.token = '2'", &["http.token"], &[]);
        check_change("", "packs = []\ntransport = 'http'", &["packs"], &["transport"]);
        check_change(
            "workspace.root = '/a'",
            "[log]\nlevel = 'warn'\nformat = 'json'",
            &["log.level", "workspace.root"],
            &["log.format"],
        );
        check_change("", "threads = 2", &[], &["threads"]);
        check_change("data_dir = '/a'", "[output]\ncompact = true", &["output.compact"], &["data_dir"]);
    }

    #[test]
    fn what_can_change_live_exists() {
        let all = toolgate_config::describe(&Settings::schema());
        for live in LIVE {
            let (table, key) = live.split_once('.').unwrap_or(("", live));
            let named = |name: &str| all.iter().find(|known| known.name == name);
            let is_key = named(table).is_some_and(|known| known.keys.iter().any(|known| known.name == key));
            let is_map = || all.iter().any(|known| known.name.starts_with(&format!("{live}.")));
            assert!(is_key || named(live).is_some() || is_map(), "`{live}` is no key");
        }
        assert_eq!(Settings::default().packs, PackName::ALL);
    }
}
