//! Servers: ours and other people's, with the right password and a wrong one, and killed in the middle of a turn.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use toolgate_core::{Event, Hub, Kind, Outcome, Run};
use toolgate_host::Program;
use toolgate_opencode::OpencodeConfig;
use toolgate_testkit::{call, client_legacy, drive, opencode_program};

use crate::fake::{Fake, Reply};
use crate::stage::{STAGE, fails};

fn prompt(hub: &Hub, text: &str) -> Run {
    hub.start(call(client_legacy(), "opencode_run", json!({"prompt": text})))
}

/// Waits until the model has begun to answer.
async fn begun(run: &mut Run) {
    loop {
        match run.next().await.unwrap() {
            Event::Progress(progress) if progress.0.as_str().contains("thinking") => return,
            Event::Done(outcome) => panic!("{outcome:?}"),
            _ => {}
        }
    }
}

/// The error that a run ends with, once its server is gone.
async fn broken(run: Run) -> toolgate_core::Error {
    match run.outcome().await {
        Outcome::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}

/// The process that was started under this name.
fn process(name: &Path) -> Option<u32> {
    let all =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_it = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).next() == Some(name.as_os_str().as_encoded_bytes())
    };
    all.into_iter().find(is_it)
}

/// Waits until no process has this name. What OpenCode was just starting has its name for a moment, and what was killed
/// is gone when the machine gets to it.
async fn gone(name: &Path) {
    let limit = Instant::now() + Duration::from_secs(60);
    while let Some(id) = process(name) {
        assert!(Instant::now() < limit, "{id} lives on");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Kills a process that this test started.
async fn kill(id: u32) {
    let ended = Program::new("/bin/kill").arguments(["-9", &id.to_string()]).run().await.unwrap();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_server_of_ours_that_is_killed_is_an_error_now_and_there_again_later() {
    let stage = &*STAGE;
    let name = stage.home.join("opencode-to-kill");
    symlink(opencode_program(), &name).unwrap();
    // Beside the one that OpenCode makes itself, and changes.
    let named = stage.home.join(".config/opencode/opencode.json");
    let config = OpencodeConfig {
        program: Some(name.clone()),
        config_path: Some(named.clone()),
        ..OpencodeConfig::default()
    };
    let (hub, tasks) = stage.other(config);
    stage.run(async {
        let mut run = prompt(&hub, "think slowly");
        begun(&mut run).await;
        let first = process(&name).unwrap();
        kill(first).await;
        let error = broken(run).await;
        assert_eq!(error.kind(), Kind::ConnectionFailed, "{error}");
        let driven = drive(prompt(&hub, "hello again"), []).await;
        assert_eq!(stage.result(driven)["content"], "ECHO: hello again");
        assert_ne!(process(&name), Some(first));
        let list = drive(hub.start(call(client_legacy(), "opencode_session_list", json!({}))), []).await;
        let list = stage.result(list);
        assert!(list["items"].as_array().unwrap().iter().all(|item| item["status"] == "idle"), "{list}");
        let add = json!({"name": "nothing", "type": "local", "command": ["/bin/false"]});
        for (tool, arguments, is_there) in
            [("opencode_mcp_add", add, true), ("opencode_mcp_remove", json!({"name": "nothing"}), false)]
        {
            let run = hub.start(call(client_legacy(), tool, arguments));
            assert_eq!(stage.result(drive(run, []).await)["file"], json!(named), "{tool}");
            assert_eq!(fs::read_to_string(&named).unwrap().contains("/bin/false"), is_there, "{tool}");
        }
        // It ends with us.
        tasks.shutdown(Duration::from_secs(30)).await;
        gone(&name).await;
    });
}

#[test]
fn one_that_listens_where_they_usually_do_is_used_if_it_is_healthy() {
    let stage = &*STAGE;
    stage.run(async {
        let config = || OpencodeConfig { auto_start: false, ..OpencodeConfig::default() };
        let (fake, url) = Fake::listen(|_| None).await;
        let (hub, _) = stage.other_near(config(), &url);
        let driven = drive(prompt(&hub, "hello"), []).await;
        assert_eq!(stage.result(driven)["content"], "still here");
        assert_eq!(fake.count("POST /session/ses_0/prompt_async"), 1);
        let (fake, url) = Fake::listen(|_| Some(Reply::Json(json!({"healthy": false})))).await;
        let (hub, _) = stage.other_near(config(), &url);
        let error = fails(&hub, call(client_legacy(), "opencode_session_list", json!({}))).await;
        assert_eq!(error.kind(), Kind::ConnectionFailed, "{error}");
        assert_eq!(fake.count("GET /session"), 0);
    });
}

#[test]
fn the_configured_server_is_used_with_its_password_and_left_as_it_was() {
    let stage = &*STAGE;
    let config = |url: &str, password: Option<&str>| OpencodeConfig {
        server_url: Some(url.into()),
        password: password.map(Into::into),
        ..OpencodeConfig::default()
    };
    stage.run(async {
        let name = stage.home.join("opencode-of-others");
        symlink(opencode_program(), &name).unwrap();
        let program = Program::new(&name).arguments(["serve", "--port", "0", "--hostname", "127.0.0.1"]);
        let given = stage.variables();
        let program = given.iter().fold(program, |program, (key, value)| program.variable(key, value));
        let program = program.variable("OPENCODE_SERVER_PASSWORD", "open sesame");
        let (mut running, pipes) = program.start(Some(&stage.project)).await.unwrap();
        let mut lines = BufReader::new(pipes.stdout).lines();
        let url = loop {
            let line = lines.next_line().await.unwrap().expect("it listens");
            if let Some((_, url)) = line.split_once("listening on ") {
                break url.trim().to_owned();
            }
        };
        for password in [None, Some("open barley")] {
            let (hub, _) = stage.other(config(&url, password));
            let error = fails(&hub, call(client_legacy(), "opencode_session_list", json!({}))).await;
            assert_eq!(error.kind(), Kind::Unauthorized, "{error}");
        }
        let (hub, tasks) = stage.other(config(&url, Some("open sesame")));
        let driven = drive(prompt(&hub, "hello"), []).await;
        assert_eq!(stage.result(driven)["content"], "ECHO: hello");

        // Our end stops what works for us, and nothing else.
        let mut run = prompt(&hub, "think slowly");
        begun(&mut run).await;
        assert!(!idle(&url).await);
        tasks.shutdown(Duration::from_secs(30)).await;
        while !idle(&url).await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        drop(run);

        let (hub, _) = stage.other(config(&url, Some("open sesame")));
        let mut run = prompt(&hub, "think slowly");
        begun(&mut run).await;
        running.end(Duration::ZERO).await;
        let error = broken(run).await;
        assert_eq!(error.kind(), Kind::ConnectionFailed, "{error}");
    });
}

/// Whether no session works, asked as anyone would.
async fn idle(url: &str) -> bool {
    let stage = &*STAGE;
    let config = OpencodeConfig {
        server_url: Some(url.into()),
        password: Some("open sesame".into()),
        ..OpencodeConfig::default()
    };
    let (hub, _) = stage.other(config);
    let driven = drive(hub.start(call(client_legacy(), "opencode_session_list", json!({}))), []).await;
    let list: Value = stage.result(driven);
    list["items"].as_array().unwrap().iter().all(|item| item["status"] == "idle")
}
