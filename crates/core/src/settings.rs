//! What can be set for the hub itself.

use std::time::Duration;

/// What can be set for the hub itself.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a call may take.
    pub call_time_limit: Duration,
    /// How long a list waits for sources that are still learning what they have.
    pub list_time_limit: Duration,
    /// How long a question waits for its answer.
    pub ask_time_limit: Duration,
    /// How long a task may take.
    pub task_time_limit: Duration,
    /// How long a finished task can still be looked at.
    pub task_ttl: Duration,
    /// Items on one page of a list.
    pub page_size: usize,
    /// Write JSON texts without indentation.
    pub compact: bool,
    /// How many runs may wait for an answer at once.
    pub max_parked: usize,
    /// How many tasks may be kept at once.
    pub max_tasks: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            call_time_limit: Duration::from_secs(600),
            list_time_limit: Duration::from_secs(2),
            ask_time_limit: Duration::from_secs(300),
            task_time_limit: Duration::from_secs(3600),
            task_ttl: Duration::from_secs(300),
            page_size: 1000,
            compact: false,
            max_parked: 1024,
            max_tasks: 1024,
        }
    }
}
