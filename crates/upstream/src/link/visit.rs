//! Addresses that a person has to visit before a server of 2025-11-25 answers a call.

use std::pin::pin;
use std::time::Duration;

use toolgate_core::{Question, Result, RunHandle};
use toolgate_wire::{Era, Raw};

use super::Link;
use super::exchange::{Beside, Happened};
use crate::desk::{Caller, Said, Told};

/// How many addresses one answer may name.
const MOST: usize = 8;

impl Link {
    /// Has the person visit what the server's error names, and waits for as long until they have. Says whether the call
    /// is worth another try.
    pub(crate) async fn visit(&self, error: &Raw, run: &RunHandle, patience: Duration) -> Result<bool> {
        let pages: Vec<Raw> = match error.path(&["data", "elicitations"]) {
            Some(pages) => pages.items().filter(Raw::is_object).take(MOST).collect(),
            None => Vec::new(),
        };
        let desk = &self.wire.desk;
        let client = run.client();
        // A legacy client that cannot be asked knows what to make of the error itself.
        let able = client.capabilities.elicitation_url || client.era() == Era::Modern;
        if pages.is_empty() || !able {
            pages.iter().for_each(|page| desk.sends_after(page, run));
            return Ok(false);
        }
        let Ok(mut ticket) = desk.place(Some(Caller::of(run))) else { return Ok(false) };
        let mut open = pages.iter().filter(|page| desk.awaits(page, ticket.id, run)).count();
        let mut beside = Beside::new(desk, ticket.events.take(), Some(run));
        let keys: Vec<String> = (1..=pages.len()).map(|number| format!("visit-{number}")).collect();
        let questions = keys.iter().zip(pages).map(|(key, page)| Question::elicit(key, page)).collect();
        let mut asking = pin!(run.ask(questions));
        let answers = loop {
            tokio::select! {
                biased;
                answers = &mut asking => break answers?,
                happened = beside.next() => open = self.pass(&mut beside, happened, open).await,
            }
        };
        let accepts = |key: &String| {
            let action = answers.get(key).and_then(|answer| answer.get("action"));
            action.as_ref().and_then(Raw::as_string).as_deref() == Some("accept")
        };
        if !keys.iter().all(accepts) {
            return Ok(false);
        }
        let visiting = async {
            while open > 0 {
                let happened = beside.next().await;
                open = self.pass(&mut beside, happened, open).await;
            }
        };
        // A server need not tell that a visit is over: it may be asked again to find out.
        drop(tokio::time::timeout(patience, visiting).await);
        Ok(true)
    }

    /// Passes on what happened. Says how many visits are open then; a server may say of one twice that it is over.
    async fn pass(&self, beside: &mut Beside<'_>, happened: Happened, open: usize) -> usize {
        let ended = matches!(&happened, Happened::Said(Told { said: Said::Visited(..), .. }));
        beside.take(&self.wire, happened).await;
        open.saturating_sub(usize::from(ended))
    }
}
