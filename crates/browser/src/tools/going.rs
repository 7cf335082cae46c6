//! Going to a page, and waiting until it is there.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::{Error, Kind, Result};
use url::Url;

use crate::devtools::Unanswered;
use crate::pool::Page;
use crate::tab::{Halt, State};
use crate::text::brief;

/// How far a page has to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum WaitUntil {
    #[default]
    Load,
    DomContentLoaded,
    NetworkIdle,
}

impl WaitUntil {
    /// What Chromium calls it.
    fn event(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::DomContentLoaded => "DOMContentLoaded",
            Self::NetworkIdle => "networkIdle",
        }
    }

    /// The same of a page, in words.
    fn shown(self, url: &str) -> String {
        format!("`{}` of `{}`", self.event(), brief(url, 200))
    }
}

/// Where to go from a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Direction {
    Back,
    Forward,
    Reload,
}

impl Direction {
    /// What is there, in words.
    fn shown(self) -> &'static str {
        match self {
            Self::Back => "the page before this one",
            Self::Forward => "the page after this one",
            Self::Reload => "this page to load again",
        }
    }
}

/// What came of going somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Went {
    There,
    /// It is no page but a file.
    Downloading,
}

/// How it ended that a page was waited for.
enum Came {
    There,
    Asking,
    Gone(Halt),
}

/// How long a page that is to be left has to say that it can be.
const STUCK: Duration = Duration::from_secs(4);

/// Loads a page.
pub(super) async fn go(page: &Page, url: &str, until: WaitUntil, limit: Duration) -> Result<Went> {
    unstick(page, limit).await;
    load(page, url, until, limit).await
}

/// Stops a script of a page that is to be left and says nothing any more: it would keep the page where it is. Once a
/// page is on its way to another one it cannot be stopped.
async fn unstick(page: &Page, limit: Duration) {
    let (tab, devtools) = (&page.tab, &page.context.engine.devtools);
    // One that crashed has no script any more, and one that asks something waits for its answer and for nothing else.
    let is_still = {
        let state = tab.state();
        state.crashed || state.dialog.is_some()
    };
    if is_still {
        return;
    }
    let look = ("Runtime.evaluate", json!({"expression": "1"}));
    if let Err(Unanswered::Late(_)) = devtools.call::<Value>(Some(&tab.session), look, STUCK.min(limit)).await
    {
        tracing::debug!("a page that hangs is stopped, to be left");
        tab.tell("Runtime.terminateExecution", json!({}));
    }
}

async fn load(page: &Page, url: &str, until: WaitUntil, limit: Duration) -> Result<Went> {
    let address = permitted(page, url)?;
    let (end, refused, begun) = (Instant::now() + limit, page.context.proxy.refused(), page.begun());
    // One that crashed is known to: a second way out of it would break off the first.
    let is_crashed = page.tab.state().crashed;
    let asked: Result<Value, Halt> = if is_crashed {
        Err(Halt::Crashed)
    } else {
        page.tab.call(("Page.navigate", json!({"url": address.as_str()})), limit).await
    };
    let told = match asked {
        Ok(told) => told,
        // A page that asks something on its way is there.
        Err(Halt::Dialog(_)) => return Ok(Went::There),
        Err(Halt::Crashed) => revived(page, &address, limit).await?,
        Err(other) => {
            page.tab.tell("Page.stopLoading", json!({}));
            return Err(late(other.into(), &until.shown(url), limit));
        }
    };
    let shut = |page: &Page| {
        let host = page.tab.state().url.parse::<Url>().ok().and_then(|url| url.host_str().map(plain));
        let asked = address.host_str().map(plain);
        let mut hosts = page.context.proxy.refused_since(refused).into_iter();
        hosts.find(|refused| [&host, &asked].into_iter().flatten().any(|host| host == refused))
    };
    if is_download(page, &told, begun).await {
        return Ok(Went::Downloading);
    }
    if let Some(error) = told["errorText"].as_str().filter(|text| !text.is_empty()) {
        // What was refused on the way may be where a redirect led.
        return Err(match shut(page).or_else(|| page.context.proxy.refused_since(refused).pop()) {
            Some(host) => blocked(&host),
            None => failed(url, error),
        });
    }
    if let Some(loader) = told["loaderId"].as_str() {
        let name = until.event();
        came(page, end, |state| {
            state.has_reached(loader, name)
                || (state.loader != loader && !state.loading && !state.loader.is_empty())
        })
        .await
        .map_err(|error| late(error, &until.shown(url), limit))?;
    }
    match shut(page) {
        Some(host) => Err(blocked(&host)),
        None => Ok(Went::There),
    }
}

/// Whether what was to be loaded is taken as a file instead.
async fn is_download(page: &Page, told: &Value, begun: u64) -> bool {
    let Some(downloads) = page.context.downloads.as_ref() else { return false };
    // Chromium says that it is one; an old one only says that there is no page.
    let limit = match (&told["isDownload"], &told["errorText"]) {
        (Value::Bool(true), _) => 10,
        (_, error) if error == "net::ERR_ABORTED" => 1,
        (_, _) => return false,
    };
    downloads.begins_after(begun, Duration::from_secs(limit)).await
}

/// A page that crashed is left for another one in its tab.
async fn revived(page: &Page, address: &Url, limit: Duration) -> Result<Value> {
    let call = ("Page.navigate", json!({"url": address.as_str()}));
    let told = page.context.engine.devtools.call(Some(&page.tab.session), call, limit).await;
    let told = told.map_err(|why| crate::tab::halt(why, limit))?;
    // What is loaded now has not crashed; its own events may come later than this answer.
    page.tab.state().crashed = false;
    Ok(told)
}

/// Goes through the pages that were there, or loads this one again.
pub(super) async fn history(page: &Page, direction: Direction, limit: Duration) -> Result<()> {
    unstick(page, limit).await;
    through(page, direction, limit).await.map_err(|error| late(error, direction.shown(), limit))
}

async fn through(page: &Page, direction: Direction, limit: Duration) -> Result<()> {
    let end = Instant::now() + limit;
    let (loader, moves) = {
        let state = page.tab.state();
        (state.loader.clone(), state.moves)
    };
    if direction == Direction::Reload {
        let reload: Result<Value, Halt> = page.tab.call(("Page.reload", json!({})), limit).await;
        reload.or_else(or_asking)?;
        return came(page, end, |state| state.loader != loader && state.has_reached(&state.loader, "load"))
            .await;
    }
    let known: Value = page.tab.call(("Page.getNavigationHistory", json!({})), limit).await?;
    let at = known["currentIndex"].as_i64().unwrap_or_default();
    let next = if direction == Direction::Back { at - 1 } else { at + 1 };
    let entry = usize::try_from(next).ok().and_then(|next| known["entries"].get(next));
    let Some(entry) = entry else {
        let words =
            if next < at { "there is no page before this one" } else { "there is no page after this one" };
        return Err(Error::new(Kind::InvalidInput, words).hint("call `navigate_to_url` to go somewhere"));
    };
    let go = ("Page.navigateToHistoryEntry", json!({"entryId": entry["id"]}));
    let gone: Result<Value, Halt> = page.tab.call(go, limit).await;
    gone.or_else(or_asking)?;
    // Its address may be that of this page, or one that leads on to another.
    came(page, end, |state| (state.loader != loader || state.moves != moves) && !state.loading).await
}

fn or_asking(halt: Halt) -> Result<Value> {
    match halt {
        Halt::Dialog(_) => Ok(Value::Null),
        other @ (Halt::Closed | Halt::Crashed | Halt::Left | Halt::Failed(_)) => Err(other.into()),
    }
}

/// Waits until a page is there, or asks something, which it does before it is.
async fn came(page: &Page, end: Instant, there: impl Fn(&State) -> bool) -> Result<()> {
    let look = |state: &State| {
        if state.closed {
            return Some(Came::Gone(Halt::Closed));
        }
        if state.crashed {
            return Some(Came::Gone(Halt::Crashed));
        }
        if state.dialog.is_some() {
            return Some(Came::Asking);
        }
        there(state).then_some(Came::There)
    };
    match page.tab.until(end, look).await {
        Some(Came::There | Came::Asking) => Ok(()),
        Some(Came::Gone(halt)) => Err(halt.into()),
        None => Err(Error::new(Kind::Timeout, "the page is not there yet")),
    }
}

/// An address that may be gone to, as far as it can be told before.
fn permitted(page: &Page, url: &str) -> Result<Url> {
    let shown = brief(url, 200);
    let wrong = |words: String| {
        Error::new(Kind::InvalidInput, words).hint("give a whole address, such as `https://example.com/`")
    };
    if url.len() > 20_000 {
        return Err(wrong(format!("`url` is `{shown}`, which is too long")));
    }
    let address = Url::parse(url).map_err(|_| wrong(format!("`url` is `{shown}`, which is no address")))?;
    if address.as_str() == "about:blank" {
        return Ok(address);
    }
    if !matches!(address.scheme(), "http" | "https") {
        let words = format!("pages of `{}:` cannot be opened", brief(address.scheme(), 40));
        return Err(Error::new(Kind::Denied, words).hint("only `http` and `https` can"));
    }
    let host = address.host_str().map(plain).unwrap_or_default();
    page.context.proxy.permits(&host).map_err(|_| blocked(&host))?;
    Ok(address)
}

fn plain(host: &str) -> String {
    host.trim_matches(['[', ']']).to_owned()
}

fn blocked(host: &str) -> Error {
    Error::new(Kind::Denied, format!("domain_blocked: browsers here may not reach `{}`", brief(host, 200)))
        .hint("`brooklyn_status` lists which hosts are allowed; `browser.allowed_domains` changes it")
}

fn failed(url: &str, error: &str) -> Error {
    let words = format!("navigation_failed: `{}` could not be loaded: {error}", brief(url, 200));
    let hint = match error {
        "net::ERR_ABORTED" => "it may be a download, which `browser.downloads` can refuse",
        "net::ERR_TUNNEL_CONNECTION_FAILED" => "its host does not answer, or its name is not known",
        _ => "check the address, and that its server runs",
    };
    Error::new(Kind::ConnectionFailed, words).hint(hint)
}

/// An error that says what was waited for, if it is that the time is up.
fn late(error: Error, what: &str, limit: Duration) -> Error {
    if error.kind() != Kind::Timeout {
        return error;
    }
    Error::new(Kind::Timeout, format!("waited {} ms for {what}", limit.as_millis()))
        .hint("the page may be usable: call `get_page_snapshot`, or raise `timeout`")
}
