//! Sending the parts of a text one after the other, and saying truthfully how far that went.

use toolgate_core::{Error, Kind, Result, RunHandle};

use super::line::{Line, Refused, Step};
use super::target::Target;
use crate::service::{Patience, limited};

/// How much of the last part that went out is told, so that the rest can be found.
const SHOWN: usize = 60;

/// Sends all parts in order, and returns the ids of the messages.
pub(super) async fn deliver(
    line: &Line,
    run: &RunHandle,
    target: &Target,
    parts: &[String],
) -> Result<Vec<String>> {
    let mut patience = Patience::new(run);
    let opened = match line.first(target) {
        // Opening twice is the same as once, so whether it is done does not matter.
        Some(step) => Some(take(line, &mut patience, step).await.map_err(|failed| failed.error)?),
        None => None,
    };
    let place = opened.as_deref().unwrap_or(&target.id);
    let mut sent = Vec::with_capacity(parts.len());
    for part in parts {
        match take(line, &mut patience, Step::Send(place, part)).await {
            Ok(id) => sent.push(id),
            Err(failed) => return Err(told(failed, parts, sent.len())),
        }
        if parts.len() > 1 {
            patience.say(&format!("part {} of {} is sent", sent.len(), parts.len())).await;
        }
    }
    Ok(sent)
}

struct Failed {
    error: Error,
    /// Whether it may have gone out all the same.
    unsure: bool,
}

/// Takes a step, and again as often as the service asks to wait.
async fn take(line: &Line, patience: &mut Patience<'_>, step: Step<'_>) -> Result<String, Failed> {
    let name = line.provider.name();
    patience.renew();
    loop {
        let delay = match line.take(step).await {
            Ok(id) => return Ok(id),
            Err(Refused::No(error)) => return Err(Failed { error, unsure: false }),
            Err(Refused::Unsure(error)) => return Err(Failed { error, unsure: true }),
            Err(Refused::Later(delay)) => delay,
        };
        if patience.wait(name, delay).await {
            continue;
        }
        let error = limited(format!("{name} takes no more messages for now"), delay);
        return Err(Failed { error, unsure: false });
    }
}

/// What happened, if not all went out.
fn told(failed: Failed, parts: &[String], sent: usize) -> Error {
    let Failed { error, unsure } = failed;
    if sent == 0 && !unsure {
        return error;
    }
    let (all, at) = (parts.len(), sent + 1);
    let how = if unsure { "may have been sent or not" } else { "was not sent" };
    let message = match (all, sent) {
        (1, _) => format!("the message {how}: {error}"),
        (_, 0) => format!("part 1 of {all} {how}, the others were not: {error}"),
        (_, 1) => format!("part 1 of {all} was sent, part {at} {how}: {error}"),
        _ => format!("parts 1 to {sent} of {all} were sent, part {at} {how}: {error}"),
    };
    let hint = match sent.checked_sub(1).and_then(|last| parts.get(last)) {
        Some(last) => format!("do not send the whole again; send only what follows `{}`", end_of(last)),
        None => "look there whether it arrived, before you send it again".to_owned(),
    };
    // To do the same again would send twice what went out.
    let kind = if error.kind().retryable() { Kind::Upstream } else { error.kind() };
    Error::new(kind, message).hint(hint).because(error)
}

/// The last words of a part, without the marks of a block of code.
fn end_of(part: &str) -> String {
    let words = part.trim_end_matches(['`', '\n', ' ']);
    let skip = words.chars().count().saturating_sub(SHOWN);
    words.chars().skip(skip).map(|c| if c.is_control() || c == '`' { ' ' } else { c }).collect()
}
