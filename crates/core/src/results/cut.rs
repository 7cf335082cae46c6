//! Cutting an answer: what of it goes out, and what is kept.

use serde_json::json;
use toolgate_wire::{Edit, Raw};

/// Where to cut, in bytes.
pub(super) struct Limits {
    /// All texts together.
    pub(super) text: usize,
    /// `structuredContent`, which is there as a whole or not at all; `None` if it has to be there.
    pub(super) structure: Option<usize>,
    /// What is kept of all texts together.
    pub(super) kept: usize,
    /// Whether the client knows `resource_link`.
    pub(super) links: bool,
}

/// An answer that was cut.
pub(super) struct Cut {
    pub(super) short: Raw,
    pub(super) whole: Whole,
}

/// What is kept of an answer: its texts, and its `structuredContent` if that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) text: String,
    pub(super) structured: Option<Raw>,
}

impl Whole {
    /// How many bytes it has.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.structured.as_ref().map_or(0, |raw| raw.as_bytes().len())
    }

    /// The answer to `resources/read`.
    pub(super) fn contents(&self, uri: &str) -> Raw {
        let part = |mime_type: &str, text: &str| json!({"uri": uri, "mimeType": mime_type, "text": text});
        let text = (!self.text.is_empty()).then(|| part("text/plain", &self.text));
        let structured = self.structured.as_ref().map(|raw| part("application/json", raw.as_str()));
        Raw::of(&json!({"contents": text.into_iter().chain(structured).collect::<Vec<_>>()}))
    }
}

/// Cuts an answer that is too long. Images and whatever else is no text stay as they are.
pub(super) fn cut(result: &Raw, limits: &Limits, uri: &str) -> Option<Cut> {
    let blocks: Vec<Raw> = result.get("content").iter().flat_map(Raw::items).collect();
    let texts: Vec<Option<String>> = blocks.iter().map(text_of).collect();
    let total: usize = texts.iter().flatten().map(String::len).sum();
    let structured = result.get("structuredContent");
    let structured =
        structured.filter(|raw| limits.structure.is_some_and(|limit| raw.as_bytes().len() > limit));
    let leaves_out = structured.is_some();
    if total <= limits.text && !leaves_out {
        return None;
    }
    let mut whole = Whole { text: texts.iter().flatten().cloned().collect(), structured };
    whole.text.truncate(boundary(&whole.text, limits.kept));
    whole.structured = whole.structured.filter(|raw| raw.as_bytes().len() <= limits.kept);
    let note = note((total, limits.text), leaves_out, &whole, uri);
    let mut content = shortened(&blocks, &texts, limits.text, &note);
    if total <= limits.text {
        content.push(text_block(note.trim_start()));
    }
    if limits.links {
        content.push(link(uri, whole.bytes()));
    }
    let edit = Edit::new(result).set("content", array(&content));
    let short = if leaves_out { edit.remove("structuredContent") } else { edit }.finish();
    Some(Cut { short, whole })
}

/// The blocks up to where the room ends; behind that only those without text.
fn shortened(blocks: &[Raw], texts: &[Option<String>], mut room: usize, note: &str) -> Vec<Raw> {
    let (mut content, mut is_cut) = (Vec::new(), false);
    for (block, text) in blocks.iter().zip(texts) {
        match text {
            None => content.push(block.clone()),
            Some(_) if is_cut => {}
            Some(text) if text.len() <= room => {
                room -= text.len();
                content.push(block.clone());
            }
            Some(text) => {
                is_cut = true;
                let kept = Raw::string(&format!("{}{note}", &text[..boundary(text, room)]));
                content.push(match block.get("resource") {
                    Some(_) => Edit::new(block).set_in("resource", "text", kept).finish(),
                    None => Edit::new(block).set("text", kept).finish(),
                });
            }
        }
    }
    content
}

/// What is said at the place of the cut.
fn note((total, limit): (usize, usize), leaves_out: bool, whole: &Whole, uri: &str) -> String {
    let mut what = Vec::new();
    if total > limit {
        what.push(format!("{} of {total} bytes are missing", total - limit));
    }
    if leaves_out {
        let kept = if whole.structured.is_some() { "" } else { " and too long to be kept" };
        what.push(format!("the structured content is left out{kept}"));
    }
    let how_much = match whole.text.len() {
        kept if kept < total => format!("the first {kept} bytes of text"),
        _ => "the whole".to_owned(),
    };
    format!("\n\n[cut: {}; the resource {uri} holds {how_much} for an hour]", what.join(", "))
}

/// The text of a block that has one: of its own, or of the resource in it.
fn text_of(block: &Raw) -> Option<String> {
    let kind = block.get("type")?;
    let text = match kind.as_string()?.as_ref() {
        "text" => block.get("text"),
        "resource" => block.path(&["resource", "text"]),
        _ => None,
    };
    text.and_then(|text| text.as_string().map(String::from))
}

/// The last place up to `most` that is not inside of a character.
fn boundary(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

fn text_block(text: &str) -> Raw {
    Raw::of(&json!({"type": "text", "text": text}))
}

fn link(uri: &str, bytes: usize) -> Raw {
    Raw::of(&json!({
        "type": "resource_link",
        "uri": uri,
        "name": "whole result",
        "description": "The whole of this answer, kept for an hour.",
        "mimeType": "text/plain",
        "size": bytes,
    }))
}

fn array(items: &[Raw]) -> Raw {
    let items: Vec<&str> = items.iter().map(Raw::as_str).collect();
    Raw::trusted(format!("[{}]", items.join(",")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_even_to_be_kept_is_kept_as_far_as_it_goes() {
        #[track_caller]
        fn check(text: usize, structured: usize, said: &str, kept: (usize, bool)) {
            let result = Raw::of(&json!({
                "content": [{"type": "text", "text": "é".repeat(text / 2)}],
                "structuredContent": {"s": "x".repeat(structured)},
            }));
            let limits = Limits { text: 10, structure: Some(10), kept: 51, links: false };
            let cut = cut(&result, &limits, "u:r").unwrap();
            assert!(cut.short.as_str().contains(said), "{}", cut.short.as_str());
            assert_eq!((cut.whole.text.len(), cut.whole.structured.is_some()), kept);
        }
        check(40, 0, "[cut: 30 of 40 bytes are missing; the resource u:r holds the whole", (40, false));
        check(
            90,
            0,
            "[cut: 80 of 90 bytes are missing; the resource u:r holds the first 50 bytes",
            (50, false),
        );
        check(8, 20, "[cut: the structured content is left out; the resource u:r holds the whole", (8, true));
        check(8, 90, "[cut: the structured content is left out and too long to be kept; ", (8, false));
        check(40, 20, "[cut: 30 of 40 bytes are missing, the structured content is left out; ", (40, true));
    }
}
