//! The module `time`: what time it is, and waiting.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use starlark::environment::GlobalsBuilder;
use starlark::starlark_module;
use starlark::values::float::UnpackFloat;
use starlark::values::none::NoneType;
use toolgate_core::iso8601;

/// The longest time to wait at once.
const LONGEST: f64 = 60.0;

#[starlark_module]
pub(super) fn module(builder: &mut GlobalsBuilder) {
    /// Now, such as `2026-07-28T09:30:00.000Z`.
    fn now() -> anyhow::Result<String> {
        Ok(iso8601(u64::try_from(since_1970().as_millis())?))
    }

    /// Seconds since 1970.
    fn unix() -> anyhow::Result<f64> {
        Ok(since_1970().as_secs_f64())
    }

    /// Waits for some seconds; the time limit of the script goes on.
    fn sleep(#[starlark(require = pos)] seconds: UnpackFloat) -> anyhow::Result<NoneType> {
        let seconds = seconds.0;
        if !(0.0..=LONGEST).contains(&seconds) {
            anyhow::bail!("cannot wait for {seconds} s: use 0 to {LONGEST}");
        }
        std::thread::sleep(Duration::from_secs_f64(seconds));
        Ok(NoneType)
    }
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
