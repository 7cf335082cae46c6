//! What a page or a part of it holds, as one text.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::Text;

use crate::text::{MOST, cut, fenced};

// Which part, and how much of it; no words of ours, which would stand in the schema.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Element ref.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(super) reference: Option<String>,
    /// CSS selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(super) selector: Option<String>,
    /// Default 20000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    pub(super) max_chars: Option<usize>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(super) browser_id: Option<String>,
}

/// What a page is asked for: no more than could be shown.
pub(super) fn bounded() -> Value {
    json!({"most": MOST})
}

/// The text that a page told under this key, as much as is wanted.
pub(super) fn shown(told: &Value, key: &str, most: Option<usize>) -> Text {
    let text = told[key].as_str().unwrap_or_default();
    let (shown, is_whole) = cut(text, most.unwrap_or(20_000));
    let total = told["length"].as_u64().unwrap_or_default();
    let mark = if is_whole && total <= MOST as u64 {
        String::new()
    } else {
        let count = shown.chars().count();
        format!("\ntruncated: shown {count} of {total} characters; name a smaller element for a part")
    };
    Text(format!("{}{mark}", fenced(shown)))
}
