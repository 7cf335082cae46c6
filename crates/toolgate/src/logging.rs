//! Logs by `tracing`, to standard error only, with secrets hidden.

use std::sync::OnceLock;

use toolgate_config::{LogConfig, LogFormat, LogLevel};
use toolgate_secrets::{RedactingWriter, Redactor};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, Registry, fmt, reload};

/// The level in force, for as long as the process lives.
static LEVEL: OnceLock<reload::Handle<LevelFilter, Registry>> = OnceLock::new();

/// Starts logging as configured.
pub(crate) fn init(config: &LogConfig, redactor: &Redactor) {
    let (level, handle) = reload::Layer::new(filter(config.level));
    let redactor = redactor.clone();
    let plain = fmt::layer()
        .with_writer(move || RedactingWriter::new(redactor.clone(), std::io::stderr()))
        .with_ansi(false);
    let layer = match (config.format, config.timestamps) {
        (LogFormat::Text, true) => plain.boxed(),
        (LogFormat::Text, false) => plain.without_time().boxed(),
        (LogFormat::Json, true) => plain.json().boxed(),
        (LogFormat::Json, false) => plain.json().without_time().boxed(),
    };
    tracing_subscriber::registry().with(level).with(layer).init();
    // It is started once.
    drop(LEVEL.set(handle));
}

/// Logs from this level on.
pub(crate) fn set_level(level: LogLevel) {
    let Some(handle) = LEVEL.get() else { return };
    if let Err(error) = handle.reload(filter(level)) {
        tracing::warn!(%error, "the log level could not be changed");
    }
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::None => LevelFilter::OFF,
    }
}
