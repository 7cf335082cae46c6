//! Traces of calls, sent to an OpenTelemetry collector over HTTP.
//!
//! It knows neither arguments nor results, nor who decides on a call: it is told where a call went and how it ended.
//! Nothing waits for it: spans go into a bounded queue, and what does not fit is counted and given up.

mod config;
mod export;
mod span;

use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use toolgate_core::Tracer;
use toolgate_host::Tasks;

pub use config::{TelemetryConfig, TelemetryError};
use export::{Counts, Flusher};
use span::Spans;

/// Sends spans to the collector that is configured, for as long as its tasks run.
pub struct Telemetry {
    tracer: Arc<Spans>,
    counts: Arc<Counts>,
    flusher: Flusher,
}

impl Telemetry {
    /// Starts sending, where an endpoint is configured. Must be called inside the runtime.
    ///
    /// # Errors
    /// What is configured cannot be used; whether the collector answers is not asked.
    pub fn start(
        config: &TelemetryConfig,
        version: &str,
        tasks: &Tasks,
    ) -> Result<Option<Self>, TelemetryError> {
        let Some(exporter) = config.exporter()? else { return Ok(None) };
        let resource = Resource::builder_empty()
            .with_service_name(config.service_name.clone())
            .with_attribute(KeyValue::new("service.version", version.to_owned()))
            .build();
        let (queue, flusher) = export::start(exporter, &resource, tasks);
        let counts = queue.counts();
        let provider = SdkTracerProvider::builder()
            .with_resource(resource)
            // A client that traces decides for its whole trace; the share is for calls that begin one.
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(config.sample))))
            .with_span_processor(queue)
            .build();
        let tracer = Arc::new(Spans::new(provider.tracer("toolgate")));
        Ok(Some(Self { tracer, counts, flusher }))
    }

    /// What the hub begins spans with.
    pub fn tracer(&self) -> Arc<dyn Tracer> {
        self.tracer.clone()
    }

    /// How many spans have reached the collector; to be asked again and again.
    pub fn exported(&self) -> impl Fn() -> u64 + Send + Sync + 'static {
        let counts = self.counts.clone();
        move || counts.exported()
    }

    /// How many spans were given up; to be asked again and again.
    pub fn dropped(&self) -> impl Fn() -> u64 + Send + Sync + 'static {
        let counts = self.counts.clone();
        move || counts.dropped()
    }

    /// Sends what has gathered; takes a second at most, and says nothing about how it went.
    pub async fn flush(&self) {
        self.flusher.flush().await;
    }
}
