//! Logs by `tracing`, to standard error only.

use toolgate_config::{LogConfig, LogFormat, LogLevel};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt;

/// Starts logging as configured.
pub(crate) fn init(config: &LogConfig) {
    let level = match config.level {
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::None => LevelFilter::OFF,
    };
    let plain = fmt().with_writer(std::io::stderr).with_max_level(level).with_ansi(false);
    match (config.format, config.timestamps) {
        (LogFormat::Text, true) => plain.init(),
        (LogFormat::Text, false) => plain.without_time().init(),
        (LogFormat::Json, true) => plain.json().init(),
        (LogFormat::Json, false) => plain.json().without_time().init(),
    }
}
