//! The admin page in a real Chromium: each test plays one scenario of `tests/page` on a server of its own.

use std::path::{Path, PathBuf};

use crate::process::{Place, Server, peer, peer_script, peers, run, unlimited, until};
use crate::sign_in::Cave;

const ASKING: &str = r#"
[[policy.rules]]
name = "writes"
then = "ask"
targets = ["workspace_write"]
reason = "it changes files"

[approvals]
wait_seconds = 110
"#;

/// Screenshots are kept where a build keeps what it makes.
fn screenshots() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    target.join("admin-page")
}

/// The link that the server printed when it started.
fn link(server: &Server) -> String {
    let found = || Some(server.log().split_once("/admin#setup=")?.1.split_whitespace().next()?.to_owned());
    until("the link is printed", || found().is_some());
    found().unwrap()
}

#[track_caller]
fn check(scenario: &str) {
    check_with(scenario, "");
}

/// Plays a scenario under a configuration that has more in it.
#[track_caller]
fn check_with(scenario: &str, more: &str) {
    let place = Place::new();
    let (description, odd) = (place.path().join("description"), peer_script("changing.mjs"));
    std::fs::create_dir(place.path().join("w")).unwrap();
    std::fs::write(place.path().join("w/a.txt"), "first").unwrap();
    std::fs::write(&description, "Greet someone.").unwrap();
    let scripts = place.path().join("s");
    std::fs::create_dir(&scripts).unwrap();
    std::fs::write(scripts.join("report.star"), "# @description: Sum it up.\nresult = 'first'\n").unwrap();
    let node = peers().join("bin/node");
    let toml = format!(
        "{ASKING}[scripts]\ndir = 's'\n[mcp.odd]\ncommand = {node:?}\nargs = [{odd:?}, {description:?}]\n{more}"
    );
    std::fs::write(place.path().join("toolgate.toml"), unlimited(&toml)).unwrap();
    let server = Server::start_in(place, &["--workspace", "w"]);
    let browsing = Place::new();
    let mut command = peer(&browsing, "node");
    command.arg(peer_script("../page/run.mjs")).arg(scenario).arg(server.url("")).arg(link(&server));
    command.arg(screenshots()).env("DESCRIPTION", &description).env("SCRIPTS", &scripts);
    command.env("ODD_SERVER", format!("{} {}", odd.display(), description.display()));
    let ended = run(command, b"");
    assert_eq!(ended.code, 0, "{}{}\n{}", ended.stdout, ended.stderr, server.log());
}

#[test]
fn whoever_has_the_link_or_the_password_gets_in_and_nobody_else() {
    check("getting_in");
}

#[test]
fn calls_that_wait_and_tools_that_changed_are_answered_on_the_page() {
    check("approving");
}

#[test]
fn a_script_is_looked_at_changed_and_approved_on_the_page() {
    check("scripting");
}

#[test]
fn someone_signs_in_to_another_server_on_the_page() {
    let cave = Cave::open();
    check_with("signing_in", &cave.entry());
}

#[test]
fn servers_tokens_tools_the_record_and_settings_are_managed_on_the_page() {
    check("managing");
}

#[test]
fn every_view_is_well_in_light() {
    check("light");
}

#[test]
fn every_view_is_well_in_dark() {
    check("dark");
}

#[test]
fn every_view_is_well_on_a_narrow_screen() {
    check("narrow");
}
