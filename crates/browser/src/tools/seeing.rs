//! What a page looks like, in lines of text.

use std::collections::HashMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use toolgate_core::{Error, Kind, Result};

use crate::acting::What;
use crate::pool::Page;
use crate::tab::{Halt, Kept, Spot, Tab};
use crate::text::{MOST, brief, cut, fenced};

/// How long a look at a page may take; a long one on a busy machine takes its time.
const LOOK: Duration = Duration::from_secs(30);

/// What of a page is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    #[default]
    Full,
    Interactive,
    Text,
}

/// Which part of a page is shown, and how.
#[derive(Debug)]
pub(super) struct View {
    pub(super) mode: Mode,
    pub(super) scope: Option<What>,
    pub(super) depth: u32,
    pub(super) most: usize,
}

/// The lines of a page.
#[derive(Debug, Default)]
struct Lines {
    lines: Vec<String>,
    total: u64,
}

/// Looks at a page, and tells it between marks.
pub(super) async fn see(page: &Page, view: &View, diff: bool) -> Result<String> {
    let Lines { lines, total } = look(&page.tab, view).await?;
    let whole = lines.join("\n");
    let of = format!("{:?} {:?} {}", view.mode, view.scope, view.depth);
    let about = page.about().await;
    let (url, loader) = {
        let state = page.tab.state();
        (brief(&state.url, 500), state.loader.clone())
    };
    let now = Kept { text: whole.clone(), loader, of };
    let before = page.tab.state().snapshot.replace(now.clone());
    let title = format!("title {:?}", about["title"].as_str().unwrap_or_default());
    let mut head = format!("{url} ({}, {})", page.instance.id, page.tab.id);
    if let Some(note) = page.instance.lost() {
        head = format!("{head}\nnote: {note}");
    }
    let (body, rest) = match before.filter(|before| diff && before.of == now.of) {
        Some(before) => (compared(before.text, whole).await?, String::new()),
        None if diff => (whole, "\nthere was no such snapshot before: this is all".to_owned()),
        None => (whole, String::new()),
    };
    let (shown, is_whole) = cut(&body, view.most);
    let shown = if is_whole { shown } else { shown.rsplit_once('\n').map_or(shown, |(lines, _)| lines) };
    let count = shown.lines().count();
    let mark = if is_whole && lines.len() as u64 >= total {
        String::new()
    } else {
        let part = if !is_whole && count as u64 >= total { ", the last in part" } else { "" };
        format!(
            "\ntruncated: shown {count} of {total} lines{part}; use `ref` or `selector` for a part, or `find_in_page`"
        )
    };
    Ok(format!("{head}\n{}{mark}{rest}", fenced(&format!("{title}\n{shown}"))))
}

/// The same, where it may take its time.
async fn compared(before: String, now: String) -> Result<String> {
    let compared = tokio::task::spawn_blocking(move || changes(&before, &now)).await;
    compared.map_err(|error| Error::new(Kind::Internal, "the snapshots cannot be compared").because(error))
}

/// What is new and what is gone.
fn changes(before: &str, now: &str) -> String {
    let diff = TextDiff::configure().timeout(Duration::from_secs(2)).diff_lines(before, now);
    let mut lines = Vec::new();
    for change in diff.iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Insert => "+",
            ChangeTag::Delete => "-",
            ChangeTag::Equal => continue,
        };
        lines.push(format!("{sign} {}", change.value().trim_end_matches('\n')));
    }
    if lines.is_empty() { "nothing changed".into() } else { lines.join("\n") }
}

/// The lines of a page and of the frames in it.
async fn look(tab: &Tab, view: &View) -> Result<Lines> {
    let args = json!({"mode": view.mode, "depth": view.depth, "most": MOST});
    let (spot, told) = match &view.scope {
        Some(what) => tab.on(what, ("snapshot", args.clone()), LOOK).await?,
        None => {
            let spot = tab.main_spot();
            let told = tab.run(&spot, ("snapshot", args.clone()), LOOK).await?;
            (spot, told)
        }
    };
    Ok(with_frames(tab, (&spot, &told), &args).await)
}

/// The lines that a page told, and in their places those of the frames in it.
async fn with_frames(tab: &Tab, (spot, told): (&Spot, &Value), args: &Value) -> Lines {
    let mut lines = taken(told);
    // From the last one up, so that the places of those before stay.
    for (frame, below) in frames(tab, spot, told).await.into_iter().rev() {
        let told: Result<Value, Halt> = tab.run(&below, ("snapshot", args.clone()), LOOK).await;
        // A frame may go while it is looked at.
        let Ok(told) = told else { continue };
        let inner = Box::pin(with_frames(tab, (&below, &told), args)).await;
        let at = usize::try_from(frame["line"].as_u64().unwrap_or_default()).unwrap_or_default() + 1;
        let level = usize::try_from(frame["level"].as_u64().unwrap_or_default()).unwrap_or_default();
        let room = " ".repeat(level.min(20));
        lines.total += inner.total;
        if at <= lines.lines.len() {
            lines.lines.splice(at..at, inner.lines.into_iter().map(|line| format!("{room}{line}")));
        }
    }
    lines
}

/// The frames that a page tells of, each with where to reach it.
async fn frames<'a>(tab: &Tab, above: &Spot, told: &'a Value) -> Vec<(&'a Value, Spot)> {
    let shown = told["frames"].as_array().map(Vec::as_slice).unwrap_or_default();
    if shown.is_empty() {
        return Vec::new();
    }
    let mut by_ref = HashMap::new();
    for spot in tab.spots().into_iter().filter(|spot| spot.parent.as_ref() == Some(&above.frame)) {
        // A frame may go while it is looked at.
        if let Ok(reference) = tab.owner_ref(above, &spot.frame, LOOK).await {
            by_ref.insert(reference, spot);
        }
    }
    shown.iter().filter_map(|frame| Some((frame, by_ref.remove(frame["ref"].as_str()?)?))).collect()
}

fn taken(told: &Value) -> Lines {
    let lines =
        told["lines"].as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect();
    Lines { lines, total: told["total"].as_u64().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_lines_with_a_sign() {
        assert_eq!(changes("a\nb\nc", "a\nx\nc"), "- b\n+ x");
        assert_eq!(changes("a", "a"), "nothing changed");
    }
}
