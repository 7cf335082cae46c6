//! A server that runs while its configuration changes.

use std::fs;

use rustix::process::Signal;

use crate::process::{Place, Server, replace, until};

/// Waits until the server has logged this.
#[track_caller]
fn logged(server: &Server, text: &str) {
    until(&format!("`{text}` is logged"), || server.log().contains(text));
}

#[test]
fn what_changed_is_told_by_name_and_a_broken_file_changes_nothing() {
    let place = Place::new();
    let path = place.path().join("toolgate.toml");
    let server = Server::start_in(place, &[]);
    replace(&path, "[http]\ntoken = 'sixteen and more letters'\nmax_sessions = 1\n");
    logged(&server, "the configuration changed: http.token");
    logged(&server, "needs a restart for: http.max_sessions");
    replace(&path, "[http]\nprot = 1\n");
    logged(&server, "the old one stays in force");
    logged(&server, "toolgate.toml:2:1: unknown key `http.prot`");
    replace(&path, "[http]\ntoken = 'sixteen and more letters'\nmax_sessions = 1\n");
    logged(&server, "the configuration was read again, and nothing changed");
    fs::remove_file(path).unwrap();
    until("the token is gone", || server.log().matches("the configuration changed: http.token").count() == 2);
    assert!(!server.log().contains("letters"), "{}", server.log());
}

#[test]
fn sighup_reads_it_again() {
    let server = Server::start_in(Place::new(), &[]);
    server.running.signal(Signal::HUP);
    logged(&server, "the configuration was read again, and nothing changed");
    assert_eq!(server.get("/health").send().status, 200, "it still serves");
}

#[test]
fn what_is_too_short_to_be_hidden_is_told_of_by_name_once() {
    let place = Place::new();
    let path = place.path().join("toolgate.toml");
    let server = Server::start_in(place, &[]);
    let docs =
        "[mcp.docs]\nurl = 'http://127.0.0.1:1/mcp'\nheaders = { X-Api-Key = 'pin1234' }\nenabled = false\n";
    replace(&path, docs);
    let told = "a value of fewer than 8 bytes cannot be hidden where it turns up: `UPSTREAM`";
    logged(&server, told);
    replace(&path, &docs.replace("mcp'", "mcp/other'"));
    until("the address is another", || server.log().matches("the configuration changed: mcp").count() == 2);
    replace(&path, "");
    until("it is gone", || server.log().matches("the configuration changed: mcp").count() == 3);
    assert_eq!(server.log().matches(told).count(), 1, "{}", server.log());
    assert!(!server.log().contains("pin1234"), "{}", server.log());
}
