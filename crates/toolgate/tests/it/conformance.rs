//! The official conformance suite against the binary, over HTTP, at every revision it knows.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::process::{Place, Server, peer, peers, run};

/// How often each status was given, every check that was not a plain success, and those of them that had to be so.
#[derive(Default)]
struct Checks {
    statuses: BTreeMap<String, usize>,
    complaints: Vec<String>,
    odd: Vec<&'static str>,
}

/// A check that fails as it must, in the one scenario that makes it, and with these words.
pub(crate) struct Odd {
    pub(crate) scenario: &'static str,
    pub(crate) check: &'static str,
    pub(crate) says: &'static str,
}

impl Odd {
    fn is(&self, scenario: &str, check: &Value) -> bool {
        let says = check["errorMessage"].as_str().unwrap_or_default();
        scenario == self.scenario
            && check["id"] == self.check
            && check["status"] == "FAILURE"
            && says.contains(self.says)
    }
}

/// Runs the suite and reads what it wrote of every check. Its exit code leaves out warnings and the scenarios
/// that are not scored, so every check is looked at.
#[track_caller]
fn check(options: &[&str], scenarios: usize, successes: usize) {
    judge(&Server::start(), options, &[], scenarios, successes);
}

/// The same with a server that runs; these checks have to fail, and no others may.
#[track_caller]
pub(crate) fn judge(server: &Server, options: &[&str], odd: &[Odd], scenarios: usize, successes: usize) {
    let place = Place::new();
    let mut suite = peer(&place, "node");
    suite.arg(peers().join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
    suite.args(["server", "--url", &server.url("/mcp"), "--output-dir", "results"]).args(options);
    let ended = run(suite, b"");

    let mut checks = Checks::default();
    let folders: Vec<_> = fs::read_dir(place.path().join("results")).unwrap().map(Result::unwrap).collect();
    for folder in &folders {
        let text = fs::read_to_string(folder.path().join("checks.json"));
        let text = text.unwrap_or_else(|error| panic!("{:?} did not run: {error}", folder.file_name()));
        let name = folder.file_name().into_string().unwrap();
        let scenario = scenario(&name);
        for check in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
            let status = check["status"].as_str().unwrap();
            *checks.statuses.entry(status.to_owned()).or_default() += 1;
            if matches!(status, "SUCCESS" | "INFO" | "SKIPPED") {
                continue;
            }
            match odd.iter().find(|odd| odd.is(scenario, &check)) {
                Some(odd) => checks.odd.push(odd.check),
                None => checks.complaints.push(format!("{scenario}: {check:#}")),
            }
        }
    }
    assert!(checks.complaints.is_empty(), "{}", checks.complaints.join("\n"));
    checks.odd.sort_unstable();
    let mut expected: Vec<_> = odd.iter().map(|odd| odd.check).collect();
    expected.sort_unstable();
    assert_eq!(checks.odd, expected, "what failed that had to");
    assert_eq!(ended.code, 0, "{}\n{}\n{}", ended.stdout, ended.stderr, server.log());
    let found = checks.statuses.get("SUCCESS").copied().unwrap_or_default();
    assert!(found >= successes, "only {found} successes: {:?}", checks.statuses);
    assert_eq!(folders.len(), scenarios);
}

/// The scenario of a folder of results: what stands between `server-` and the time.
fn scenario(folder: &str) -> &str {
    let name = folder.strip_prefix("server-").unwrap();
    &name[..name.len() - "-2026-11-18T20-55-42-123Z".len()]
}

#[test]
fn conforms_to_2026_07_28_with_tasks_and_headers() {
    check(&["--requirements", "2026-07-28"], 50, 196);
}

#[test]
fn conforms_to_2025_11_25_with_sessions_and_polling() {
    check(&["--requirements", "2025-11-25"], 33, 83);
}

#[test]
fn conforms_to_2025_06_18() {
    check(&["--suite", "all", "--spec-version", "2025-06-18"], 27, 56);
}

#[test]
fn conforms_to_2025_03_26() {
    check(&["--suite", "all", "--spec-version", "2025-03-26"], 1, 3);
}

/// Those that the suite does not score, with an exit code of their own. Skipped are a stub of the suite's about
/// notifications of tasks, and the skills extension, which is not declared.
#[test]
fn conforms_where_the_suite_does_not_score() {
    check(&["--suite", "pending"], 17, 82);
}
