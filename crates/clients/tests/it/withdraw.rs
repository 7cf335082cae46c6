//! Entries that were imported go from the clients' files, and come back.

use std::fs;

use toolgate_clients::import::{Withdrawal, put_back, withdraw};
use toolgate_clients::{Action, Client};

use crate::import::Home;

/// Files of every form, with comments, odd spaces and CRLF.
const FILES: [(Client, &str, &str); 5] = [
    (
        Client::ClaudeCode,
        ".claude.json",
        "{\n\t\"mcpServers\": {\n\t\t\"a\": { \"command\": \"x\" },\n\t\t\"toolgate\": {\"command\": \"t\"}\n\t},\n\t\"projects\": {\"/p\": {\"mcpServers\": {\"inner\": {\"command\": \"y\"}}, \"n\": 1.50}}\n}\n",
    ),
    (Client::Cursor, ".cursor/mcp.json", "{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}"),
    (
        Client::VsCode,
        ".config/Code/User/mcp.json",
        "{\r\n  // mine\r\n  \"servers\": {\r\n    \"a\": {\"command\": \"x\",}, // a\r\n    \"b\": {\"url\": \"http://h/\"},\r\n  },\r\n}\r\n",
    ),
    (
        Client::OpenCode,
        ".config/opencode/opencode.jsonc",
        "{ \"mcp\": { \"a\": {\"type\": \"local\", \"command\": [\"x\"]} }, \"theme\": \"dark\" }",
    ),
    (
        Client::Codex,
        ".codex/config.toml",
        "model = \"m\" # mine\n\n[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.env]\nA = \"b\"\n\n[mcp_servers.b]\nurl = \"http://h/\"\n\n[tui]\nx = 1\n",
    ),
];

fn all(home: &Home, client: Client) -> Vec<Withdrawal> {
    let found = home.look(&[client]).found;
    Withdrawal::of(found.iter().flat_map(|found| &found.origins))
}

#[test]
fn what_was_taken_out_is_put_back_byte_for_byte() {
    for (client, file, content) in FILES {
        let home = Home::new(&[(file, content)]);
        let path = home.path(file);
        let what = all(&home, client);
        let [what] = &what[..] else { panic!("one file: {what:?}") };
        let plan = withdraw(what).unwrap();
        assert_eq!((plan.action(), plan.backup()), (Action::Remove, Some(&*what.backup)));
        plan.apply().unwrap();
        assert!(home.look(&[client]).found.is_empty(), "{file}: {}", fs::read_to_string(&path).unwrap());
        assert_eq!(fs::read_to_string(&what.backup).unwrap(), content, "a copy is kept");
        let plan = put_back(what).unwrap();
        assert_eq!(plan.action(), Action::Restore);
        plan.apply().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        assert!(!what.backup.exists());
    }
}

#[test]
fn what_others_wrote_meanwhile_stays() {
    for (client, file, content) in FILES {
        let home = Home::new(&[(file, content)]);
        let path = home.path(file);
        let names = |home: &Home| {
            let mut names: Vec<_> =
                home.look(&[client]).found.into_iter().map(|found| found.origins[0].name.clone()).collect();
            names.sort();
            names
        };
        let before = names(&home);
        let what = all(&home, client);
        withdraw(&what[0]).unwrap().apply().unwrap();
        let after = fs::read_to_string(&path).unwrap();
        let extended = if client == Client::Codex {
            format!("{after}\n[mcp_servers.z]\ncommand = \"z\"\n")
        } else {
            after.replacen("{", "{ \"new\": 1, ", 1)
        };
        fs::write(&path, &extended).unwrap();
        let plan = put_back(&what[0]).unwrap();
        assert_eq!(plan.action(), Action::Add, "{file}");
        plan.apply().unwrap();
        let mut expect = before.clone();
        expect.extend((client == Client::Codex).then(|| "z".to_owned()));
        assert_eq!(names(&home), expect, "{}", fs::read_to_string(&path).unwrap());
    }
}

#[test]
fn two_withdrawals_keep_two_copies() {
    let (client, file, content) = FILES[1];
    let home = Home::new(&[(file, content)]);
    let first = all(&home, client).remove(0);
    withdraw(&first).unwrap().apply().unwrap();
    let again = "{\"mcpServers\":{\"b\":{\"command\":\"y\"}}}";
    fs::write(home.path(file), again).unwrap();
    let second = all(&home, client).remove(0);
    assert_ne!(first.backup, second.backup);
    withdraw(&second).unwrap().apply().unwrap();
    put_back(&second).unwrap().apply().unwrap();
    assert_eq!(fs::read_to_string(home.path(file)).unwrap(), again);
    put_back(&first).unwrap().apply().unwrap();
    assert!(home.look(&[client]).found.len() == 2);
}

#[test]
fn without_a_copy_nothing_is_put_back() {
    let (client, file, content) = FILES[1];
    let home = Home::new(&[(file, content)]);
    let what = all(&home, client).remove(0);
    withdraw(&what).unwrap().apply().unwrap();
    fs::remove_file(&what.backup).unwrap();
    let problem = put_back(&what).unwrap_err();
    assert!(problem.message().contains("is not there"), "{problem}");
    assert!(problem.next_step().is_some());
}
