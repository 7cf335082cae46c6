//! Numbers that other parts count, read when someone looks.

use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

/// A number that another part counts. All are named here, so that the page that lists them is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Secrets that were hidden in what went out.
    Redactions,
    /// Records of the audit that were written.
    AuditRecords,
    /// Records of the audit that could not be written.
    AuditDropped,
    /// What waits in the audit's spool, in bytes.
    AuditSpoolBytes,
    /// Tools of other servers that are held.
    PinsHeld,
    /// Tools of other servers that are used although they are not as they were accepted.
    PinsWarned,
    /// Spans that reached the collector.
    SpansExported,
    /// Spans that were given up, because the collector was slow or away.
    SpansDropped,
}

impl Reading {
    /// All of them, in the order they are shown in.
    pub const ALL: [Self; 8] = [
        Self::Redactions,
        Self::AuditRecords,
        Self::AuditDropped,
        Self::AuditSpoolBytes,
        Self::PinsHeld,
        Self::PinsWarned,
        Self::SpansExported,
        Self::SpansDropped,
    ];

    /// Its name without prefix and suffix, what it means, and whether it only grows.
    fn describe(self) -> (&'static str, &'static str, bool) {
        match self {
            Self::Redactions => ("redactions", "Secrets hidden in what went out", true),
            Self::AuditRecords => ("audit_records", "Audit records written", true),
            Self::AuditDropped => ("audit_dropped", "Audit records that could not be written", true),
            Self::AuditSpoolBytes => ("audit_spool_bytes", "What waits in the spool of the audit", false),
            Self::PinsHeld => ("pins_held", "Tools of other servers that are held", false),
            Self::PinsWarned => {
                let help = "Tools of other servers that are used although they are not as they were accepted";
                ("pins_warned", help, false)
            }
            Self::SpansExported => ("spans_exported", "Spans sent to the collector of traces", true),
            Self::SpansDropped => {
                ("spans_dropped", "Spans given up because the collector was slow or away", true)
            }
        }
    }
}

/// Where the numbers of other parts come from.
#[derive(Default)]
pub(super) struct Readings(Vec<(Reading, Box<dyn Fn() -> u64 + Send + Sync>)>);

impl Readings {
    pub(super) fn add(&mut self, reading: Reading, from: impl Fn() -> u64 + Send + Sync + 'static) {
        self.0.retain(|(known, _)| *known != reading);
        self.0.push((reading, Box::new(from)));
    }

    pub(super) fn registry(&self) -> Registry {
        let mut registry = Registry::with_prefix("toolgate");
        for (reading, from) in &self.0 {
            let ((name, help, grows), value) = (reading.describe(), from());
            if grows {
                registry.register(name, help, ConstCounter::new(value));
            } else {
                registry.register(name, help, ConstGauge::new(value));
            }
        }
        registry
    }
}
