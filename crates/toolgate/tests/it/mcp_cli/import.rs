//! `toolgate mcp import`: what it shows, what it writes, and that it can be taken back.

use super::Desk;

const TOML: &str = "# mine\npacks = []\n";

const CURSOR: &str = "{\n\t\"mcpServers\": {\n\t\t\"toolgate\": {\"command\": \"/usr/bin/toolgate\", \"args\": [\"serve\"]},\n\t\t\"github\": {\"url\": \"https://g.example/mcp\", \"headers\": {\"Authorization\": \"Bearer ghp_abcdefghijklmnop\"}},\n\t\t\"odd\": {\"command\": \"x\", \"args\": [\"--word\", \"xY3kPq9ZtL0vWm2RbN7cHdJs\"]}\n\t}\n}\n";

const CODEX: &str = "model = \"m\" # mine\n\n[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"files\"]\n\n[tui]\ntheme = 1\n";

const SECRETS: [&str; 2] = ["ghp_abcdefghijklmnop", "xY3kPq9ZtL0vWm2RbN7cHdJs"];

fn desk() -> Desk {
    let desk = Desk::new(TOML);
    desk.write(".cursor/mcp.json", CURSOR);
    desk.write(".codex/config.toml", CODEX);
    desk
}

/// What a command shows, in which no secret may be.
#[track_caller]
fn shown(desk: &Desk, arguments: &[&str]) -> String {
    let shown = desk.shown(&[&["import"], arguments].concat());
    assert!(!SECRETS.iter().any(|secret| shown.contains(secret)), "{shown}");
    shown
}

#[test]
fn what_would_be_imported_is_shown_and_nothing_is_written() {
    let desk = desk();
    insta::assert_snapshot!("preview", shown(&desk, &[]));
    insta::assert_snapshot!(
        "preview_with_secrets",
        shown(&desk, &["cursor", "--secrets", "--remove-from-client"])
    );
    let told = desk.json(&["import"]);
    assert!(!SECRETS.iter().any(|secret| told.to_string().contains(secret)));
    assert_eq!((&told["done"], told["items"].as_array().unwrap().len()), (&false.into(), 3));
    assert_eq!(desk.read("toolgate.toml"), TOML);
    assert_eq!(desk.read(".cursor/mcp.json"), CURSOR);
}

#[test]
fn an_import_is_written_and_taken_back_byte_for_byte() {
    let desk = desk();
    insta::assert_snapshot!("written", shown(&desk, &["--write", "--secrets", "--remove-from-client"]));
    insta::assert_snapshot!("toolgate_toml", desk.read("toolgate.toml"));
    insta::assert_snapshot!("cursor_without", desk.read(".cursor/mcp.json"));
    insta::assert_snapshot!("codex_without", desk.read(".codex/config.toml"));
    assert_eq!(desk.read(".cursor/mcp.json.import-backup"), CURSOR);
    let secrets = crate::process::run(desk.0.toolgate(&["secret", "list"]), b"").stdout;
    assert!(secrets.contains("GITHUB_TOKEN  set") && secrets.contains("ODD_ARGUMENT  set"), "{secrets}");
    insta::assert_snapshot!("undone", shown(&desk, &["--undo"]));
    assert_eq!(desk.read("toolgate.toml"), TOML);
    assert_eq!(desk.read(".cursor/mcp.json"), CURSOR);
    assert_eq!(desk.read(".codex/config.toml"), CODEX);
    assert!(!desk.0.path().join(".cursor/mcp.json.import-backup").exists());
    assert_eq!(desk.type_in(&["import", "--undo"]).code, 1, "there is nothing left to take back");
}

#[test]
fn one_server_is_imported_as_it_is_written_there() {
    let desk = desk();
    assert_eq!(desk.type_in(&["import", "--only", "github", "--write"]).code, 0);
    let toml = desk.read("toolgate.toml");
    assert!(toml.contains("Authorization = \"Bearer ghp_abcdefghijklmnop\""), "{toml}");
    assert_eq!(desk.read(".cursor/mcp.json"), CURSOR, "the client keeps its own");
    assert!(shown(&desk, &["cursor", "--only", "github"]).contains("there already"));
    assert_eq!(desk.type_in(&["import", "--only", "gihub"]).code, 2);
    desk.write("toolgate.toml", &toml.replace("g.example", "h.example"));
    let undone = desk.type_in(&["import", "--undo"]);
    assert!(undone.stderr.contains("`github` has changed since, and stays"), "{}", undone.stderr);
    assert!(desk.read("toolgate.toml").contains("h.example"));
}

#[test]
fn a_secret_that_is_kept_otherwise_gets_a_name_that_no_other_has() {
    let desk = Desk::new(TOML);
    let kept = crate::process::run(desk.0.toolgate(&["secret", "set", "TOKEN"]), b"kept-before-this");
    assert_eq!(kept.code, 0, "{}", kept.stderr);
    let one = r#"{"command": "x", "env": {"TOKEN": "first-of-all", "TOKEN_2": "second-of-all"}}"#;
    let other = r#"{"command": "y", "env": {"TOKEN_3": "third-of-all", "TOKEN": "first-of-all"}}"#;
    desk.write(".cursor/mcp.json", &format!(r#"{{"mcpServers": {{"one": {one}, "other": {other}}}}}"#));
    assert_eq!(desk.type_in(&["import", "--write", "--secrets"]).code, 0);
    let toml = desk.read("toolgate.toml");
    for line in [
        r#"env = { TOKEN = "{secret:TOKEN_4}", TOKEN_2 = "{secret:TOKEN_2}" }"#,
        r#"env = { TOKEN = "{secret:TOKEN_4}", TOKEN_3 = "{secret:TOKEN_3}" }"#,
    ] {
        assert!(toml.contains(line), "{line}: {toml}");
    }
}

#[test]
fn a_server_with_the_name_of_a_pack_gets_a_name_that_no_other_has() {
    let desk = Desk::new("packs = [\"memory\"]\n");
    let server =
        |command: &str, name: &str| format!(r#"{{"mcpServers": {{"{name}": {{"command": "{command}"}}}}}}"#);
    desk.write(".cursor/mcp.json", &server("one", "memory"));
    desk.write(".codeium/windsurf/mcp_config.json", &server("two", "memory-server"));
    // The second time both are there, and stay.
    for new in [2, 0] {
        let told = desk.json(&["import", "--write"]);
        let items = told["items"].as_array().unwrap();
        assert_eq!(items.iter().filter(|item| item["fate"] == "new").count(), new, "{told}");
        let toml = desk.read("toolgate.toml");
        for (name, command) in [("memory-server", "two"), ("memory-server-2", "one")] {
            let table = format!("[mcp.{name}]\ncommand = \"{command}\"\n");
            assert_eq!(toml.matches(&table).count(), 1, "{toml}");
        }
        assert_eq!(toml.matches("[mcp.").count(), 2, "{toml}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_others_are_imported() {
    let desk = desk();
    desk.write(".codeium/windsurf/mcp_config.json", "{\"mcpServers\": [}");
    let told = desk.type_in(&["import"]);
    assert_eq!(told.code, 0);
    assert!(
        told.stderr.contains("warning: ") && told.stderr.contains("mcp_config.json:1:17"),
        "{}",
        told.stderr
    );
    assert!(told.stdout.contains("[mcp.files]"), "{}", told.stdout);
}

#[test]
fn where_nothing_is_there_is_nothing_to_import() {
    let desk = Desk::new("");
    insta::assert_snapshot!("nothing", shown(&desk, &[]));
}
