//! How a task is described: as the extension has it, and as 2025-11-25 had it.

use serde_json::{Map, Value, json};
use toolgate_wire::{Edit, Raw, meta};

use super::entry::{End, Entry, Progress};
use crate::time::iso8601;

/// How long a client should wait between two looks.
const POLL_MS: u32 = 500;

impl Entry {
    /// The description that answers the call which began it.
    pub(super) fn created(&self) -> Raw {
        if self.run.task.is_some() {
            return Raw::of(&json!({"task": self.old_head(&self.lock())}));
        }
        let mut object = self.head(&self.lock());
        object.insert("resultType".into(), "task".into());
        Raw::of(&object)
    }

    /// The whole description: what is asked, or how it ended.
    pub(super) fn detail(&self) -> Raw {
        let progress = self.lock();
        let head = Raw::of(&self.head(&progress));
        let (name, value) = match &progress.end {
            Some(End::Completed(result)) => ("result", result.clone()),
            Some(End::Failed(error)) => ("error", error.clone()),
            None if !progress.opens.is_empty() => ("inputRequests", progress.opens.requests()),
            Some(End::Cancelled) | None => return head,
        };
        Edit::new(&head).set(name, value).finish()
    }

    /// The description as 2025-11-25 has it: what is asked, and how it ended, is told to who waits for the result.
    pub(super) fn state(&self) -> Raw {
        Raw::of(&self.old_head(&self.lock()))
    }

    /// Params, or a result, that belong to this task.
    pub(super) fn related(&self, raw: &Raw) -> Raw {
        if !raw.is_object() {
            return raw.clone();
        }
        let task = Raw::trusted(format!(r#"{{"taskId":{}}}"#, Raw::string(&self.id).as_str()).into());
        Edit::new(raw).set_in(meta::META, meta::RELATED_TASK, task).finish()
    }

    fn head(&self, progress: &Progress) -> Map<String, Value> {
        let mut object = self.common(progress, progress.status());
        object.insert("ttlMs".into(), json!(self.ttl_ms(progress)));
        object.insert("pollIntervalMs".into(), json!(POLL_MS));
        object
    }

    fn old_head(&self, progress: &Progress) -> Map<String, Value> {
        let mut object = self.common(progress, progress.old_status());
        object.insert("ttl".into(), json!(self.ttl_ms(progress)));
        object.insert("pollInterval".into(), json!(POLL_MS));
        object
    }

    fn common(&self, progress: &Progress, status: &str) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("taskId".into(), json!(&*self.id));
        object.insert("status".into(), json!(status));
        if let Some(message) = &progress.message {
            object.insert("statusMessage".into(), json!(message));
        }
        object.insert("createdAt".into(), json!(iso8601(self.created_ms)));
        object.insert("lastUpdatedAt".into(), json!(iso8601(progress.updated_ms)));
        object
    }
}

impl Progress {
    fn status(&self) -> &'static str {
        match &self.end {
            Some(End::Completed(_)) => "completed",
            Some(End::Failed(_)) => "failed",
            Some(End::Cancelled) => "cancelled",
            None if self.opens.is_empty() => "working",
            None => "input_required",
        }
    }

    /// Once a tool that reported an error had failed, and not completed.
    fn old_status(&self) -> &'static str {
        let is_error = |result: &Raw| result.get("isError").and_then(|flag| flag.as_bool()) == Some(true);
        match &self.end {
            Some(End::Completed(result)) if is_error(result) => "failed",
            _ => self.status(),
        }
    }
}
