//! A page as it was fetched and written down, and the parts of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Kind, Result};
use toolgate_host::outbound::Opened;
use url::Url;

use super::charset;
use super::failure::{failure, refused};
use super::html::{self, Bounds, Style};
use super::kind::{Content, ContentType, sniff};
use crate::service::retry_after;

/// How a page is returned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Format {
    #[default]
    Markdown,
    Text,
    Raw,
}

/// A page as it is returned, in whole.
#[derive(Debug)]
pub(super) struct Page {
    /// Where it came from, behind all redirects.
    pub(super) url: String,
    pub(super) title: Option<String>,
    pub(super) content: String,
    pub(super) content_type: String,
    /// Whether it was written down from HTML, and is not as it came.
    pub(super) written: bool,
    /// How many characters the content has.
    pub(super) total: usize,
}

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) content: String,
    /// Where the next part begins, if there is one.
    pub(super) next: Option<usize>,
}

impl Page {
    /// Reads the answer to a request.
    pub(super) async fn of(opened: Opened, format: Format) -> Result<Self> {
        let url = opened.url.clone();
        if !(200..300).contains(&opened.status) {
            return Err(refused(url.as_str(), opened.status, retry_after(&opened.headers)));
        }
        let header =
            opened.headers.get("content-type").map(|value| String::from_utf8_lossy(value.as_bytes()));
        let content_type = ContentType::parse(header.as_deref().unwrap_or_default());
        let said = content_type.content()?;
        let body = opened.read().await.map_err(failure)?;
        let reading = tokio::task::spawn_blocking(move || read(&url, &content_type, said, &body, format));
        let broken = |error| Error::new(Kind::Internal, "the page could not be read").because(error);
        reading.await.map_err(broken)?
    }

    /// The part that begins at a character.
    pub(super) fn part(&self, start: usize, most: usize) -> Result<Part> {
        if start > self.total {
            let hint = "begin at 0, or where `next_index` of the part before says";
            let message = format!("`start_index` is {start}, but the page has {} characters", self.total);
            return Err(Error::new(Kind::InvalidInput, message).hint(hint));
        }
        let end = start.saturating_add(most).min(self.total);
        let content = self.content.chars().skip(start).take(end - start).collect();
        Ok(Part { content, next: (end < self.total).then_some(end) })
    }

    /// A part as the model reads it: what the page says, and before and behind it only what is needed to go on. What is
    /// returned as it came has nothing before it.
    pub(super) fn in_words(&self, asked: &str, start: usize, part: &Part) -> String {
        let mut text = String::new();
        if self.written && start == 0 {
            text.extend(self.title.iter().map(|title| format!("Title: {title}\n")));
            let moved = Url::parse(asked).is_ok_and(|asked| asked.as_str() != self.url);
            text.extend(moved.then(|| format!("Address: {}\n", self.url)));
            text.extend((!text.is_empty()).then_some('\n'));
        }
        text.push_str(&part.content);
        if let Some(next) = part.next {
            let total = self.total;
            text.push_str(&format!(
                "\n\n[characters {start} to {next} of {total}; call again with `start_index` = {next} to read on]"
            ));
        }
        text
    }
}

fn read(url: &Url, kind: &ContentType, said: Option<Content>, body: &[u8], format: Format) -> Result<Page> {
    let content = sniff(said, body)?;
    let is_page = content == Content::Html;
    let text = charset::decode(body, kind.charset.as_deref(), is_page);
    let style = match format {
        Format::Markdown if is_page => Some(Style::Markdown),
        Format::Text if is_page => Some(Style::Text),
        Format::Markdown | Format::Text | Format::Raw => None,
    };
    let (title, content) = match style {
        Some(style) => {
            let shown = html::read(&text, url, style, Bounds::default()).map_err(|error| {
                Error::new(Kind::InvalidInput, error.to_string())
                    .hint("call again with `format` = `raw` to read its source")
            })?;
            (shown.title, shown.content)
        }
        None => (None, text),
    };
    let known = if is_page { "text/html" } else { "text/plain" };
    let content_type = if kind.essence.is_empty() { known.to_owned() } else { kind.essence.clone() };
    let total = content.chars().count();
    Ok(Page { url: url.to_string(), title, content, content_type, written: style.is_some(), total })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_one_after_the_other_give_the_whole_page() {
        let content = "aé€🦀 z🦀€éa".to_owned();
        let total = content.chars().count();
        let page = Page {
            url: String::new(),
            title: None,
            content_type: String::new(),
            written: false,
            content,
            total,
        };
        for most in 1..=total + 1 {
            let (mut whole, mut start) = (String::new(), Some(0));
            while let Some(at) = start {
                let part = page.part(at, most).unwrap();
                whole.push_str(&part.content);
                start = part.next;
            }
            assert_eq!(whole, page.content, "in parts of {most}");
        }
        assert_eq!(page.part(total, 5).unwrap(), Part { content: String::new(), next: None });
        assert_eq!(page.part(total + 1, 5).unwrap_err().kind(), Kind::InvalidInput);
        assert_eq!(page.part(0, usize::MAX).unwrap().next, None);
    }
}
