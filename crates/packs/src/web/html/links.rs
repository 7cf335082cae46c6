//! Makes the links of a page whole, and takes out those that lead nowhere.

use dom_query::Document;
use url::Url;

/// Makes all links of a page from `url` absolute. One that is no address, such as a script, loses its target but not
/// its words.
pub(super) fn make_absolute(document: &Document, url: &Url) {
    let base = document.base_uri().and_then(|base| url.join(&base).ok());
    let base = base.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| url.clone());
    for node in document.root().descendants() {
        if node.has_name("a") {
            match node.attr("href").map(|href| target(&base, &href)) {
                Some(Some(target)) => node.set_attr("href", target.as_str()),
                Some(None) => node.remove_attr("href"),
                None => {}
            }
        } else if node.has_name("img") {
            match node.attr("src").and_then(|src| target(&base, &src)) {
                Some(target) => node.set_attr("src", target.as_str()),
                None => node.remove_from_parent(),
            }
        }
    }
}

fn target(base: &Url, written: &str) -> Option<Url> {
    let target = base.join(written.trim()).ok()?;
    matches!(target.scheme(), "http" | "https" | "mailto" | "tel").then_some(target)
}
