//! What to say of an element that is not there, or not what it should be.

use serde_json::Value;
use toolgate_core::{Error, Kind};

use super::What;
use crate::tab::Tab;
use crate::text::{brief, harmless};

/// What to say of an element that is not there, or not what it should be.
pub(super) fn missing(tab: &Tab, what: &What, told: &Value) -> Error {
    let text = |key: &str| harmless(told[key].as_str().unwrap_or_default());
    let list = |key: &str| -> String {
        let items = told[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        harmless(&items.collect::<Vec<_>>().join(", "))
    };
    let wrong = |words: String, hint: &'static str| Error::new(Kind::InvalidInput, words).hint(hint);
    match told["missing"].as_str().unwrap_or_default() {
        "stale" => stale(tab, what, told),
        "nothing" => {
            let nearest = list("nearest");
            let like = if nearest.is_empty() { String::new() } else { format!("; nearest: {nearest}") };
            let words = format!("element_not_found: nothing on the page matches {}{like}", what.shown());
            Error::new(Kind::NotFound, words).hint("use one of these refs, or call `get_page_snapshot`")
        }
        "selector" => wrong(
            format!("`selector` is no CSS selector: {}", text("why")),
            "give one like `#id` or `form .send`",
        ),
        "table" => {
            wrong(format!("{} is no table and holds none: {}", what.shown(), text("was")), "name a `<table>`")
        }
        "select" => {
            wrong(format!("{} is no list of options: {}", what.shown(), text("was")), "click it instead")
        }
        "option" if told["several"] == true => wrong("only one option can be chosen here".into(), "give one"),
        "option" => {
            let words = format!("no option fits {}; there are: {}", list("lacking"), list("known"));
            Error::new(Kind::NotFound, words).hint("give one of these, by label or value")
        }
        other => Error::new(Kind::Internal, format!("the page answers `{}`", brief(other, 60))),
    }
}

/// Says what became of an element that was there once.
fn stale(tab: &Tab, what: &What, told: &Value) -> Error {
    let What::Ref(reference) = what else { return Error::new(Kind::NotFound, "the element is gone") };
    let number: u64 = reference.rsplit('e').next().and_then(|text| text.parse().ok()).unwrap_or(u64::MAX);
    let state = tab.state();
    if number > state.last_ref {
        return Error::new(Kind::NotFound, format!("no element was ever called `{reference}`"))
            .hint("refs come from `get_page_snapshot` and `find_in_page`");
    }
    let was = state.snapshot.as_ref().and_then(|kept| mark_of(&kept.text, reference)).unwrap_or_default();
    let was = if was.is_empty() { String::new() } else { format!(", which was {was},") };
    let left = state.snapshot.as_ref().is_some_and(|kept| kept.loader != state.loader);
    let words = if left || told["known"] == false {
        format!("stale_ref: `{reference}`{was} was on another page; now it is {}", brief(&state.url, 300))
    } else {
        format!("stale_ref: `{reference}`{was} was removed from the page since")
    };
    Error::new(Kind::NotFound, words).hint("call `get_page_snapshot` for the refs of what is there now")
}

/// The mark of an element in a snapshot, such as `[button "Send" e7]`.
fn mark_of(snapshot: &str, reference: &str) -> Option<String> {
    let inner = [format!(" {reference}]"), format!(" {reference} ")];
    let at = inner.iter().find_map(|inner| snapshot.find(inner.as_str()))?;
    let begin = snapshot[..at].rfind('[')?;
    let end = at + snapshot[at..].find(']')?;
    Some(brief(&snapshot[begin..=end], 120))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_a_ref_is_found() {
        let text = "a [link \"x\" e1] [button \"Send\" e12 disabled] e1";
        assert_eq!(mark_of(text, "e1").as_deref(), Some("[link \"x\" e1]"));
        assert_eq!(mark_of(text, "e12").as_deref(), Some("[button \"Send\" e12 disabled]"));
        assert_eq!(mark_of(text, "e2"), None);
    }
}
