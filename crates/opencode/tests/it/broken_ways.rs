//! Turns on a way that breaks: nothing is lost that can be found again, and what nobody waits for is stopped.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Barrier;
use toolgate_core::{Answers, Event, Hub, Kind, Outcome, Run};
use toolgate_opencode::{OpencodeConfig, PermissionsConfig};
use toolgate_testkit::{call, client_legacy, drive};
use toolgate_wire::Raw;

use crate::fake::{Fake, Reply, replied};
use crate::stage::{STAGE, fails};

const STATUS: &str = "GET /session/status";
const PROMPT: &str = "POST /session/ses_0/prompt_async";
const ABORT: &str = "POST /session/ses_0/abort";

fn prompt(hub: &Hub) -> Run {
    hub.start(call(client_legacy(), "opencode_run", json!({"prompt": "x"})))
}

fn busy() -> Option<Reply> {
    Some(Reply::Json(json!({"ses_0": {"type": "busy"}})))
}

#[test]
fn a_turn_outlives_looks_that_fail() {
    let stage = &*STAGE;
    stage.run(async {
        let looks = AtomicUsize::new(0);
        let (fake, hub, _) = Fake::start(OpencodeConfig::default(), move |request| {
            let fails = request.line == STATUS && looks.fetch_add(1, Ordering::Relaxed) < 2;
            fails.then_some(Reply::None)
        })
        .await;
        assert_eq!(stage.result(drive(prompt(&hub), []).await)["content"], "still here");
        assert_eq!((fake.count(STATUS), fake.count(ABORT)), (3, 0));
    });
}

#[test]
fn a_turn_that_cannot_be_seen_any_more_is_an_error_and_stopped() {
    let stage = &*STAGE;
    stage.run(async {
        let aborted = AtomicBool::new(false);
        let (fake, hub, _) = Fake::start(OpencodeConfig::default(), move |request| {
            aborted.fetch_or(request.line == ABORT, Ordering::Relaxed);
            let fails = request.line == STATUS && !aborted.load(Ordering::Relaxed);
            fails.then_some(Reply::None)
        })
        .await;
        let error = fails(&hub, call(client_legacy(), "opencode_run", json!({"prompt": "x"}))).await;
        assert_eq!(error.kind(), Kind::ConnectionFailed, "{error}");
        fake.asked(ABORT).await;
    });
}

#[test]
fn a_session_is_stopped_although_the_way_to_it_was_broken_once() {
    let stage = &*STAGE;
    stage.run(async {
        let looks = AtomicUsize::new(0);
        let (fake, hub, _) =
            Fake::start(OpencodeConfig::default(), move |request| match request.line.as_str() {
                STATUS if looks.fetch_add(1, Ordering::Relaxed) == 0 => Some(Reply::None),
                STATUS if looks.load(Ordering::Relaxed) < 4 => busy(),
                _ => None,
            })
            .await;
        let run = prompt(&hub);
        fake.until(|fake| fake.count(STATUS) >= 2).await;
        run.cancel();
        fake.asked(ABORT).await;
    });
}

#[test]
fn a_prompt_that_is_on_its_way_is_stopped_once_it_has_arrived() {
    let stage = &*STAGE;
    stage.run(async {
        let (gate, works) = (Arc::new(Barrier::new(2)), Arc::new(AtomicBool::new(false)));
        let (closed, working) = (gate.clone(), works.clone());
        let (fake, hub, _) =
            Fake::start(OpencodeConfig::default(), move |request| match request.line.as_str() {
                PROMPT => Some(Reply::Met(closed.clone(), Box::new(Reply::Json(Value::Null)))),
                ABORT => {
                    working.store(false, Ordering::Relaxed);
                    None
                }
                STATUS if working.load(Ordering::Relaxed) => busy(),
                _ => None,
            })
            .await;
        let run = prompt(&hub);
        fake.asked(PROMPT).await;
        run.cancel();
        // Whoever stops it now, stops nothing.
        drop(tokio::time::timeout(Duration::from_millis(500), fake.asked(ABORT)).await);
        assert_eq!(fake.count(ABORT), 0);
        works.store(true, Ordering::Relaxed);
        gate.wait().await;
        fake.until(|_| !works.load(Ordering::Relaxed)).await;
    });
}

#[test]
fn a_session_that_begins_late_is_stopped_all_the_same() {
    let stage = &*STAGE;
    stage.run(async {
        // It begins with the second look after it was told to stop, and stops when it is told so again.
        let (told, looks) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (fake, hub, _) =
            Fake::start(OpencodeConfig::default(), move |request| match request.line.as_str() {
                "GET /session/ses_0/message" => Some(Reply::Json(json!([]))),
                ABORT => {
                    told.fetch_add(1, Ordering::Relaxed);
                    None
                }
                STATUS if told.load(Ordering::Relaxed) == 1 => {
                    if looks.fetch_add(1, Ordering::Relaxed) == 0 {
                        None
                    } else {
                        busy()
                    }
                }
                _ => None,
            })
            .await;
        let run = prompt(&hub);
        fake.asked(PROMPT).await;
        run.cancel();
        fake.until(|fake| fake.count(ABORT) == 2).await;
    });
}

#[test]
fn after_a_turn_that_failed_the_next_waits_for_its_end() {
    let stage = &*STAGE;
    stage.run(async {
        let prompts = Mutex::new(Vec::new());
        let (fake, hub, _) =
            Fake::start(OpencodeConfig::default(), move |request| match request.line.as_str() {
                PROMPT => {
                    prompts.lock().unwrap().push(request.body["messageID"].clone());
                    None
                }
                "GET /session/ses_0/message" if prompts.lock().unwrap().len() == 1 => {
                    let error = json!({"name": "APIError", "data": {"message": "out of order"}});
                    let info =
                        json!({"role": "assistant", "parentID": prompts.lock().unwrap()[0], "error": error});
                    Some(Reply::Json(json!([{"info": info}])))
                }
                _ => None,
            })
            .await;
        let prompt = || {
            let arguments = json!({"sessionId": "ses_0", "prompt": "x"});
            call(client_legacy(), "opencode_session_prompt", arguments)
        };
        assert_eq!(fails(&hub, prompt()).await.kind(), Kind::Upstream);
        assert_eq!(stage.result(drive(hub.start(prompt()), []).await)["content"], "still here");
        assert_eq!(fake.order(&[PROMPT, ABORT]), [PROMPT, ABORT, PROMPT]);
    });
}

#[test]
fn all_that_works_is_stopped_at_our_end_and_at_once() {
    let stage = &*STAGE;
    stage.run(async {
        // Each waits for the others: who stops them one by one stops one.
        let together = Arc::new(Barrier::new(3));
        let aborted = AtomicUsize::new(0);
        let (fake, hub, tasks) = Fake::start(OpencodeConfig::default(), move |request| {
            if request.line.ends_with("/abort") && aborted.fetch_add(1, Ordering::Relaxed) < 3 {
                return Some(Reply::Met(together.clone(), Box::new(Reply::Json(true.into()))));
            }
            let all =
                || json!({"ses_0": {"type": "busy"}, "ses_1": {"type": "busy"}, "ses_2": {"type": "busy"}});
            let is_busy = request.line == STATUS && aborted.load(Ordering::Relaxed) < 3;
            is_busy.then(|| Reply::Json(all()))
        })
        .await;
        let runs: Vec<Run> = (0..3).map(|_| prompt(&hub)).collect();
        let each = |verb: &'static str| (0..3).map(move |place| format!("POST /session/ses_{place}/{verb}"));
        fake.until(|fake| each("prompt_async").all(|line| fake.count(&line) == 1)).await;
        tasks.shutdown(Duration::from_secs(120)).await;
        assert!(each("abort").all(|line| fake.count(&line) >= 1));
        drop(runs);
    });
}

#[test]
fn what_a_helper_asks_is_answered_without_any_event() {
    let stage = &*STAGE;
    stage.run(async {
        let answered = AtomicBool::new(false);
        let (fake, hub, _) = Fake::start(OpencodeConfig::default(), move |request| match request.line.as_str() {
            STATUS if !answered.load(Ordering::Relaxed) => busy(),
            "GET /session/ses_0/children" => Some(Reply::Json(json!([{"id": "ses_child"}]))),
            "GET /session/ses_child/children" => Some(Reply::Json(json!([{"id": "ses_grandchild"}]))),
            "GET /permission" => {
                let ask = |session: &str, id: &str| json!({"id": id, "sessionID": session, "permission": "bash"});
                Some(Reply::Json(json!([ask("ses_other", "per_1"), ask("ses_grandchild", "per_2")])))
            }
            "POST /permission/per_2/reply" => {
                answered.store(true, Ordering::Relaxed);
                None
            }
            _ => None,
        })
        .await;
        let (out, _) = answering(prompt(&hub)).await;
        assert_eq!(out["asked"][0]["what"], "bash", "{out}");
        assert_eq!(fake.count("POST /permission/per_1/reply"), 0, "that was for others");
    });
}

#[test]
fn a_person_is_asked_once_although_the_answer_does_not_arrive_at_first() {
    let stage = &*STAGE;
    stage.run(async {
        let sent = AtomicUsize::new(0);
        let (_, hub, _) =
            Fake::start(OpencodeConfig::default(), move |request| match request.line.as_str() {
                STATUS if sent.load(Ordering::Relaxed) < 2 => busy(),
                "GET /permission" => {
                    Some(Reply::Json(json!([{"id": "per_1", "sessionID": "ses_0", "permission": "bash"}])))
                }
                "POST /permission/per_1/reply" => {
                    assert_eq!(request.body["reply"], "once");
                    (sent.fetch_add(1, Ordering::Relaxed) == 0).then_some(Reply::None)
                }
                _ => None,
            })
            .await;
        let (out, times) = answering(prompt(&hub)).await;
        assert_eq!((&out["asked"][0]["answer"], &out["content"]), (&json!("once"), &json!("still here")));
        assert_eq!((times, out["asked"].as_array().unwrap().len()), (1, 1), "{out}");
    });
}

#[test]
fn a_session_that_gets_on_is_not_silent_although_no_event_tells_it() {
    let stage = &*STAGE;
    stage.run(async {
        let (begun, count) = (Instant::now(), AtomicUsize::new(0));
        let config = OpencodeConfig { timeout: 8000, ..OpencodeConfig::default() };
        let (_, hub, _) = Fake::start(config, move |request| match request.line.as_str() {
            STATUS if begun.elapsed() < Duration::from_secs(17) => busy(),
            "GET /session/ses_0/message" if begun.elapsed() < Duration::from_secs(17) => {
                Some(Reply::Json(json!([{"parts": [count.fetch_add(1, Ordering::Relaxed)]}])))
            }
            _ => None,
        })
        .await;
        assert_eq!(stage.result(drive(prompt(&hub), []).await)["content"], "still here");
    });
}

#[test]
fn a_session_that_says_nothing_for_too_long_is_an_error_and_stopped() {
    let stage = &*STAGE;
    stage.run(async {
        let aborted = AtomicBool::new(false);
        let config = OpencodeConfig { timeout: 3000, ..OpencodeConfig::default() };
        let (fake, hub, _) = Fake::start(config, move |request| {
            aborted.fetch_or(request.line == ABORT, Ordering::Relaxed);
            if request.line == STATUS && !aborted.load(Ordering::Relaxed) { busy() } else { None }
        })
        .await;
        let error = fails(&hub, call(client_legacy(), "opencode_run", json!({"prompt": "x"}))).await;
        assert_eq!(error.kind(), Kind::Timeout, "{error}");
        assert!(error.next_step().unwrap().contains("opencode.timeout"), "{error}");
        fake.asked(ABORT).await;
    });
}

#[test]
fn a_tool_that_takes_its_time_and_a_model_that_is_waited_for_are_not_silence() {
    #[track_caller]
    fn check(status: impl Fn() -> Value + Send + Sync + 'static, parts: Value) {
        let stage = &*STAGE;
        stage.run(async {
            let begun = Instant::now();
            // It is looked at every two seconds, and later than that on a machine that does much else.
            let config = OpencodeConfig { timeout: 6000, ..OpencodeConfig::default() };
            let (_, hub, _) = Fake::start(config, move |request| {
                let works = begun.elapsed() < Duration::from_secs(13);
                match request.line.as_str() {
                    STATUS if works => Some(Reply::Json(json!({"ses_0": status()}))),
                    "GET /session/ses_0/message" if works => Some(Reply::Json(json!([{"parts": parts}]))),
                    _ => None,
                }
            })
            .await;
            assert_eq!(stage.result(drive(prompt(&hub), []).await)["content"], "still here");
        });
    }
    let running = json!([{"type": "tool", "tool": "bash", "state": {"status": "running"}}]);
    check(|| json!({"type": "busy"}), running);
    let next = toolgate_host::Clock::system().unix_ms() + 60_000;
    check(move || json!({"type": "retry", "attempt": 1, "message": "later", "next": next}), json!([]));
}

/// A turn during which something is asked that nobody answers, and that then is settled so.
async fn settled(settles: Value) {
    let asked = json!({"type": "permission.asked",
        "properties": {"sessionID": "ses_0", "id": "per_1", "permission": "bash"}});
    let connected = json!({"type": "server.connected", "properties": {}});
    let line = |payload: Value| format!("data: {}\n\n", json!({"payload": payload})).into_bytes();
    let (first, then) = (line(connected), [line(asked), line(settles)].concat());
    // It is said once the prompt is there.
    let (streams, there) = (AtomicUsize::new(0), Arc::new(Barrier::new(2)));
    let (message, is_asked) = (Mutex::new(String::new()), Arc::new(AtomicBool::new(false)));
    let was_asked = is_asked.clone();
    let (fake, hub, _) = Fake::start(OpencodeConfig::default(), move |request| match request.line.as_str() {
        "GET /global/event" if streams.fetch_add(1, Ordering::Relaxed) == 0 => {
            Some(Reply::Stream(first.clone()))
        }
        "GET /global/event" => Some(Reply::Met(there.clone(), Box::new(Reply::Open(then.clone())))),
        PROMPT => {
            *message.lock().unwrap() = request.body["messageID"].as_str().unwrap().to_owned();
            Some(Reply::Met(there.clone(), Box::new(Reply::Json(Value::Null))))
        }
        "GET /session/ses_0/message" => {
            Some(Reply::Json(json!([replied(&message.lock().unwrap(), "still here")])))
        }
        STATUS if !was_asked.load(Ordering::Relaxed) => busy(),
        _ => None,
    })
    .await;
    let mut run = prompt(&hub);
    let mut unanswered = Vec::new();
    let outcome = loop {
        match run.next().await.unwrap() {
            Event::Ask(ask) => {
                unanswered.push(ask);
                is_asked.store(true, Ordering::Relaxed);
            }
            Event::Done(outcome) => break outcome,
            _ => {}
        }
    };
    assert!(matches!(outcome, Outcome::Complete(_)), "{outcome:?}");
    assert_eq!((unanswered.len(), fake.count("POST /permission/per_1/reply")), (1, 0));
}

#[test]
fn a_question_that_is_settled_elsewhere_is_not_waited_for() {
    let of = |kind: &str| json!({"type": kind, "properties": {"sessionID": "ses_0", "requestID": "per_1"}});
    STAGE.run(async { tokio::join!(settled(of("permission.replied")), settled(of("session.idle"))) });
}

#[test]
fn a_person_who_can_be_asked_is_asked_also_for_what_is_allowed_without_one() {
    let stage = &*STAGE;
    stage.run(async {
        let answered = AtomicBool::new(false);
        let permissions = PermissionsConfig { allow: vec!["*".into()] };
        let config = OpencodeConfig { permissions, ..OpencodeConfig::default() };
        let (_, hub, _) = Fake::start(config, move |request| match request.line.as_str() {
            STATUS if !answered.load(Ordering::Relaxed) => busy(),
            "GET /permission" => {
                Some(Reply::Json(json!([{"id": "per_1", "sessionID": "ses_0", "permission": "bash"}])))
            }
            "POST /permission/per_1/reply" => {
                answered.store(true, Ordering::Relaxed);
                None
            }
            _ => None,
        })
        .await;
        let (out, times) = answering(prompt(&hub)).await;
        assert_eq!((times, &out["asked"][0]["by"]), (1, &json!("person")), "{out}");
    });
}

/// What comes of a run whose questions are all answered with `once`, and how many there were.
async fn answering(mut run: Run) -> (Value, usize) {
    let mut times = 0;
    while let Some(event) = run.next().await {
        match event {
            Event::Ask(ask) => {
                times += 1;
                let mut answers = Answers::default();
                for question in &ask.questions {
                    let once = json!({"action": "accept", "content": {"reply": "once"}});
                    answers.insert(&question.key, Raw::of(&once));
                }
                ask.answer(Ok(answers));
            }
            Event::Done(Outcome::Complete(raw)) => {
                return (raw.to::<Value>().unwrap()["structuredContent"].clone(), times);
            }
            Event::Done(outcome) => panic!("{outcome:?}"),
            _ => {}
        }
    }
    panic!("no outcome")
}
