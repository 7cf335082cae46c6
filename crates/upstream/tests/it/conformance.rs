//! The official conformance suite's client sets, with our client of other people's servers under test.

#![expect(
    clippy::disallowed_methods,
    reason = "it starts the suite as its users do, and finds the peers where the set-up put them"
)]

mod client;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The real peers, where the set-up put them.
fn peers() -> PathBuf {
    let peers = match std::env::var_os("TOOLGATE_PEERS_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => std::env::current_dir().unwrap().join(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers"),
    };
    assert!(
        peers.join("stamp").is_file(),
        "the real peers are not installed in `{}`; run `cargo xtask test`, which installs them",
        peers.display(),
    );
    peers
}

/// Runs one scenario and reads what the suite wrote of every check. Its exit code leaves out warnings, so every check
/// is looked at. Says how many succeeded.
#[track_caller]
fn scenario(name: &str, version: &str) -> usize {
    let (peers, place) = (peers(), tempfile::tempdir().unwrap());
    let client =
        format!("{} --exact conformance::client::client", std::env::current_exe().unwrap().display());
    let mut suite = Command::new(peers.join("bin/node"));
    suite.arg(peers.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
    suite.args(["client", "--command", &client, "--output-dir", "results"]);
    let ended = suite
        .args(["--scenario", name, "--spec-version", version])
        .current_dir(place.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{name}: {said}\n{}", String::from_utf8_lossy(&ended.stderr));
    let files = checks(&place.path().join("results"));
    assert_eq!(files.len(), 1, "{name} did not run: {said}");
    let checks: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&files[0]).unwrap()).unwrap();
    let is = |check: &Value, words: &[&str]| words.contains(&check["status"].as_str().unwrap());
    let bad: Vec<_> = checks.iter().filter(|check| !is(check, &["SUCCESS", "INFO", "SKIPPED"])).collect();
    assert!(bad.is_empty(), "{name}: {bad:#?}");
    checks.iter().filter(|check| is(check, &["SUCCESS"])).count()
}

#[track_caller]
fn check(version: &str, scenarios: &[&str], successes: usize) {
    let found: usize = scenarios.iter().map(|name| scenario(name, version)).sum();
    assert!(found >= successes, "only {found} successes");
}

/// The files of checks below a folder, one for each scenario that ran.
fn checks(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("nothing ran: {error}"));
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => checks(&path),
            false => vec![path],
        })
        .filter(|path| path.file_name().is_some_and(|name| name == "checks.json"))
        .collect()
}

#[test]
fn conforms_as_a_client_to_2026_07_28() {
    let scenarios = [
        "tools_call",
        "request-metadata",
        "sep-2322-client-request-state",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation",
    ];
    check("2026-07-28", &scenarios, 60);
}

#[test]
fn conforms_as_a_client_to_2025_11_25() {
    let scenarios = [
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
        "json-schema-2020-12-preservation",
    ];
    check("2025-11-25", &scenarios, 20);
}
