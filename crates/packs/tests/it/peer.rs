//! A server on this machine that plays a service from recorded shapes, and everything that can be wrong with one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use toolgate_core::{Error, Event, Hub, Outcome, Pack, PackSource, Run, ServerInfo, local_client};
use toolgate_host::Tasks;
use toolgate_testkit::call;
use toolgate_wire::Raw;

use crate::scene::{check_output, text, within};

/// The token that no error, log or progress may show.
pub(crate) const TOKEN: &str = "7001:sesame-open-1234";

/// A request as it came in.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Method and target, as on the first line.
    pub(crate) line: String,
    headers: String,
    pub(crate) body: Value,
}

impl Asked {
    /// Whether it came with a header, written in lower case.
    pub(crate) fn has(&self, header: &str) -> bool {
        self.headers.lines().any(|line| line == header)
    }
}

/// How the peer answers.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Properly.
    Whole { status: u16, headers: Vec<(&'static str, String)>, kind: &'static str, body: String },
    /// With a part of what it announced.
    CutOff,
    /// Not at all, until the other side gives up.
    Silence,
}

/// JSON, as all these services answer.
pub(crate) fn json_answer(status: u16, body: &Value) -> Answer {
    Answer::Whole {
        status,
        headers: Vec::new(),
        kind: "application/json; charset=utf-8",
        body: body.to_string(),
    }
}

/// A page for people, as something in between answers.
pub(crate) fn page(status: u16) -> Answer {
    Answer::Whole { status, headers: Vec::new(), kind: "text/html", body: "<h1>Welcome</h1>".into() }
}

impl Answer {
    pub(crate) fn header(mut self, name: &'static str, value: impl ToString) -> Self {
        if let Self::Whole { headers, .. } = &mut self {
            headers.push((name, value.to_string()));
        }
        self
    }
}

/// A server that gives its answers in order, and keeps what it was asked.
pub(crate) struct Peer {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    _tasks: Tasks,
}

impl Peer {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answers = Arc::new(Mutex::new(answers.into_iter().collect::<VecDeque<_>>()));
        let tasks = Tasks::new();
        let (serving, seen) = (tasks.clone(), asked.clone());
        tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answers) = (seen.clone(), answers.clone());
                serving.spawn(async move {
                    let next = |asked| {
                        seen.lock().unwrap().push(asked);
                        answers.lock().unwrap().pop_front()
                    };
                    // A client that hangs up is no concern of a server's.
                    drop(serve(stream, next).await);
                });
            }
        });
        Self { url, asked, _tasks: tasks }
    }

    /// Everything it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The lines of everything it was asked so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line).collect()
    }
}

async fn serve(stream: TcpStream, next: impl Fn(Asked) -> Option<Answer>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let Some(asked) = read(&mut stream).await? else { return Ok(()) };
        // Nobody should ask more often than there are answers; who does gets a status of its own.
        let answer = next(asked).unwrap_or_else(|| json_answer(418, &json!({"message": "asked too often"})));
        match answer {
            Answer::Whole { status, headers, kind, body } => {
                let mut head = format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n",
                    body.len()
                );
                for (name, value) in headers {
                    head.push_str(&format!("{name}: {value}\r\n"));
                }
                stream.write_all(format!("{head}\r\n{body}").as_bytes()).await?;
            }
            Answer::CutOff => {
                let cut =
                    "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"ok\"";
                return stream.write_all(cut.as_bytes()).await;
            }
            Answer::Silence => {
                let mut end = Vec::new();
                stream.read_to_end(&mut end).await?;
                return Ok(());
            }
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Asked>> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await? == 0 {
            return Ok(None);
        }
    }
    let (line, headers) = head.split_once("\r\n").unwrap_or_default();
    let length = headers
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await?;
    let line = line.trim_end_matches(" HTTP/1.1").to_owned();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(Asked { line, headers: headers.replace("\r\n", "\n"), body }))
}

/// A hub with one pack.
pub(crate) fn hub(pack: impl Pack) -> Hub {
    let info = ServerInfo { raw: Raw::of(&json!({"name": "test", "version": "0"})), instructions: None };
    Hub::builder(info, Tasks::new()).source(Arc::new(PackSource::new(pack))).build().unwrap()
}

/// Calls a tool: its data, or its error, and everything that it said on the way. Neither shows the token.
pub(crate) async fn ask(hub: &Hub, tool: &str, arguments: Value) -> (Result<Value, Error>, Vec<String>) {
    let mut run = hub.start(call(local_client(), tool, arguments));
    let (outcome, said) = within(told(&mut run)).await;
    let result = match outcome {
        Outcome::Complete(raw) => {
            let result: Value = raw.to().unwrap();
            assert!(!text(&result).contains(TOKEN));
            check_output(tool, &result["structuredContent"]);
            Ok(result["structuredContent"].clone())
        }
        Outcome::Failed(error) => {
            // Also what only the log sees.
            let mut all = format!("{error:?}");
            let mut source = std::error::Error::source(&error);
            while let Some(inner) = source {
                all.push_str(&format!(" {inner} {inner:?}"));
                source = inner.source();
            }
            assert!(!all.contains("sesame"), "{all}");
            Err(error)
        }
        other @ (Outcome::InputRequired { .. } | Outcome::Task(_)) => panic!("{other:?}"),
    };
    assert!(!said.concat().contains(TOKEN), "{said:?}");
    (result, said)
}

/// The outcome of a run, and the messages of its progress, whose numbers grow.
async fn told(run: &mut Run) -> (Outcome, Vec<String>) {
    let (mut said, mut last) = (Vec::new(), -1.0);
    while let Some(event) = run.next().await {
        match event {
            Event::Done(outcome) => return (outcome, said),
            Event::Progress(progress) => {
                let progress: Value = progress.0.to().unwrap();
                let now = progress["progress"].as_f64().unwrap();
                assert!(now > last, "{progress}");
                last = now;
                said.push(progress["message"].as_str().unwrap_or_default().to_owned());
            }
            Event::Log(_) | Event::Ask(_) | Event::Other { .. } | Event::HangUp => panic!("{event:?}"),
        }
    }
    panic!("no outcome")
}

/// Starts a call that is to wait, and cancels it while it does.
pub(crate) async fn cancelled_while_waiting(hub: &Hub, tool: &str, arguments: Value) -> Error {
    let mut run = hub.start(call(local_client(), tool, arguments));
    let event = within(run.next()).await;
    assert!(matches!(event, Some(Event::Progress(_))), "{event:?}");
    run.cancel();
    // The wait that was asked for is longer than anyone is patient here.
    let Outcome::Failed(error) = within(run.outcome()).await else { panic!("it should have failed") };
    error
}
