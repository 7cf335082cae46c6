//! Where the files are, on each system.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use toolgate_clients::{Client, ConfigFile, Folders, Scope, System};

fn folders(system: System, variables: &[(&str, &str)]) -> Folders {
    let get =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    Folders::new(system, get).unwrap()
}

fn table(folders: &Folders, scope: &Scope) -> String {
    let mut table = String::new();
    for client in Client::ALL {
        for file in folders.files(client, scope) {
            writeln!(table, "{:14}  {}", client.id(), file.display()).unwrap();
        }
    }
    table
}

#[test]
fn the_files_of_a_user_on_linux() {
    insta::assert_snapshot!(table(&folders(System::Linux, &[("HOME", "/h")]), &Scope::User));
}

#[test]
fn the_files_of_a_user_on_macos() {
    insta::assert_snapshot!(table(&folders(System::MacOs, &[("HOME", "/h")]), &Scope::User));
}

#[test]
fn the_files_of_a_user_on_windows() {
    let variables = [("USERPROFILE", "/h"), ("APPDATA", "/h/AppData/Roaming"), ("HOME", "/other")];
    insta::assert_snapshot!(table(&folders(System::Windows, &variables), &Scope::User));
}

#[test]
fn the_files_of_a_project() {
    let folders = folders(System::Linux, &[("HOME", "/h")]);
    insta::assert_snapshot!(table(&folders, &Scope::Project("/p".into())));
}

#[test]
fn variables_move_them() {
    let variables = [
        ("HOME", "/h"),
        ("XDG_CONFIG_HOME", "/x"),
        ("CLAUDE_CONFIG_DIR", "/claude"),
        ("CODEX_HOME", "/codex"),
    ];
    let moved = folders(System::Linux, &variables);
    let first = |client| moved.files(client, &Scope::User)[0].clone();
    assert_eq!(first(Client::ClaudeDesktop), PathBuf::from("/x/Claude/claude_desktop_config.json"));
    assert_eq!(first(Client::ClaudeCode), PathBuf::from("/claude/.claude.json"));
    assert_eq!(first(Client::OpenCode), PathBuf::from("/x/opencode/opencode.json"));
    assert_eq!(first(Client::Codex), PathBuf::from("/codex/config.toml"));
    let relative = folders(System::Linux, &[("HOME", "/h"), ("CODEX_HOME", "here")]);
    assert_eq!(relative.files(Client::Codex, &Scope::User), [PathBuf::from("/h/.codex/config.toml")]);
}

#[test]
fn without_a_home_there_is_nothing_to_find() {
    let message = Folders::new(System::Linux, |_| None).unwrap_err().to_string();
    assert!(message.starts_with("there is no home folder: `HOME` is not set"), "{message}");
}

#[test]
fn a_client_with_a_file_or_a_filled_folder_is_installed() {
    let home = tempfile::tempdir().unwrap();
    let folders = folders(System::Linux, &[("HOME", home.path().to_str().unwrap())]);
    assert!(Client::ALL.into_iter().all(|client| !folders.is_installed(client)));
    fs::create_dir_all(home.path().join(".cursor")).unwrap();
    assert!(!folders.is_installed(Client::Cursor), "an empty folder may be what we left");
    fs::write(home.path().join(".cursor/argv.json"), "{}").unwrap();
    assert!(folders.is_installed(Client::Cursor));
    fs::write(home.path().join(".claude.json"), "").unwrap();
    assert!(folders.is_installed(Client::ClaudeCode));
    assert!(!folders.is_installed(Client::ClaudeDesktop));
}

#[test]
fn of_several_files_the_one_with_the_entry_counts_then_the_one_that_is_there() {
    let home = tempfile::tempdir().unwrap();
    let folders = folders(System::Linux, &[("HOME", home.path().to_str().unwrap())]);
    let opencode = home.path().join(".config/opencode");
    let found = || {
        let file = ConfigFile::find(Client::OpenCode, &folders, &Scope::User, "toolgate").unwrap().unwrap();
        file.path().file_name().unwrap().to_str().unwrap().to_owned()
    };
    assert_eq!(found(), "opencode.json");
    fs::create_dir_all(&opencode).unwrap();
    fs::write(opencode.join("opencode.jsonc"), "{}").unwrap();
    assert_eq!(found(), "opencode.jsonc");
    fs::write(opencode.join("opencode.json"), "{}").unwrap();
    assert_eq!(found(), "opencode.json");
    fs::write(opencode.join("config.json"), r#"{"mcp": {"toolgate": {"enabled": false}}}"#).unwrap();
    assert_eq!(found(), "config.json");

    let insiders = home.path().join(".config/Code - Insiders/User");
    fs::create_dir_all(&insiders).unwrap();
    let file = ConfigFile::find(Client::VsCode, &folders, &Scope::User, "toolgate").unwrap().unwrap();
    assert_eq!(file.path(), insiders.join("mcp.json"));
}

#[test]
fn some_clients_have_no_file_in_a_project() {
    let folders = folders(System::Linux, &[("HOME", "/h")]);
    let scope = Scope::Project("/p".into());
    for client in [Client::ClaudeDesktop, Client::Windsurf] {
        assert!(ConfigFile::find(client, &folders, &scope, "x").unwrap().is_none());
    }
}
