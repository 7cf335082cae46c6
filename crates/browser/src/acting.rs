//! Acting on elements: which one is meant, when it is ready, and the mouse that reaches it.

mod fill;
mod missing;
mod mouse;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_core::{Error, Kind, Result};

use crate::tab::{Halt, Spot, Tab};
use crate::text::brief;
use missing::missing;

pub(crate) use mouse::Click;

/// How long to wait before looking again.
const AGAIN: Duration = Duration::from_millis(80);

/// How long a single look may take.
const LOOK: Duration = Duration::from_secs(20);

/// The element that a call is about.
#[derive(Debug, Clone)]
pub(crate) enum What {
    Ref(String),
    Selector(String),
}

/// What has to hold before an act.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needs {
    pub(crate) enabled: bool,
    pub(crate) editable: bool,
    pub(crate) hit: bool,
}

impl Needs {
    pub(crate) const CLICK: Self = Self { enabled: true, editable: false, hit: true };
    pub(crate) const HOVER: Self = Self { enabled: false, editable: false, hit: true };
    pub(crate) const TYPE: Self = Self { enabled: true, editable: true, hit: false };
    pub(crate) const SEE: Self = Self { enabled: false, editable: false, hit: false };
}

/// An element that is ready to be acted on.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) spot: Spot,
    /// Its middle, in the window.
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Its role and name.
    pub(crate) name: String,
    pub(crate) reference: String,
    /// Its box in the window: left, top, width, height.
    pub(crate) area: [f64; 4],
}

impl What {
    /// One of the two that an element can be named by.
    pub(crate) fn of(reference: Option<String>, selector: Option<String>) -> Result<Self> {
        Self::maybe(reference, selector)?.ok_or_else(|| {
            Error::new(Kind::InvalidInput, "`ref` and `selector` are missing")
                .hint("give a `ref` from `get_page_snapshot`, or a CSS `selector`")
        })
    }

    /// The same, where there need not be one.
    pub(crate) fn maybe(reference: Option<String>, selector: Option<String>) -> Result<Option<Self>> {
        let wrong = |words: String| Error::new(Kind::InvalidInput, words);
        match (reference, selector) {
            (Some(_), Some(_)) => {
                Err(wrong("`ref` and `selector` are both given".into()).hint("give one of them"))
            }
            (Some(text), None) if !is_ref(&text) => {
                let words = format!("`ref` is `{}`, which is none", brief(&text, 60));
                Err(wrong(words).hint("refs look like `e7` or `f1e7`, and come from `get_page_snapshot`"))
            }
            (Some(reference), None) => Ok(Some(Self::Ref(reference))),
            (None, Some(text)) if text.trim().is_empty() || text.len() > 2000 => {
                Err(wrong("`selector` is empty or too long".into()).hint("give a CSS selector"))
            }
            (None, Some(selector)) => Ok(Some(Self::Selector(selector))),
            (None, None) => Ok(None),
        }
    }

    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Ref(reference) => json!({"ref": reference}),
            Self::Selector(selector) => json!({"selector": selector}),
        }
    }

    /// It, and more that a function of the library is told.
    pub(crate) fn with(&self, more: &Value) -> Value {
        let mut args = self.json();
        for (key, value) in more.as_object().into_iter().flatten() {
            args[key] = value.clone();
        }
        args
    }

    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Ref(reference) => reference.clone(),
            Self::Selector(selector) => format!("`{}`", brief(selector, 100)),
        }
    }
}

/// Whether a text is a ref: a number, and before it perhaps one of a frame.
fn is_ref(text: &str) -> bool {
    let is_number =
        |text: &str| (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((frame, element)) = text.split_once('e') else { return false };
    is_number(element) && (frame.is_empty() || frame.strip_prefix('f').is_some_and(is_number))
}

impl Tab {
    /// Calls a function of the library on an element, now. An element that is not there is an error.
    pub(crate) async fn on(
        &self,
        what: &What,
        (name, more): (&'static str, Value),
        limit: Duration,
    ) -> Result<(Spot, Value), Halt> {
        let (spot, told) = self.look(what, (name, more), limit).await?;
        if told["missing"].is_string() {
            return Err(missing(self, what, &told).into());
        }
        Ok((spot, told))
    }

    /// The same, and what is missing is told.
    pub(crate) async fn look(
        &self,
        what: &What,
        (name, more): (&'static str, Value),
        limit: Duration,
    ) -> Result<(Spot, Value), Halt> {
        let args = what.with(&more);
        let spots = match what {
            What::Ref(reference) => match self.spot_of(reference) {
                Some(spot) => vec![spot],
                None => return Ok((self.main_spot(), json!({"missing": "stale"}))),
            },
            What::Selector(_) => self.spots(),
        };
        let mut first = None;
        for spot in spots {
            let told = match self.run(&spot, (name, args.clone()), limit).await {
                // A frame that goes while others are looked at is not what is looked for.
                Err(Halt::Left) if !spot.prefix.is_empty() => continue,
                told => told?,
            };
            if told["missing"] != "nothing" && told["attached"] != false {
                return Ok((spot, told));
            }
            first.get_or_insert((spot, told));
        }
        first.ok_or(Halt::Left)
    }

    /// Waits until an element is there, and as an act needs it.
    pub(crate) async fn ready(&self, what: &What, needs: Needs, limit: Duration) -> Result<Ready, Halt> {
        let end = Instant::now() + limit;
        let wants = json!({"enabled": needs.enabled, "editable": needs.editable, "hit": needs.hit});
        loop {
            let (spot, mut told) = self.look(what, ("probe", wants.clone()), LOOK.max(limit)).await?;
            if told["ready"] == true {
                let number = |key: &str| told[key].as_f64().unwrap_or_default();
                let (x, y, reached) = self.in_window(&spot, (number("x"), number("y")), LOOK).await?;
                if reached || !needs.hit {
                    return Ok(prepared(spot, &told, (x, y)));
                }
                told = json!({"not": "hit", "by": "something around its frame", "name": told["name"]});
            }
            let is_final = ["stale", "selector"].iter().any(|word| told["missing"] == *word);
            if is_final || Instant::now() >= end {
                return Err(unready(self, what, &told, limit).into());
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}

fn prepared(spot: Spot, told: &Value, (x, y): (f64, f64)) -> Ready {
    let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let area = &told["box"];
    // What moves the middle into the window moves the box with it.
    let (dx, dy) = (x - number(&told["x"]), y - number(&told["y"]));
    let area =
        [number(&area["x"]) + dx, number(&area["y"]) + dy, number(&area["width"]), number(&area["height"])];
    Ready { spot, x, y, name: text("name"), reference: text("ref"), area }
}

/// What an element that was waited for still lacks.
fn unready(tab: &Tab, what: &What, told: &Value, limit: Duration) -> Error {
    if told["missing"].is_string() {
        return missing(tab, what, told);
    }
    let name = told["name"].as_str().unwrap_or_default();
    let lacks = match told["not"].as_str().unwrap_or_default() {
        "visible" => "visible".to_owned(),
        "enabled" => "enabled".to_owned(),
        "editable" => "editable".to_owned(),
        "stable" => "still: it keeps moving".to_owned(),
        _ => format!("reachable: {} is in front of it", told["by"].as_str().unwrap_or("something")),
    };
    let words = format!("waited {} ms for {} ({name}) to be {lacks}", limit.as_millis(), what.shown());
    Error::new(Kind::Timeout, words).hint("call `get_page_snapshot` to see what is there, or raise `timeout`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_named_in_one_way() {
        #[track_caller]
        fn check(reference: Option<&str>, selector: Option<&str>, expect: &str) {
            let what = What::maybe(reference.map(Into::into), selector.map(Into::into));
            let told = match what {
                Ok(what) => what.map_or_else(|| "none".into(), |what| what.shown()),
                Err(error) => error.to_string(),
            };
            assert_eq!(told, expect, "{reference:?} {selector:?}");
        }
        check(None, None, "none");
        check(Some("e7"), None, "e7");
        check(Some("f12e7"), None, "f12e7");
        check(None, Some("#a"), "`#a`");
        check(Some("e7"), Some("#a"), "`ref` and `selector` are both given");
        check(None, Some("  "), "`selector` is empty or too long");
        for reference in ["", "e", "7", "fe7", "f1", "e7 ", "ref=e7", "e-1", "e9999999999"] {
            check(Some(reference), None, &format!("`ref` is `{reference}`, which is none"));
        }
    }
}
