//! What people change by a command stands in the record, as what they change on the admin page does.

use std::time::Instant;

use toolgate_audit::Audit;
use toolgate_core::{ByHand, Error, Kind, Principal, Recorder as _};
use toolgate_host::Clock;
use toolgate_secrets::SecretError;

/// Makes a change and records it, as the method `command/…`: the words of the command, and the name of what it changed,
/// which the change tells. What could not be recorded is not changed, unless calls would run unrecorded too.
pub(crate) async fn recorded<T>(
    audit: &Audit,
    words: &str,
    change: impl Future<Output = anyhow::Result<(T, String)>>,
) -> anyhow::Result<T> {
    if audit.ready().is_err() {
        return Err(Error::new(Kind::Internal, "this cannot be recorded, so it was not done")
            .hint("make room in the data folder, or set `audit.on_full = \"run\"` to do it unrecorded")
            .because(audit.trouble().unwrap_or_default())
            .into());
    }
    make(audit, words, change).await
}

/// The same for a change that takes rights away: a full disk is no reason to leave a stolen token valid.
pub(crate) async fn recorded_if_possible<T>(
    audit: &Audit,
    words: &str,
    change: impl Future<Output = anyhow::Result<(T, String)>>,
) -> anyhow::Result<T> {
    let ready = audit.ready();
    let done = make(audit, words, change).await?;
    if ready.is_err() || audit.state().waiting > 0 {
        let trouble = audit.trouble().unwrap_or_default();
        tracing::warn!("`toolgate {words}` is done, but not on record: {trouble}");
    }
    Ok(done)
}

async fn make<T>(
    audit: &Audit,
    words: &str,
    change: impl Future<Output = anyhow::Result<(T, String)>>,
) -> anyhow::Result<T> {
    let begun = Instant::now();
    let changed = change.await;
    let (about, outcome) = match &changed {
        Ok((_, about)) => (about.as_str(), "complete"),
        // What was refused changed nothing; what broke may have.
        Err(error) if is_refused(error) => return changed.map(|(done, _)| done),
        Err(_) => ("", "failed"),
    };
    let name = format!("command/{words} {about}");
    let (time_ms, took) = (Clock::system().unix_ms(), begun.elapsed());
    ByHand { time_ms, principal: &Principal::local(), name: name.trim_end(), outcome, took }.record(audit);
    changed.map(|(done, _)| done)
}

fn is_refused(error: &anyhow::Error) -> bool {
    let known = error.downcast_ref::<Error>().is_some_and(|error| error.kind() != Kind::Internal);
    known || matches!(error.downcast_ref(), Some(SecretError::Name(_) | SecretError::Value(_)))
}
