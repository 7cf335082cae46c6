//! What becomes of a panic in a part that the hub calls: an error, and a line in the log.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{Error, Kind, Result};

/// Runs a part of the hub that may panic. What it leaves behind is not used again, or is behind a lock.
pub(crate) fn guard<T>(part: &'static str, work: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| broken(part, &*panic))
}

/// The error of a part that panicked; what it said goes to the log only.
pub(crate) fn broken(part: &'static str, panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    tracing::error!("a {part} panicked: {text}");
    Error::new(Kind::Internal, format!("the {part} broke down")).because(text)
}
