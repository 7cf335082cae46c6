//! What is known of a hub and its process only when someone looks.

use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use toolgate_host::process_stats::ProcessStats;

use super::Labels;
use crate::{ConnectionInfo, SourceId, SourceState, Transport};

/// What is so right now.
pub(crate) struct Now {
    pub(crate) version: String,
    pub(crate) connections: Vec<ConnectionInfo>,
    pub(crate) tasks: usize,
    pub(crate) sources: Vec<(SourceId, SourceState)>,
    pub(crate) process: Option<ProcessStats>,
}

impl Now {
    pub(super) fn sample() -> Self {
        Self {
            version: "0.0.0".into(),
            connections: Vec::new(),
            tasks: 0,
            sources: vec![(SourceId::new("example"), SourceState::Connected)],
            process: Some(ProcessStats::default()),
        }
    }

    pub(super) fn registry(&self) -> Registry {
        let mut registry = Registry::with_prefix("toolgate");
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let connections: Family<Labels<1>, Gauge> = Family::default();
        for transport in TRANSPORTS {
            let here = self.connections.iter().filter(|info| info.transport == transport).count();
            connections.get_or_create(&[("transport", transport.as_str().into())]).set(count(here));
        }
        let help = "Clients and sessions that are connected, by transport";
        registry.register("connections", help, connections);
        registry.register("tasks", "Tasks that are kept", ConstGauge::new(count(self.tasks)));
        let (sources, up): (Family<Labels<1>, Gauge>, Family<Labels<1>, Gauge>) = Default::default();
        for state in SourceState::ALL {
            let so = self.sources.iter().filter(|(_, its)| *its == state).count();
            sources.get_or_create(&[("state", state.as_str().into())]).set(count(so));
        }
        for (source, state) in &self.sources {
            let is_up = i64::from(*state == SourceState::Connected);
            up.get_or_create(&[("source", source.to_string())]).set(is_up);
        }
        registry.register("sources", "Sources, by state", sources);
        registry.register("source_up", "Whether a source is connected", up);
        registry.register("build", "The version that runs", Info::new([("version", self.version.clone())]));
        if let Some(process) = &self.process {
            add_process(&mut registry, process);
        }
        registry
    }
}

fn add_process(registry: &mut Registry, process: &ProcessStats) {
    let gauge = |value: u64| ConstGauge::new(value);
    let help = "When the process started, in seconds since 1970";
    registry.register("process_start_time_seconds", help, ConstGauge::new(process.start_seconds));
    let help = "Time that the process spent computing";
    registry.register("process_cpu_seconds", help, ConstCounter::new(process.cpu_seconds));
    let help = "Memory that the process holds";
    registry.register("process_resident_bytes", help, gauge(process.resident_bytes));
    registry.register("process_open_fds", "File descriptors in use", gauge(process.open_fds));
    registry.register("process_threads", "Threads of the process", gauge(process.threads));
}

/// How clients are connected; calls of this process itself have no connection.
const TRANSPORTS: [Transport; 4] = [Transport::Stdio, Transport::Attached, Transport::Http, Transport::Sse];
