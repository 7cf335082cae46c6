//! What the real OpenCode cannot be made to do: events that make no sense, and streams that break anywhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolgate_core::Kind;
use toolgate_opencode::OpencodeConfig;
use toolgate_testkit::{call, client_legacy, drive};

use crate::stage::{STAGE, fails};

const SESSION: &str = "ses_fake";

/// What is said on the stream of events: partly nonsense, then that the session is idle.
const STREAM: &str = concat!(
    "data: {\"payload\":{\"type\":\"server.connected\",\"properties\":{}}}\n\n",
    "data: not json\n\ndata: {\"payload\":7}\n\ndata: []\n\n: a comment\n\n",
    "data: {\"payload\":{\"type\":\"permission.asked\",\"properties\":{\"sessionID\":\"ses_other\",\"id\":\"per_1\"}}}\n\n",
    "data: {\"payload\":{\"type\":\"todo.updated\",\"properties\":{\"sessionID\":\"ses_fake\",\"todos\":null}}}\n\n",
    "data: {\"payload\":{\"type\":\"session.idle\",\"properties\":{\"sessionID\":\"ses_fake\"}}}\n\n",
);

/// How a fake behaves.
#[derive(Clone, Copy)]
enum Mode {
    /// Its stream breaks after so many bytes, each time some later.
    Cut(usize),
    /// It has a page for everything but its health.
    Page,
    /// It says half of everything but its health.
    Half,
}

struct Fake {
    mode: Mode,
    prompt: std::sync::Mutex<String>,
    streams: AtomicUsize,
}

async fn start(mode: Mode) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let fake = Arc::new(Fake { mode, prompt: Default::default(), streams: AtomicUsize::new(0) });
    let tasks = STAGE.tasks.clone();
    STAGE.tasks.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let fake = fake.clone();
            tasks.spawn(async move { drop(fake.serve(stream).await) });
        }
    });
    url
}

impl Fake {
    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut bytes = Vec::new();
        let (head, body) = loop {
            let mut piece = [0; 4096];
            let read = stream.read(&mut piece).await?;
            bytes.extend_from_slice(&piece[..read]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                    break (head.to_owned(), body.to_owned());
                }
            }
            assert!(read > 0, "a whole request");
        };
        let path = head.split(' ').nth(1).unwrap().split('?').next().unwrap().to_owned();
        if path == "/global/event" {
            let time = self.streams.fetch_add(1, Ordering::Relaxed);
            let Mode::Cut(first) = self.mode else { panic!("no stream is asked for") };
            let end = (first + 200 * time).min(STREAM.len());
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
                .await?;
            return stream.write_all(&STREAM.as_bytes()[..end]).await;
        }
        let (kind, answer) = self.answer(&path, &head, &body);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            answer.len()
        );
        stream.write_all(format!("{head}{answer}").as_bytes()).await
    }

    fn answer(&self, path: &str, head: &str, body: &str) -> (&'static str, String) {
        let json = |value: Value| ("application/json", value.to_string());
        if path == "/global/health" {
            return json(json!({"healthy": true, "version": "0"}));
        }
        if matches!(self.mode, Mode::Page) {
            return ("text/html", "<html>OpenCode</html>".to_owned());
        }
        if matches!(self.mode, Mode::Half) {
            return ("application/json", r#"[{"id": "ses_"#.to_owned());
        }
        match path {
            "/session" if head.starts_with("POST") => json(json!({"id": SESSION, "directory": "/"})),
            "/session/status" => json(json!({})),
            "/session/ses_fake/prompt_async" => {
                let body: Value = serde_json::from_str(body).unwrap();
                *self.prompt.lock().unwrap() = body["messageID"].as_str().unwrap().to_owned();
                json(Value::Null)
            }
            "/session/ses_fake/message" => {
                let info = json!({"id": "msg_r", "role": "assistant", "parentID": *self.prompt.lock().unwrap(),
                    "time": {"completed": 1}, "finish": "stop"});
                json(json!([{"info": info, "parts": [{"type": "text", "text": "still here"}]}]))
            }
            other => panic!("{other} is asked for"),
        }
    }
}

fn at(url: String) -> OpencodeConfig {
    OpencodeConfig { server_url: Some(url), ..OpencodeConfig::default() }
}

/// A run whose stream of events first breaks after so many bytes.
async fn cut(first: usize) {
    let stage = &*STAGE;
    let (hub, _) = stage.other(at(start(Mode::Cut(first)).await));
    let run = hub.start(call(client_legacy(), "opencode_run", json!({"prompt": "x"})));
    let out = stage.result(drive(run, []).await);
    assert_eq!(out["content"], "still here", "cut at {first}");
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
    fn check(mode: Mode, words: &str) {
        let stage = &*STAGE;
        let url = stage.run(start(mode));
        let (hub, _) = stage.other(at(url));
        let error = stage.run(fails(&hub, call(client_legacy(), "opencode_session_list", json!({}))));
        assert_eq!((error.kind(), error.message()), (Kind::Upstream, words));
        assert!(error.next_step().is_some(), "{error}");
    }
    check(Mode::Page, "OpenCode does not know `/session`: it answered text/html");
    check(Mode::Half, "OpenCode's answer to `/session` is not JSON");
}
