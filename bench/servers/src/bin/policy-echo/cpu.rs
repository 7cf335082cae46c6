//! Processor time.

use std::time::Duration;

use anyhow::Result;
use nix::time::{ClockId, clock_gettime};

/// What a piece of work gives, and the processor time of this thread that it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> Result<(T, Duration)> {
    let before = of_thread()?;
    let done = work();
    Ok((done, of_thread()? - before))
}

/// The processor time of this thread so far.
pub(crate) fn of_thread() -> Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}

/// The processor time of all threads so far.
pub(crate) fn of_process() -> Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?.into())
}
