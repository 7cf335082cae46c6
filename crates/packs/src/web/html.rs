//! What a page shows to people, as Markdown or as text.

mod bounded;
mod hidden;
mod links;

use dom_query::{Document, NodeRef};
use dom_smoothie::{Config, Readability, TextMode};
use url::Url;

pub(super) use bounded::{Bounds, TooMuch};

/// How a page is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Markdown,
    Text,
}

/// What a page shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) title: Option<String>,
    pub(super) content: String,
}

/// How many elements a page may have for its main content to be searched for; a larger one is shown in whole.
const SEARCHED: usize = 20_000;

/// How many characters make it worth to believe that this is the main content.
const WORTH: usize = 200;

/// How long a title is told.
const TITLE: usize = 300;

/// What is on a page beside its content.
const ASIDE: [&str; 6] = ["head", "nav", "aside", "footer", "script", "style"];

/// Reads a page that came from `url`.
///
/// # Errors
/// It is larger or deeper than any page for people.
pub(super) fn read(html: &str, url: &Url, style: Style, bounds: Bounds) -> Result<Shown, TooMuch> {
    let document = bounded::parse(html, bounds)?;
    let title = title(&document);
    hidden::remove(&document);
    links::make_absolute(&document, url);
    let content = named(&document, style)
        .or_else(|| searched(&document, style))
        .unwrap_or_else(|| written(&document.body().unwrap_or_else(|| document.root()), style, &["head"]));
    Ok(Shown { title, content: content.trim().to_owned() })
}

fn title(document: &Document) -> Option<String> {
    let title = document.head()?.children().into_iter().find(|node| node.has_name("title"))?.text();
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(title.chars().take(TITLE).collect()).filter(|title: &String| !title.is_empty())
}

/// The main content as the page itself names it.
fn named(document: &Document, style: Style) -> Option<String> {
    let found = document.try_select("main, [role=\"main\"]")?;
    let [main] = found.nodes() else { return None };
    (main.normalized_char_count() >= WORTH).then(|| written(main, style, &ASIDE))
}

/// The main content as it is found in a page that reads like an article.
fn searched(document: &Document, style: Style) -> Option<String> {
    if document.root().descendants_it().filter(NodeRef::is_element).count() > SEARCHED {
        return None;
    }
    let text_mode = match style {
        Style::Markdown => TextMode::Markdown,
        Style::Text => TextMode::Formatted,
    };
    // Classes say in which language code is written.
    let config = Config { keep_classes: true, disable_json_ld: true, text_mode, ..Config::default() };
    let mut readability = Readability::with_document(document.clone(), None, Some(config)).ok()?;
    if !readability.is_probably_readable() {
        return None;
    }
    let article = readability.parse().ok()?;
    (article.length >= WORTH).then(|| article.text_content.to_string())
}

fn written(node: &NodeRef<'_>, style: Style, but: &[&str]) -> String {
    match style {
        Style::Markdown => node.md(Some(but)).to_string(),
        Style::Text => {
            let aside = |inner: &NodeRef<'_>| but.iter().any(|name| inner.has_name(name));
            node.descendants_it()
                .filter(aside)
                .collect::<Vec<_>>()
                .iter()
                .for_each(NodeRef::remove_from_parent);
            node.formatted_text().to_string()
        }
    }
}

#[cfg(test)]
mod tests;
