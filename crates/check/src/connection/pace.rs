//! Servers that let nobody ask too often: a check asks as fast as it can, and then again when it may.

use std::time::Duration;

use serde_json::Value;
use toolgate_wire::code;

use super::{Lost, Reply};

/// Whoever names no time, or none worth naming, is asked again after this.
const SHORTEST: Duration = Duration::from_millis(50);

/// The status of a refusal that says no more than that.
const TOO_MANY: u16 = 429;
const AFTER_A_STATUS: Duration = Duration::from_secs(1);

/// How long to wait before the same is asked again, where that is what an error says.
pub(crate) fn pause(error: &Value) -> Option<Duration> {
    let millis = error["data"]["retryAfterMs"].as_f64().filter(|_| error["code"] == code::RATE_LIMITED)?;
    Some(Duration::try_from_secs_f64(millis / 1000.0).unwrap_or(SHORTEST).max(SHORTEST))
}

/// The same of what came of a request.
pub(super) fn pause_of(outcome: &Result<Reply, Lost>) -> Option<Duration> {
    match outcome {
        Err(Lost::Status(TOO_MANY)) | Ok(Reply { status: Some(TOO_MANY), .. }) => Some(AFTER_A_STATUS),
        Ok(reply) => pause(reply.outcome.as_ref().err()?),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(error: Value, expect: Option<u64>) {
        assert_eq!(pause(&error), expect.map(Duration::from_millis), "{error}");
    }

    #[test]
    fn only_who_names_a_time_is_asked_again() {
        check(json!({"code": -32000, "data": {"retryAfterMs": 80}}), Some(80));
        check(json!({"code": -32000, "data": {"retryAfterMs": 0}}), Some(50));
        check(json!({"code": -32000, "data": {"retryAfterMs": -1}}), Some(50));
        check(json!({"code": -32000, "data": {"retryAfterMs": 1e300}}), Some(50));
        check(json!({"code": -32000, "message": "no"}), None);
        check(json!({"code": -32603, "data": {"retryAfterMs": 80}}), None);
        check(json!("no"), None);
    }
}
