//! What tools that act answer with.

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};
use toolgate_core::{Block, Error, Json, Kind, Reply, Result, Worded};
use toolgate_wire::Raw;

use crate::config::TextForm;
use crate::downloads::{Downloaded, Downloads, News, Shape};
use crate::pool::Page;
use crate::tab::{Dialog, Halt};
use crate::text::{brief, harmless};

/// An answer that is data, told as JSON or in a line of words.
pub(crate) struct Told<T> {
    pub(crate) data: T,
    pub(crate) line: String,
    pub(crate) form: TextForm,
    /// What was kept by the way.
    pub(crate) links: Vec<Block>,
}

impl<T> Told<T> {
    pub(crate) fn new(data: T, line: String, form: TextForm) -> Self {
        Self { data, line, form, links: Vec::new() }
    }
}

impl<T: Serialize + JsonSchema + Send> Reply for Told<T> {
    fn schema(generator: &mut SchemaGenerator) -> Option<Value> {
        Json::<T>::schema(generator)
    }

    fn into_result(self, compact: bool) -> Result<Raw> {
        let raw = match self.form {
            TextForm::Json => Json(self.data).into_result(compact),
            TextForm::Line => Worded { text: self.line, data: self.data }.into_result(compact),
        }?;
        if self.links.is_empty() {
            return Ok(raw);
        }
        let unwritable = |error| Error::new(Kind::Internal, "the answer could not be written").because(error);
        let mut result: Value = raw.to().map_err(unwritable)?;
        if let Some(content) = result["content"].as_array_mut() {
            content.extend(self.links.iter().map(Block::to_value));
        }
        Ok(Raw::of(&result))
    }
}

/// What was done, and how the page is now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Acted {
    /// Whether it was done.
    pub(crate) success: bool,
    /// The id of the browser.
    pub(crate) browser_id: String,
    /// What was done.
    pub(crate) did: String,
    /// The address of the page now.
    pub(crate) url: String,
    /// The title of the page now.
    pub(crate) title: String,
    /// A dialog that the page has opened, to be answered by `handle_dialog`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) dialog: Option<String>,
    /// Tabs that were opened by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) new_tabs: Vec<String>,
    /// How many errors it brought to the console.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) console_errors: u64,
    /// Hosts that the page wanted and may not reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) refused_hosts: Vec<String>,
    /// Files that the page handed over: name, state, bytes and uri.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Shape")]
    pub(crate) downloads: Vec<Downloaded>,
    /// What else is to be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) note: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes what it skips by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How things were before an act, to tell what it brought about.
pub(crate) struct Before {
    errors: u64,
    refused: u64,
    tabs: Vec<String>,
    downloads: u64,
    url: String,
}

impl Page {
    /// Notes how things are.
    pub(crate) fn before(&self) -> Before {
        let state = self.tab.state();
        Before {
            errors: state.errors,
            refused: self.context.proxy.refused(),
            tabs: self.context.tabs().iter().map(|tab| tab.id.clone()).collect(),
            downloads: self.begun(),
            url: state.url.clone(),
        }
    }

    /// How many downloads have begun so far.
    pub(crate) fn begun(&self) -> u64 {
        self.context.downloads.as_ref().map_or(0, Downloads::begun)
    }

    /// Keeps what the page handed over, once those that began after so many are whole.
    pub(crate) async fn downloaded(&self, begun: u64) -> News {
        let Some(downloads) = &self.context.downloads else { return News::default() };
        downloads.settled(begun).await;
        downloads.keep(&self.store, &self.instance.owner).await
    }

    /// Tells what was done. A dialog is no failure: it is what came of it.
    pub(crate) async fn acted(&self, form: TextForm, before: Before, did: String) -> Told<Acted> {
        let about = self.about().await;
        let News { items, refused: too_many } = self.downloaded(before.downloads).await;
        let links = items.iter().filter_map(Downloaded::link).collect();
        let state = self.tab.state();
        let is_busy = about.is_null() && state.dialog.is_none() && !state.closed && !state.crashed;
        let mut refused = self.context.proxy.refused_since(before.refused);
        refused.dedup();
        refused.truncate(5);
        let tabs = self.context.tabs();
        let new_tabs = tabs.iter().map(|tab| tab.id.clone()).filter(|id| !before.tabs.contains(id)).collect();
        let data = Acted {
            success: true,
            browser_id: self.instance.id.clone(),
            did,
            url: brief(&state.url, 500),
            title: harmless(about["title"].as_str().unwrap_or_default()),
            dialog: state.dialog.as_ref().map(Dialog::shown),
            new_tabs,
            console_errors: state.errors - before.errors,
            refused_hosts: refused,
            downloads: items,
            note: note(self.instance.lost(), is_busy, too_many),
        };
        drop(state);
        let line = line(&data, &before.url);
        Told { data, line, form, links }
    }

    /// The title and the address of the page, as far as it says so.
    pub(crate) async fn about(&self) -> Value {
        let limit = std::time::Duration::from_secs(5);
        let spot = self.tab.main_spot();
        self.tab.run(&spot, ("about", json!({})), limit).await.unwrap_or(Value::Null)
    }
}

impl Dialog {
    /// A dialog in words.
    pub(crate) fn shown(&self) -> String {
        let default = if self.default.is_empty() {
            String::new()
        } else {
            format!(" (default {:?})", brief(&self.default, 1000))
        };
        harmless(&format!("{} {:?}{default}", self.kind, self.message))
    }
}

/// What came of an act that a dialog may have interrupted: that is no failure.
pub(crate) fn or_dialog<T: Default>(done: Result<T, Halt>) -> Result<T> {
    match done {
        Ok(value) => Ok(value),
        Err(Halt::Dialog(_)) => Ok(T::default()),
        Err(other) => Err(other.into()),
    }
}

/// What else is to be known: what was lost, what goes on, and what was refused.
fn note(lost: Option<&str>, is_busy: bool, too_many: u64) -> Option<String> {
    let busy = is_busy.then(|| "the page is busy, and does not answer yet".to_owned());
    let refused =
        (too_many > 0).then(|| format!("{too_many} more downloads were refused: they were too many at once"));
    let parts: Vec<String> = lost.map(Into::into).into_iter().chain(busy).chain(refused).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn line(data: &Acted, before: &str) -> String {
    let mut parts = vec![data.did.clone()];
    parts.push(if data.url == before {
        "url unchanged".into()
    } else {
        format!("now at {} {:?}", data.url, data.title)
    });
    parts.extend(data.dialog.as_ref().map(|dialog| format!("dialog open: {dialog}")));
    if !data.new_tabs.is_empty() {
        parts.push(format!("new tab {}", data.new_tabs.join(", ")));
    }
    if data.console_errors > 0 {
        parts.push(format!("{} new console errors", data.console_errors));
    }
    if !data.refused_hosts.is_empty() {
        parts.push(format!("not allowed to reach {}", data.refused_hosts.join(", ")));
    }
    parts.extend(data.downloads.iter().map(Downloaded::shown));
    parts.extend(data.note.clone());
    parts.join("; ")
}
