//! What a caller is told while a turn goes on.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use toolgate_core::{Progress, RunHandle};
use toolgate_host::Clock;

use crate::answers::list;

/// How often text is told while it grows.
const PACE: Duration = Duration::from_millis(400);

/// How much of a text is told at once.
const LENGTH: usize = 160;

/// Tells what happens.
pub(super) struct Telling<'a> {
    run: &'a RunHandle,
    count: u32,
    text: String,
    told: Option<Instant>,
    /// The last known state of every tool step.
    steps: HashMap<String, String>,
}

impl<'a> Telling<'a> {
    pub(super) fn new(run: &'a RunHandle) -> Self {
        Self { run, count: 0, text: String::new(), told: None, steps: HashMap::new() }
    }

    /// A piece of the reply.
    pub(super) async fn piece(&mut self, piece: &str) {
        self.text.push_str(piece);
        if self.told.is_none_or(|told| told.elapsed() >= PACE) {
            self.told = Some(Instant::now());
            let start = self.text.char_indices().rev().nth(LENGTH).map_or(0, |(place, _)| place);
            let end = self.text[start..].trim().to_owned();
            self.text.clear();
            self.say(&end).await;
        }
    }

    /// A part of a message in a new state.
    pub(super) async fn part(&mut self, part: &Value) {
        let (Some("tool"), Some(id)) = (part["type"].as_str(), part["id"].as_str()) else { return };
        let (tool, state) = (part["tool"].as_str().unwrap_or_default(), &part["state"]);
        let status = state["status"].as_str().unwrap_or_default();
        if status == "pending" || self.steps.get(id).is_some_and(|known| known == status) {
            return;
        }
        self.steps.insert(id.to_owned(), status.to_owned());
        let words =
            [&state["title"], &state["error"], &state["input"]["command"], &state["input"]["filePath"]];
        let words = words.into_iter().find_map(Value::as_str).unwrap_or_default();
        self.say(format!("{tool}: {status} {words}").trim_end()).await;
    }

    /// A list of things to do.
    pub(super) async fn todos(&mut self, todos: &Value) {
        let todos = list(todos);
        let done = todos.iter().filter(|todo| todo["status"] == "completed").count();
        let now = todos.iter().find(|todo| todo["status"] == "in_progress");
        let now = now.and_then(|todo| todo["content"].as_str()).unwrap_or_default();
        self.say(format!("to do: {done} of {} done. {now}", todos.len()).trim_end()).await;
    }

    /// A model that is asked again later.
    pub(super) async fn retry(&mut self, status: &Value) {
        let (attempt, said) = (&status["attempt"], status["message"].as_str().unwrap_or("no reason"));
        let wait = status["next"].as_u64().unwrap_or(0).saturating_sub(Clock::system().unix_ms()) / 1000;
        self.say(&format!("attempt {attempt} failed ({said}), the next is in {wait} s")).await;
    }

    async fn say(&mut self, words: &str) {
        if words.is_empty() {
            return;
        }
        self.count += 1;
        let words: String = words.chars().take(2 * LENGTH).collect();
        self.run.progress(Progress::new(f64::from(self.count), None, Some(&words))).await;
    }
}
