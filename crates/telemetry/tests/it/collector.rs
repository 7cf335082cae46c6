//! A collector of traces: a server on loopback that decodes what it is sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use toolgate_host::Tasks;
use toolgate_telemetry::{Telemetry, TelemetryConfig};

/// How a collector treats those who send to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Takes,
    Hangs,
    Refuses,
}

/// What it was sent.
#[derive(Default)]
pub(crate) struct Received {
    pub(crate) requests: usize,
    pub(crate) head: String,
    pub(crate) service: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) spans: Vec<Span>,
}

pub(crate) struct Collector {
    pub(crate) config: TelemetryConfig,
    manner: Arc<Mutex<Manner>>,
    received: Arc<Mutex<Received>>,
}

impl Collector {
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (tasks, received) = (Tasks::new(), Arc::new(Mutex::new(Received::default())));
        let manner = Arc::new(Mutex::new(manner));
        let (owner, to, how) = (tasks.clone(), received.clone(), manner.clone());
        tasks.spawn(tasks.stopping().run_until_cancelled_owned(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let taking = take(stream, to.clone(), how.clone());
                owner.spawn(owner.stopping().run_until_cancelled_owned(taking));
            }
        }));
        let config = TelemetryConfig { endpoint: Some(endpoint), ..TelemetryConfig::default() };
        Self { config, manner, received }
    }

    pub(crate) fn telemetry(&self, tasks: &Tasks) -> Telemetry {
        Telemetry::start(&self.config, "1.2.3", tasks).unwrap().unwrap()
    }

    pub(crate) fn behave(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    pub(crate) fn received<T>(&self, look: impl FnOnce(&Received) -> T) -> T {
        look(&self.received.lock().unwrap())
    }

    /// The span with this name, and no other.
    #[track_caller]
    pub(crate) fn span(&self, name: &str) -> Span {
        self.received(|received| {
            let mut found = received.spans.iter().filter(|span| span.name == name);
            let names: Vec<&str> = received.spans.iter().map(|span| span.name.as_str()).collect();
            let first = found.next().unwrap_or_else(|| panic!("no `{name}` in {names:?}"));
            assert!(found.next().is_none(), "more than one `{name}` in {names:?}");
            first.clone()
        })
    }
}

/// Answers the requests of one connection, until it ends.
async fn take(stream: TcpStream, received: Arc<Mutex<Received>>, manner: Arc<Mutex<Manner>>) {
    let mut stream = BufReader::new(stream);
    while let Some((head, body)) = request(&mut stream).await {
        received.lock().unwrap().requests += 1;
        let now = *manner.lock().unwrap();
        let status = match now {
            Manner::Hangs => std::future::pending().await,
            Manner::Refuses => "400 Bad Request",
            Manner::Takes => {
                received.lock().unwrap().note(head, &body);
                "200 OK"
            }
        };
        let reply = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        stream.get_mut().write_all(reply.as_bytes()).await.unwrap();
    }
}

/// The head and the body of the next request; nothing when the connection has ended.
async fn request(stream: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).await.ok()?;
    Some((head, body))
}

impl Received {
    fn note(&mut self, head: String, body: &[u8]) {
        let sent = ExportTraceServiceRequest::decode(body).unwrap();
        self.head = head;
        self.bytes.extend_from_slice(body);
        for resource in sent.resource_spans {
            let attributes = resource.resource.unwrap().attributes;
            let service = attributes.iter().find(|attribute| attribute.key == "service.name").unwrap();
            self.service = value(service.value.as_ref().unwrap().value.as_ref().unwrap());
            self.spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
    }
}

fn value(value: &Value) -> String {
    let Value::StringValue(text) = value else { panic!("{value:?} is no text") };
    text.clone()
}

/// An attribute of a span; empty where it has none.
pub(crate) fn attribute(span: &Span, key: &str) -> String {
    let found = span.attributes.iter().find(|attribute| attribute.key == key);
    found.map(|found| value(found.value.as_ref().unwrap().value.as_ref().unwrap())).unwrap_or_default()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn eventually(what: &'static str, is_so: impl Fn() -> bool) -> impl Future<Output = ()> {
    let place = std::panic::Location::caller();
    async move {
        for _ in 0..12_000 {
            if is_so() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{what} did not come to be ({place})");
    }
}
