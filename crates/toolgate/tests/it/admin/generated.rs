//! Requests that another program makes up from the OpenAPI document: none is answered with an error of ours.

use super::Desk;
use crate::process::{Place, peers, run};

/// Routes that end the login, never end, or start programs.
const LEFT_OUT: [&str; 6] = [
    "/session",
    "/session/password",
    "/accounts/{account}",
    "/accounts/{account}/sessions",
    "/events",
    "/upstreams",
];

#[test]
fn whatever_the_document_allows_is_answered_as_it_says() {
    let desk = Desk::start("");
    let place = Place::new();
    let mut command = place.command(peers().join(".venv/bin/schemathesis"));
    command.args(["run", &desk.server.url("/admin/api/openapi.json")]);
    command.args(["--header", &format!("Cookie: {}", desk.cookie)]);
    command.args(["--header", &format!("X-CSRF-Token: {}", desk.csrf)]);
    let checks =
        "not_a_server_error,response_schema_conformance,content_type_conformance,status_code_conformance";
    command.args(["--checks", checks, "--phases", "coverage,fuzzing", "--max-examples", "10"]);
    // The same every time.
    command.args(["--seed", "1", "--generation-database", "none"]);
    for path in LEFT_OUT {
        command.args(["--exclude-path", path]);
    }
    let ended = run(command, b"");
    assert_eq!(ended.code, 0, "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains(" generated, "), "{}", ended.stdout);
    desk.get("/session");
}
