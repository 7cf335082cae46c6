//! Keys by name, as a page sees them pressed.

use serde_json::{Value, json};
use toolgate_core::{Error, Kind, Result};

use crate::text::brief;

/// Keys that are no character: name, code, number, and the text that they type.
const NAMED: [(&str, &str, u32, &str); 29] = [
    ("Enter", "Enter", 13, "\r"),
    ("Tab", "Tab", 9, ""),
    ("Backspace", "Backspace", 8, ""),
    ("Delete", "Delete", 46, ""),
    ("Escape", "Escape", 27, ""),
    ("Home", "Home", 36, ""),
    ("End", "End", 35, ""),
    ("PageUp", "PageUp", 33, ""),
    ("PageDown", "PageDown", 34, ""),
    ("ArrowLeft", "ArrowLeft", 37, ""),
    ("ArrowUp", "ArrowUp", 38, ""),
    ("ArrowRight", "ArrowRight", 39, ""),
    ("ArrowDown", "ArrowDown", 40, ""),
    ("Insert", "Insert", 45, ""),
    ("F1", "F1", 112, ""),
    ("F2", "F2", 113, ""),
    ("F3", "F3", 114, ""),
    ("F4", "F4", 115, ""),
    ("F5", "F5", 116, ""),
    ("F6", "F6", 117, ""),
    ("F7", "F7", 118, ""),
    ("F8", "F8", 119, ""),
    ("F9", "F9", 120, ""),
    ("F10", "F10", 121, ""),
    ("F11", "F11", 122, ""),
    ("F12", "F12", 123, ""),
    ("Shift", "ShiftLeft", 16, ""),
    ("Control", "ControlLeft", 17, ""),
    ("Alt", "AltLeft", 18, ""),
];

/// What else they are called.
const ALIASES: [(&str, &str); 8] = [
    ("Return", "Enter"),
    ("Esc", "Escape"),
    ("Del", "Delete"),
    ("Left", "ArrowLeft"),
    ("Right", "ArrowRight"),
    ("Up", "ArrowUp"),
    ("Down", "ArrowDown"),
    ("Ctrl", "Control"),
];

const MODIFIERS: [(&str, u32); 6] =
    [("Alt", 1), ("Control", 2), ("Ctrl", 2), ("Meta", 4), ("Command", 4), ("Shift", SHIFT)];

const SHIFT: u32 = 8;

/// A key to press, with others held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Press {
    key: String,
    code: String,
    number: u32,
    text: String,
    modifiers: u32,
}

impl Press {
    /// A key by name, such as `Enter`, `a`, or `Control+Shift+ArrowLeft`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let unknown = || {
            Error::new(Kind::InvalidInput, format!("`key` is `{}`, which is none", brief(text, 60)))
                .hint("give one like `Enter`, `ArrowDown`, `a` or `Control+A`")
        };
        // The last `+` may be the key itself.
        let (held, key) = match text.strip_suffix('+') {
            Some(before) => (before.trim_end_matches('+'), "+"),
            None => text.rsplit_once('+').unwrap_or(("", text)),
        };
        let mut modifiers = 0;
        for word in held.split('+').filter(|word| !word.is_empty()) {
            modifiers |= modifier(word).ok_or_else(unknown)?;
        }
        let mut press = named(key).or_else(|| typed(key)).ok_or_else(unknown)?;
        press.modifiers = modifiers;
        // A page sees the letter that is typed, as a keyboard would have it.
        if modifiers & SHIFT != 0 && key.len() == 1 {
            press.key.make_ascii_uppercase();
            press.text.make_ascii_uppercase();
        }
        // What is held makes a command of a letter.
        if modifiers & !SHIFT != 0 {
            press.text.clear();
        }
        Ok(press)
    }

    /// What a page is told.
    pub(crate) fn events(&self) -> [Value; 2] {
        let event = |kind: &str| {
            let mut event = json!({
                "type": kind, "key": self.key, "code": self.code, "modifiers": self.modifiers,
                "windowsVirtualKeyCode": self.number,
            });
            if kind == "keyDown" && !self.text.is_empty() {
                event["text"] = self.text.clone().into();
                event["unmodifiedText"] = self.text.clone().into();
            }
            event
        };
        [event(if self.text.is_empty() { "rawKeyDown" } else { "keyDown" }), event("keyUp")]
    }
}

/// The number of a key that is held.
pub(crate) fn modifier(word: &str) -> Option<u32> {
    MODIFIERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, bit)| *bit)
}

fn named(key: &str) -> Option<Press> {
    let alias = ALIASES.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, name)| *name);
    let key = alias.unwrap_or(key);
    let key = if key == "Space" { " " } else { key };
    if key == " " {
        return Some(Press {
            key: " ".into(),
            code: "Space".into(),
            number: 32,
            text: " ".into(),
            modifiers: 0,
        });
    }
    let (key, code, number, text) = NAMED.iter().find(|(name, ..)| name.eq_ignore_ascii_case(key))?;
    let [key, code, text] = [key, code, text].map(|text| (*text).to_owned());
    Some(Press { key, code, number: *number, text, modifiers: 0 })
}

fn typed(key: &str) -> Option<Press> {
    let mut chars = key.chars();
    let (c, None) = (chars.next()?, chars.next()) else { return None };
    if c.is_control() {
        return None;
    }
    let upper = c.to_ascii_uppercase();
    let code = match c {
        _ if c.is_ascii_alphabetic() => format!("Key{upper}"),
        _ if c.is_ascii_digit() => format!("Digit{c}"),
        _ => String::new(),
    };
    let number = if c.is_ascii_alphanumeric() { u32::from(upper) } else { 0 };
    Some(Press { key: c.to_string(), code, number, text: c.to_string(), modifiers: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_by_name() {
        #[track_caller]
        fn check(text: &str, expect: Option<(&str, &str, u32, &str, u32)>) {
            let press = Press::parse(text).ok();
            let told = press.as_ref().map(|press| {
                (press.key.as_str(), press.code.as_str(), press.number, press.text.as_str(), press.modifiers)
            });
            assert_eq!(told, expect, "{text}");
        }
        check("Enter", Some(("Enter", "Enter", 13, "\r", 0)));
        check("return", Some(("Enter", "Enter", 13, "\r", 0)));
        check("a", Some(("a", "KeyA", 65, "a", 0)));
        check("Space", Some((" ", "Space", 32, " ", 0)));
        check("Control+A", Some(("A", "KeyA", 65, "", 2)));
        check("Shift+a", Some(("A", "KeyA", 65, "A", 8)));
        check("Control+Shift+a", Some(("A", "KeyA", 65, "", 10)));
        check("Shift+Tab", Some(("Tab", "Tab", 9, "", 8)));
        check("ctrl+shift+ArrowLeft", Some(("ArrowLeft", "ArrowLeft", 37, "", 10)));
        check("+", Some(("+", "", 0, "+", 0)));
        check("Control++", Some(("+", "", 0, "", 2)));
        check("ü", Some(("ü", "", 0, "ü", 0)));
        for text in ["", "ab", "Foo+a", "\n", "F13"] {
            check(text, None);
        }
    }
}
