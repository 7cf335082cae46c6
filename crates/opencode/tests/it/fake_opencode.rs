//! What the real OpenCode cannot be made to do: events that make no sense, and streams that break anywhere.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use toolgate_core::{Capabilities, Kind};
use toolgate_opencode::OpencodeConfig;
use toolgate_testkit::{call, client_legacy, client_with, drive};
use toolgate_wire::Version;

use crate::fake::{Fake, Reply};
use crate::stage::{STAGE, fails};

/// What is said on the stream of events: partly nonsense; then what only the stream tells, and has to be answered.
const STREAM: &str = concat!(
    "data: {\"payload\":{\"type\":\"server.connected\",\"properties\":{}}}\n\n",
    "data: not json\n\ndata: {\"payload\":7}\n\ndata: []\n\n: a comment\n\n",
    "data: {\"payload\":{\"type\":\"permission.asked\",\"properties\":{\"sessionID\":\"ses_other\",\"id\":\"per_1\"}}}\n\n",
    "data: {\"payload\":{\"type\":\"todo.updated\",\"properties\":{\"sessionID\":\"ses_0\",\"todos\":null}}}\n\n",
    "data: {\"payload\":{\"type\":\"permission.asked\",\"properties\":",
    "{\"sessionID\":\"ses_0\",\"id\":\"per_2\",\"permission\":\"bash\",\"patterns\":[\"ls\"]}}}\n\n",
    "data: {\"payload\":{\"type\":\"session.idle\",\"properties\":{\"sessionID\":\"ses_0\"}}}\n\n",
);

/// A run whose stream of events first breaks after so many bytes, and each time some later.
async fn cut(first: usize) {
    let stage = &*STAGE;
    let (streams, answers) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (fake, hub, _) = Fake::start(OpencodeConfig::default(), move |request| match request.line.as_str() {
        "GET /global/event" => {
            let end = (first + 200 * streams.fetch_add(1, Ordering::Relaxed)).min(STREAM.len());
            Some(Reply::Stream(STREAM.as_bytes()[..end].into()))
        }
        "POST /permission/per_2/reply" => {
            answers.fetch_add(1, Ordering::Relaxed);
            None
        }
        // It works until it is answered.
        "GET /session/status" if answers.load(Ordering::Relaxed) == 0 => {
            Some(Reply::Json(json!({"ses_0": {"type": "busy"}})))
        }
        _ => None,
    })
    .await;
    let alone = client_with(Version::LATEST_LEGACY, Capabilities::default());
    let run = hub.start(call(alone, "opencode_run", json!({"prompt": "x"})));
    let out = stage.result(drive(run, []).await);
    assert_eq!(out["content"], "still here", "cut at {first}");
    let asked = out["asked"].as_array().unwrap();
    assert_eq!((asked.len(), &asked[0]["details"]), (1, &json!("ls")), "cut at {first}: {out}");
    assert_eq!(fake.count("POST /permission/per_1/reply"), 0, "that was for others");
}

#[test]
fn a_turn_outlives_nonsense_and_a_stream_that_breaks_anywhere() {
    let stage = &*STAGE;
    let places: Vec<usize> = (0..=STREAM.len()).step_by(23).collect();
    for some in places.chunks(10) {
        stage.run(async {
            let runs: Vec<_> = some.iter().map(|first| stage.tasks.spawn(cut(*first))).collect();
            for run in runs {
                run.await.unwrap();
            }
        });
    }
}

#[test]
fn a_page_or_half_an_answer_is_an_error() {
    #[track_caller]
    fn check(reply: fn() -> Reply, words: &str) {
        let stage = &*STAGE;
        let error = stage.run(async {
            let otherwise =
                move |request: &crate::fake::Request| (request.line != "GET /global/health").then(reply);
            let (_, hub, _) = Fake::start(OpencodeConfig::default(), otherwise).await;
            fails(&hub, call(client_legacy(), "opencode_session_list", json!({}))).await
        });
        assert_eq!((error.kind(), error.message()), (Kind::Upstream, words));
        assert!(error.next_step().is_some(), "{error}");
    }
    let page = || Reply::Text("text/html", "<html>OpenCode</html>".to_owned());
    check(page, "OpenCode does not know `/session`: it answered text/html");
    let half = || Reply::Text("application/json", r#"[{"id": "ses_"#.to_owned());
    check(half, "OpenCode's answer to `/session` is not JSON");
}

#[test]
fn a_shared_session_is_told_with_the_address_that_it_has_then() {
    #[track_caller]
    fn check(url: &'static str, expect: Result<&str, &str>) {
        let stage = &*STAGE;
        stage.run(async {
            let is_shared = AtomicUsize::new(0);
            let (fake, hub, _) =
                Fake::start(OpencodeConfig::default(), move |request| match request.line.as_str() {
                    "POST /session/ses_0/share" => {
                        is_shared.fetch_add(1, Ordering::Relaxed);
                        // What it answers here does not count.
                        Some(Reply::Json(json!({"share": {"url": "https://elsewhere.example"}})))
                    }
                    "GET /session/ses_0" if is_shared.load(Ordering::Relaxed) == 1 => {
                        Some(Reply::Json(json!({"id": "ses_0", "share": {"url": url}})))
                    }
                    _ => None,
                })
                .await;
            let share = call(client_legacy(), "opencode_session_share", json!({"sessionId": "ses_0"}));
            match expect {
                Ok(url) => {
                    let out = stage.result(drive(hub.start(share), []).await);
                    assert_eq!(out, json!({"sessionId": "ses_0", "url": url}));
                }
                Err(words) => assert_eq!(fails(&hub, share).await.message(), words),
            }
            assert_eq!(fake.count("POST /session/ses_0/share"), 1);
        });
    }
    check("https://opencode.example/s/1", Ok("https://opencode.example/s/1"));
    check("", Err("OpenCode shared the session but gives no address"));
}
