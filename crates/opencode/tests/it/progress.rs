//! What a caller is told while OpenCode works.

use serde_json::json;
use toolgate_testkit::client_legacy;

use crate::stage::STAGE;

/// Runs a prompt, and checks that this was told meanwhile.
#[track_caller]
fn check(prompt: &str, told: &[&str]) {
    let stage = &*STAGE;
    let driven = stage.run(stage.ask(client_legacy(), ("opencode_run", json!({"prompt": prompt})), []));
    for words in told {
        let is_told =
            driven.events.iter().any(|event| event.starts_with("progress") && event.contains(words));
        assert!(is_told, "`{words}` is not in {:#?}", driven.events);
    }
    stage.result(driven);
}

#[test]
fn text_steps_lists_and_waits_are_told_as_they_happen() {
    check("tell me a story", &["ECHO: tell me a story"]);
    check("make a list", &["todowrite: completed", "to do: 1 of 2 done. mend the roof"]);
    check("be busy once", &["attempt 1 failed (", "the next is in "]);
}
