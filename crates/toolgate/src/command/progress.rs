//! What a person sees while a call takes its time: one line on standard error, gone when it ends.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, interval_at};
use toolgate_core::{Event, Outcome, Progress, Run};
use toolgate_host::terminal;

use super::table::{fit, one_line};

/// Nobody needs to be told before this, nor more often.
const PATIENCE: Duration = Duration::from_secs(1);

/// The columns of a terminal that does not say how many it has.
const COLUMNS: usize = 80;

/// Waits for the outcome of a run; who looks at a terminal sees that it works, and how far it is.
pub(crate) async fn outcome(mut run: Run, name: &str) -> Outcome {
    let stderr = std::io::stderr();
    if !stderr.is_terminal() {
        return run.outcome().await;
    }
    let columns = terminal::columns(&stderr).unwrap_or(COLUMNS);
    let begun = Instant::now();
    let mut ticks = interval_at(begun + PATIENCE, PATIENCE);
    let mut far = String::new();
    let outcome = loop {
        tokio::select! {
            event = run.next() => match event {
                Some(Event::Progress(progress)) => far = words(&progress),
                Some(Event::Done(outcome)) => break outcome,
                Some(Event::Log(_) | Event::Ask(_) | Event::Other { .. } | Event::HangUp) => {}
                None => break run.outcome().await,
            },
            _ = ticks.tick() => {
                let line = one_line(&format!("{name}: {} s {far}", begun.elapsed().as_secs()));
                write(&fit(&line, columns.saturating_sub(1)));
            }
        }
    };
    if begun.elapsed() >= PATIENCE {
        write("");
    }
    outcome
}

/// Steps that a person sees while something goes on; nothing of them is left on the screen.
pub(crate) struct Steps {
    name: String,
    columns: Option<usize>,
}

impl Steps {
    pub(crate) fn begin(name: &str) -> Self {
        let stderr = std::io::stderr();
        let columns = stderr.is_terminal().then(|| terminal::columns(&stderr).unwrap_or(COLUMNS));
        Self { name: name.to_owned(), columns }
    }

    /// Shows what is done next.
    pub(crate) fn say(&self, step: &str) {
        if let Some(columns) = self.columns {
            write(&fit(&one_line(&format!("{}: {step}", self.name)), columns.saturating_sub(1)));
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if self.columns.is_some() {
            write("");
        }
    }
}

/// Puts a line in the place of the last one.
fn write(line: &str) {
    // A terminal that is gone needs no progress.
    drop(write!(std::io::stderr().lock(), "\r\x1b[K{line}"));
}

/// How far it is: `3/10 fetching`.
fn words(progress: &Progress) -> String {
    let value: Value = progress.0.to().unwrap_or_default();
    // Counts are whole; of anything else a tenth is exact enough to see that it moves.
    let number = |key: &str| value[key].as_f64().map(|number| ((number * 10.0).round() / 10.0).to_string());
    let message = value["message"].as_str().unwrap_or_default();
    match (number("progress"), number("total")) {
        (Some(done), Some(total)) => format!("{done}/{total} {message}"),
        (Some(done), None) => format!("{done} {message}"),
        (None, _) => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_in_words() {
        for (progress, expect) in [
            (Progress::new(3.0, Some(10.0), Some("fetching")), "3/10 fetching"),
            (Progress::new(0.512, None, Some("half")), "0.5 half"),
            (Progress::new(2.0, Some(4.0), None), "2/4 "),
        ] {
            assert_eq!(words(&progress), expect);
        }
    }
}
