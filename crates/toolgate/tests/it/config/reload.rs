//! A server that runs while its configuration changes.

use std::fs;
use std::path::Path;

use rustix::process::Signal;

use crate::process::{Place, Server, until};

/// Waits until the server has logged this.
#[track_caller]
fn logged(server: &Server, text: &str) {
    until(&format!("`{text}` is logged"), || server.log().contains(text));
}

/// Writes the file as editors do: a new one in place of the old one.
fn write(path: &Path, text: &str) {
    fs::write(path.with_extension("new"), text).unwrap();
    fs::rename(path.with_extension("new"), path).unwrap();
}

#[test]
fn what_changed_is_told_by_name_and_a_broken_file_changes_nothing() {
    let place = Place::new();
    let path = place.path().join("toolgate.toml");
    let server = Server::start_in(place, &[]);
    write(&path, "[http]\ntoken = 'sixteen and more letters'\nmax_sessions = 1\n");
    logged(&server, "the configuration changed: http.token");
    logged(&server, "needs a restart for: http.max_sessions");
    write(&path, "[http]\nprot = 1\n");
    logged(&server, "the old one stays in force");
    logged(&server, "toolgate.toml:2:1: unknown key `http.prot`");
    write(&path, "[http]\ntoken = 'sixteen and more letters'\nmax_sessions = 1\n");
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
