//! What can be set for the hub itself.

use std::sync::Arc;
use std::time::Duration;

use crate::Search;

/// By which way a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskBy {
    /// In the client that calls.
    Client,
    /// In the inbox, for the command line and the admin page.
    Inbox,
}

/// What can be set for the hub itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How long a call may take, where its source has no more.
    pub call_time_limit: Duration,
    /// How long a list waits for sources that are still learning what they have.
    pub list_time_limit: Duration,
    /// How long a question waits for its answer.
    pub ask_time_limit: Duration,
    /// By which ways a person is asked, in order.
    pub ask_by: Arc<[AskBy]>,
    /// How long a call waits for the inbox before it tells its caller to come back.
    pub approval_wait: Duration,
    /// How long a question in the inbox, and the answer to it, counts.
    pub approval_ttl: Duration,
    /// How long a task may take.
    pub task_time_limit: Duration,
    /// How long a finished task can still be looked at.
    pub task_ttl: Duration,
    /// Items on one page of a list.
    pub page_size: usize,
    /// When clients search for tools instead of getting all their definitions.
    pub search: Search,
    /// Write JSON texts without indentation.
    pub compact: bool,
    /// How many bytes of text a tool may answer with before the answer is cut; none are too many without it.
    pub output_limit: Option<usize>,
    /// How many runs may wait for an answer at once.
    pub max_parked: usize,
    /// How many tasks may be kept at once.
    pub max_tasks: usize,
    /// How many of them may be one principal's.
    pub max_tasks_each: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            call_time_limit: Duration::from_secs(600),
            list_time_limit: Duration::from_secs(2),
            ask_time_limit: Duration::from_secs(300),
            ask_by: [AskBy::Client, AskBy::Inbox].into(),
            // Many clients give up after 60 s; they should hear before that what they wait for.
            approval_wait: Duration::from_secs(45),
            approval_ttl: Duration::from_secs(3600),
            task_time_limit: Duration::from_secs(3600),
            task_ttl: Duration::from_secs(300),
            page_size: 1000,
            search: Search::Never,
            compact: false,
            output_limit: None,
            max_parked: 1024,
            max_tasks: 1024,
            max_tasks_each: 256,
        }
    }
}
