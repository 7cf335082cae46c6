//! Filling in of fields, whatever kind they are.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_core::{Error, Kind};

use super::mouse::Click;
use super::{Needs, What};
use crate::keys::Press;
use crate::tab::{Halt, Tab};
use crate::text::brief;

/// What a field holds now.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    /// Its role and name.
    pub(crate) name: String,
    pub(crate) value: String,
}

impl Tab {
    /// Puts a value into a field: types it, chooses it, or checks a box.
    pub(crate) async fn fill(
        &self,
        what: &What,
        value: &str,
        clear: bool,
        limit: Duration,
    ) -> Result<Filled, Halt> {
        let end = Instant::now() + limit;
        let needs = Needs { editable: false, ..Needs::TYPE };
        let ready = self.ready(what, needs, limit).await?;
        // From here on it is this element, whatever the selector matches then.
        let this = What::Ref(ready.reference.clone());
        let (_, told) = self.on(&this, ("prepare", json!({"value": value, "clear": clear})), limit).await?;
        let left = end.saturating_duration_since(Instant::now()).max(Duration::from_secs(1));
        match told["kind"].as_str().unwrap_or_default() {
            "type" => self.type_over(&this, value, clear && told["empty"] != true, left).await?,
            "set" => {}
            "select" => drop(self.on(&this, ("choose", json!({"values": [value]})), left).await?),
            "check" => self.check(&this, value, told["checked"] == true, left).await?,
            "refused" => return Err(refused(&told, value).into()),
            "file" => {
                let words = format!("{} takes files", ready.name);
                return Err(Error::new(Kind::InvalidInput, words).hint("use `upload_file`").into());
            }
            _ => return Err(uneditable(&ready.name).into()),
        }
        let (_, now) = self.on(&this, ("valueOf", json!({})), left).await?;
        let shown = match told["kind"].as_str() {
            Some("check") => now["checked"].to_string(),
            _ => now["value"].as_str().unwrap_or_default().to_owned(),
        };
        Ok(Filled { name: ready.name, value: brief(&shown, 200) })
    }

    async fn type_over(&self, this: &What, value: &str, is_full: bool, left: Duration) -> Result<(), Halt> {
        self.ready(this, Needs::TYPE, left).await?;
        if !value.is_empty() {
            return self.insert(value).await;
        }
        if is_full { self.press(&Press::parse("Delete")?).await } else { Ok(()) }
    }

    async fn check(&self, this: &What, value: &str, is_checked: bool, left: Duration) -> Result<(), Halt> {
        let wanted = match value.trim().to_ascii_lowercase().as_str() {
            "true" | "on" | "yes" | "1" | "checked" => true,
            "false" | "off" | "no" | "0" | "" => false,
            _ => {
                let words = format!("`{}` does not say whether a box is checked", brief(value, 60));
                return Err(Error::new(Kind::InvalidInput, words).hint("give `true` or `false`").into());
            }
        };
        if wanted == is_checked {
            return Ok(());
        }
        let ready = self.ready(this, Needs::CLICK, left).await?;
        let click = Click { button: "left", count: 1, modifiers: 0 };
        self.click_at((ready.x, ready.y), &click).await
    }
}

fn refused(told: &Value, value: &str) -> Error {
    let kind = told["type"].as_str().unwrap_or_default();
    let words = format!("a field for a {kind} does not take `{}`", brief(value, 60));
    Error::new(Kind::InvalidInput, words)
        .hint("write it as HTML does, such as `2026-01-31`, `13:45` or `#ff8800`")
}

fn uneditable(name: &str) -> Error {
    Error::new(Kind::InvalidInput, format!("{name} cannot be filled in"))
        .hint("call `get_page_snapshot` to see which fields there are")
}
