//! What can be set for traces.

use std::collections::BTreeMap;
use std::time::Duration;

use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use reqwest::header::{HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long one request to the collector may take.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Where the collector takes traces, below its endpoint.
const TRACES: &str = "v1/traces";

/// What can be set for traces. Written as text it shows its headers.
#[derive(Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetryConfig {
    /// The OTLP endpoint (HTTP, protobuf) of an OpenTelemetry collector. Without it no traces are kept.
    #[schemars(example = "http://127.0.0.1:4318")]
    pub endpoint: Option<String>,
    /// Headers to send to the collector, for instance for authorization.
    pub headers: BTreeMap<String, String>,
    /// Which share of calls is traced, from 0 to 1. A client that sends a trace context decides for its own calls.
    pub sample: f64,
    /// The name of this service in traces.
    pub service_name: String,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self { endpoint: None, headers: BTreeMap::new(), sample: 1.0, service_name: "toolgate".into() }
    }
}

/// Why traces cannot be sent as configured.
#[derive(Debug, thiserror::Error)]
#[error("{message}\nhint: {hint}")]
pub struct TelemetryError {
    message: String,
    hint: &'static str,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl TelemetryError {
    fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Self { message: message.into(), hint, source: None }
    }

    fn because(self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { source: Some(source.into()), ..self }
    }
}

impl TelemetryConfig {
    /// What sends spans to the endpoint, where there is one.
    pub(crate) fn exporter(&self) -> Result<Option<SpanExporter>, TelemetryError> {
        let Some(endpoint) = &self.endpoint else { return Ok(None) };
        if !(0.0..=1.0).contains(&self.sample) {
            let message = format!("`telemetry.sample` is `{}`, which is no share", self.sample);
            return Err(TelemetryError::new(message, "use a number from 0 to 1"));
        }
        let url = address(endpoint)?;
        for (name, value) in &self.headers {
            check_header(name, value)?;
        }
        let failed = "traces cannot be sent";
        let client = reqwest::Client::builder()
            // What is configured is what is asked, and nobody else.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(TIME_LIMIT)
            .build()
            .map_err(|error| {
                TelemetryError::new(failed, "check the CA certificates of this machine").because(error)
            })?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_http_client(client)
            .with_endpoint(url)
            .with_timeout(TIME_LIMIT)
            .with_headers(self.headers.clone().into_iter().collect())
            .build()
            .map_err(|error| TelemetryError::new(failed, "check `telemetry.endpoint`").because(error))?;
        Ok(Some(exporter))
    }
}

/// The address that takes traces.
fn address(endpoint: &str) -> Result<String, TelemetryError> {
    let refuse = |why: &str| {
        let message = format!("`telemetry.endpoint` is `{endpoint}`, {why}");
        TelemetryError::new(message, "use the base of a collector, for instance `http://127.0.0.1:4318`")
    };
    let url = reqwest::Url::parse(endpoint).map_err(|_| refuse("which is no URL"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(refuse("which is not spoken over HTTP"));
    }
    let base = endpoint.trim_end_matches('/');
    Ok(if base.ends_with(TRACES) { base.to_owned() } else { format!("{base}/{TRACES}") })
}

fn check_header(name: &str, value: &str) -> Result<(), TelemetryError> {
    let good = name.parse::<HeaderName>().is_ok() && HeaderValue::from_str(value).is_ok();
    // The value may be a secret, so only the name is shown.
    let message = || format!("`telemetry.headers` has `{name}`, which cannot be sent as a header");
    if good { Ok(()) } else { Err(TelemetryError::new(message(), "use plain names and values of one line")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_the_base_of_a_collector() {
        #[track_caller]
        fn check(endpoint: &str, expect: Result<&str, &str>) {
            let address = address(endpoint).map_err(|error| error.to_string());
            match (&address, expect) {
                (Ok(address), Ok(expect)) => assert_eq!(address, expect),
                (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
                _ => panic!("{endpoint}: {address:?}"),
            }
        }
        check("http://127.0.0.1:4318", Ok("http://127.0.0.1:4318/v1/traces"));
        check("https://otel.example/base/", Ok("https://otel.example/base/v1/traces"));
        check("http://otel.example/v1/traces", Ok("http://otel.example/v1/traces"));
        check("127.0.0.1:4318", Err("is no URL"));
        check("grpc://otel.example:4317", Err("not spoken over HTTP"));
        check("", Err("is no URL"));
    }

    #[test]
    fn what_cannot_be_used_is_said_without_secrets() {
        #[track_caller]
        fn check(change: impl FnOnce(&mut TelemetryConfig), expect: &str) {
            let mut config =
                TelemetryConfig { endpoint: Some("http://127.0.0.1:4318".into()), ..Default::default() };
            change(&mut config);
            let error = config.exporter().map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(expect) && error.contains("\nhint: "), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
        check(|config| config.sample = 1.5, "`telemetry.sample` is `1.5`");
        check(|config| config.sample = f64::NAN, "`telemetry.sample`");
        check(|config| drop(config.headers.insert("a b".into(), "s3cret".into())), "has `a b`");
        check(|config| drop(config.headers.insert("x".into(), "s3cret\n".into())), "has `x`");
    }
}
