//! What the control socket and `toolgate status` say, and to whom.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use super::folder::Folder;
use crate::message::{initialize, request};
use crate::process::{PATIENCE, run};
use crate::web::Ask;

fn connect(folder: &Folder) -> UnixStream {
    let stream = UnixStream::connect(folder.socket()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// What the socket says to this until it ends.
fn said_to(folder: &Folder, text: &[u8]) -> String {
    let mut stream = connect(folder);
    // It may turn away before all is said.
    drop(stream.write_all(text));
    drop(stream.shutdown(std::net::Shutdown::Write));
    let mut said = Vec::new();
    drop(stream.read_to_end(&mut said));
    String::from_utf8(said).unwrap()
}

#[test]
fn whoever_does_not_speak_the_protocol_is_let_go() {
    let folder = Folder::new();
    let owner = folder.owner();
    #[track_caller]
    fn check(folder: &Folder, text: impl AsRef<[u8]>, expect: &str) {
        let said = said_to(folder, text.as_ref());
        assert!(said.contains(expect) && (said.is_empty() == expect.is_empty()), "{said}");
    }
    check(&folder, "", "");
    check(&folder, "GET / HTTP/1.1\r\n\r\n", "-32700");
    check(&folder, "x".repeat(1_000_000), "");
    check(&folder, format!("{}\n", "x".repeat(1_000_000)), "");
    check(&folder, request(1, "tools/list", &json!({})) + "\n", "-32601");
    check(&folder, request(1, "toolgate/attach", &json!({})) + "\n", "-32602");
    check(
        &folder,
        request(1, "toolgate/attach", &json!({"protocol": 9, "terms": {}, "firstQuestion": 0})) + "\n",
        "version 1",
    );
    check(&folder, request(1, "toolgate/stand_by", &json!({"version": 1})) + "\n", "-32602");
    check(&folder, request(1, "toolgate/reload", &json!({})) + "\n", "nothing changed");
    folder.owned_by(&owner);
}

#[test]
fn whoever_says_nothing_is_let_go_and_keeps_nobody_out_for_long() {
    let folder = Folder::new();
    let owner = folder.owner();
    let silent: Vec<UnixStream> = (0..64).map(|_| connect(&folder)).collect();
    folder.owned_by(&owner);
    for mut stream in silent {
        assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    }
}

#[test]
fn several_things_can_be_asked_one_after_another() {
    let folder = Folder::new();
    let owner = folder.owner();
    let mut stream = connect(&folder);
    let mut answers = BufReader::new(stream.try_clone().unwrap()).lines();
    for id in 1..4 {
        writeln!(stream, "{}", request(id, "toolgate/status", &json!({}))).unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!((&answer["id"], &answer["result"]["pid"]), (&json!(id), &json!(owner.pid())));
    }
}

#[test]
fn status_says_plainly_when_nothing_runs() {
    let folder = Folder::new();
    let ended = run(folder.place.toolgate(&["status"]), b"");
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.starts_with("error: no toolgate runs on `"), "{}", ended.stderr);
    let ended = run(folder.place.toolgate(&["status", "--json"]), b"");
    let status: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, &status["running"]), (1, &json!(false)));
    assert!(!folder.data().exists(), "looking makes nothing");
}

#[test]
fn a_session_over_http_shows_by_its_client_until_it_ends() {
    let folder = Folder::new();
    let owner = folder.owner();
    let address = owner.address();
    let begun = Ask::new(address, "POST", "/mcp").body(initialize("2025-11-25")).both().send();
    let session = begun.header("mcp-session-id").unwrap().to_owned();
    // A request that stands alone leaves nothing behind.
    Ask::new(address, "POST", "/mcp").body(request(1, "tools/list", &json!({}))).both().send();
    let status = folder.status();
    assert_eq!((&status["connected"], &status["address"]), (&json!(1), &json!(address.to_string())));
    let client = &status["connections"][0];
    assert_eq!(
        (&client["transport"], &client["client"], &client["clientVersion"]),
        (&json!("http"), &json!("test"), &json!("0"))
    );
    Ask::new(address, "DELETE", "/mcp").header("Mcp-Session-Id", &session).send();
    assert_eq!(folder.status()["connected"], 0);
}

#[test]
fn status_is_for_people_too() {
    let folder = Folder::new();
    let owner = folder.owner();
    let mut attached = folder.serve(&["--attach"]);
    attached.ask(initialize("2025-11-25"));
    let ended = run(folder.place.toolgate(&["status"]), b"");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let expect = [
        format!("toolgate {}, process {}, up ", env!("CARGO_PKG_VERSION"), owner.pid()),
        format!("  serves   http://{}/mcp\n", owner.address()),
        "  sources  fixtures, workspace, memory, web, opencode, script, browser\n".into(),
        "\n1 client\n".into(),
        format!("  test 0, attached, process {}, as local, for ", attached.pid()),
    ];
    for part in expect {
        assert!(ended.stdout.contains(&part), "{part} is missing in\n{}", ended.stdout);
    }
}
