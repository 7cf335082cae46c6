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
pub(crate) fn peers() -> PathBuf {
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
        .args(["--scenario", name, "--spec-version", version, "--force"])
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

/// What every revision with OAuth has in common.
const SIGNING_IN: [&str; 15] = [
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/client-credentials-basic",
];

/// What 2026-07-28 adds to that.
const SIGNING_IN_ANEW: [&str; 11] = [
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/authorization-server-migration",
    "auth/iss-supported",
    "auth/iss-not-advertised",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch",
];

const OF_2025: [&str; 5] = [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "json-schema-2020-12-preservation",
];

const OF_2026: [&str; 8] = [
    "tools_call",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
];

#[test]
fn conforms_as_a_client_to_2025_11_25() {
    check("2025-11-25", &OF_2025, 20);
}

#[test]
fn conforms_as_a_client_to_2026_07_28() {
    check("2026-07-28", &OF_2026, 60);
}

#[test]
fn signs_in_as_2025_11_25_wants() {
    check("2025-11-25", &SIGNING_IN, 100);
}

#[test]
fn signs_in_as_2025_03_26_wants() {
    let scenarios = ["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"];
    check("2025-03-26", &scenarios, 10);
}

#[test]
fn signs_in_as_2026_07_28_wants() {
    check("2026-07-28", &SIGNING_IN, 100);
    check("2026-07-28", &SIGNING_IN_ANEW, 70);
}

#[test]
fn nothing_that_the_suite_requires_of_clients_is_left_out() {
    let peers = peers();
    let tried = [("2025-11-25", &OF_2025[..], &[][..]), ("2026-07-28", &OF_2026, &SIGNING_IN_ANEW)];
    for (revision, own, more) in tried {
        let mut suite = Command::new(peers.join("bin/node"));
        suite.arg(peers.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
        let listed = suite.args(["list", "--client", "--requirements", revision]).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let (_, clients) = listed.split_once("Client scenarios").unwrap();
        let (clients, _) = clients.split_once("Run and reported").unwrap();
        let mut names = clients.lines().filter_map(|line| line.trim().strip_prefix("- ")).peekable();
        assert!(names.peek().is_some(), "{listed}");
        let is_tried = |name: &&str| [own, more, &SIGNING_IN].iter().any(|set| set.contains(name));
        let left_out: Vec<_> = names.filter(|name| !is_tried(name)).collect();
        assert!(left_out.is_empty(), "{revision}: {left_out:?}");
    }
}
