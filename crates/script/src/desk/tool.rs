//! Calls of tools: as the caller, under the caller's policy, and only where the header says so.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use toolgate_core::{Event, Outcome, Run};
use toolgate_wire::Raw;

use super::{Answer, Desk, OWN, told};
use crate::pool::{Over, Wall};

/// How often is looked whether a call waits for a person.
const LOOK: Duration = Duration::from_millis(100);

impl Desk<'_> {
    pub(super) async fn tool(&self, name: &str, arguments: Raw, wall: &mut Wall) -> Result<Answer, Over> {
        let run = match self.begin(name, arguments) {
            Ok(run) => run,
            Err(why) => return Ok(Err(why)),
        };
        let answer = self.outcome(run, wall).await?;
        Ok(answer.and_then(|result| self.answered(name, &result)))
    }

    fn begin(&self, name: &str, arguments: Raw) -> Result<Run, String> {
        Self::count(&self.calls, self.pack.config.max_tool_calls, "calls of tools")?;
        if !self.script.header.grants_tool(name) {
            let script = &self.script.name;
            return Err(format!(
                "the tool `{name}` is not among the `@tools` that `{script}` was approved with"
            ));
        }
        if name.starts_with(OWN) {
            return Err("a script uses other scripts by `load`, not by calling tools".into());
        }
        let name = name.parse().map_err(|error| told(&error))?;
        Ok(self.run.start(name, arguments))
    }

    /// Waits for the end. The time in which a person is asked is not the script's.
    async fn outcome(&self, mut run: Run, wall: &mut Wall) -> Result<Answer, Over> {
        let mut looked = Instant::now();
        loop {
            tokio::select! {
                event = run.next() => match event {
                    Some(Event::Ask(ask)) => {
                        let asked = Instant::now();
                        wall.step_aside();
                        self.run.pass_on(ask).await;
                        wall.give_back(asked.elapsed());
                        wall.come_back().await;
                        looked = Instant::now();
                    }
                    Some(Event::Done(outcome)) => {
                        wall.come_back().await;
                        return Ok(result(outcome));
                    }
                    Some(Event::Progress(_) | Event::Log(_) | Event::Other { .. } | Event::HangUp) => {}
                    None => {
                        wall.come_back().await;
                        return Ok(Err("the call ended without an answer".into()));
                    }
                },
                () = sleep_until((looked + LOOK).min(wall.until())) => {
                    if run.is_held() {
                        wall.give_back(looked.elapsed());
                        wall.step_aside();
                    } else if wall.until() <= Instant::now() {
                        return Err(Over);
                    }
                    looked = Instant::now();
                }
            }
        }
    }

    /// What a script gets of a result: its structured content, else its text, else all of it.
    fn answered(&self, name: &str, result: &Raw) -> Answer {
        let most = self.pack.config.max_input_bytes;
        let texts = texts(result);
        if result.get("isError").and_then(|failed| failed.as_bool()) == Some(true) {
            return Err(format!("the tool `{name}` failed: {}", texts.unwrap_or_default()));
        }
        let answer = match (result.get("structuredContent"), texts) {
            (Some(content), _) if !content.is_null() => content,
            (_, Some(text)) => Raw::string(&text),
            (_, None) => result.clone(),
        };
        match answer.as_bytes().len() > most {
            true => Err(format!("the tool `{name}` answered with more than {most} bytes")),
            false => Ok(answer),
        }
    }
}

fn result(outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Complete(result) => Ok(result),
        Outcome::Failed(error) => Err(told(&error)),
        Outcome::InputRequired { .. } | Outcome::Task(_) => Err("the tool does not answer at once".into()),
    }
}

/// The text of a result that has nothing else.
fn texts(result: &Raw) -> Option<String> {
    let content = result.get("content")?;
    let texts: Option<Vec<String>> =
        content.items().map(|block| block.get("text")?.as_string().map(Into::into)).collect();
    texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join("\n"))
}
