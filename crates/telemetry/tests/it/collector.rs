//! A collector of traces: a server on loopback that decodes what it is sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use tokio::net::TcpListener;
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
                let (to, how) = (to.clone(), how.clone());
                let service = service_fn(move |request| take(request, to.clone(), how.clone()));
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                owner.spawn(owner.stopping().run_until_cancelled_owned(connection));
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

async fn take(
    request: Request<Incoming>,
    received: Arc<Mutex<Received>>,
    manner: Arc<Mutex<Manner>>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let head = format!("{} {} {:?}", request.method(), request.uri(), request.headers());
    let body = request.into_body().collect().await?.to_bytes();
    let manner = *manner.lock().unwrap();
    received.lock().unwrap().requests += 1;
    match manner {
        Manner::Hangs => std::future::pending().await,
        Manner::Refuses => {
            let mut reply = Response::new(Full::default());
            *reply.status_mut() = hyper::StatusCode::BAD_REQUEST;
            Ok(reply)
        }
        Manner::Takes => {
            let sent = ExportTraceServiceRequest::decode(&body[..]).unwrap();
            let mut received = received.lock().unwrap();
            received.head = head;
            received.bytes.extend_from_slice(&body);
            for resource in sent.resource_spans {
                let attributes = resource.resource.unwrap().attributes;
                let service = attributes.iter().find(|attribute| attribute.key == "service.name").unwrap();
                received.service = value(service.value.as_ref().unwrap().value.as_ref().unwrap());
                received.spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
            }
            Ok(Response::new(Full::default()))
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
        for _ in 0..3000 {
            if is_so() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{what} did not come to be ({place})");
    }
}
