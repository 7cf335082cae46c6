//! What looks like a password, a key or a token.

use serde_json::Value;

/// How known tokens begin, how many letters follow at least, and whose they are.
const TOKENS: [(&str, usize, &str); 14] = [
    ("ghp_", 30, "a token of GitHub"),
    ("gho_", 30, "a token of GitHub"),
    ("github_pat_", 30, "a token of GitHub"),
    ("glpat-", 18, "a token of GitLab"),
    ("sk-ant-", 20, "a key of Anthropic"),
    ("sk-proj-", 20, "a key of OpenAI"),
    ("sk_live_", 16, "a key of Stripe"),
    ("xoxb-", 20, "a token of Slack"),
    ("xoxp-", 20, "a token of Slack"),
    ("AKIA", 16, "a key of AWS"),
    ("AIza", 30, "a key of Google"),
    ("npm_", 30, "a token of npm"),
    ("hf_", 30, "a token of Hugging Face"),
    ("eyJhbGciOi", 40, "a JSON Web Token"),
];

/// Names of properties that hold secrets.
const NAMES: [&str; 8] =
    ["password", "passwd", "secret", "token", "apikey", "privatekey", "accesskey", "credential"];

/// What stands where a secret would stand.
const PLACEHOLDERS: [&str; 12] =
    ["your", "example", "xxx", "***", "...", "<", "{", "changeme", "placeholder", "none", "null", "dummy"];

/// What kind of secret a text holds.
pub(super) fn looks_like(text: &str) -> Option<&'static str> {
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----") {
        return Some("a private key");
    }
    let words =
        text.split(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '_' | '-' | '.'));
    words.filter(|word| !is_placeholder(word)).find_map(|word| {
        let known = TOKENS
            .iter()
            .find(|(begins, least, _)| word.strip_prefix(begins).is_some_and(|rest| rest.len() >= *least));
        known.map(|(_, _, kind)| *kind)
    })
}

/// Properties whose name is that of a secret and that come with a value.
pub(super) fn defaults(value: &Value) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    collect(value, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<(String, &'static str)>) {
    match value {
        Value::Object(members) => {
            for (name, property) in members.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                if property["default"].as_str().is_some_and(|text| is_secret(name, text)) {
                    found.push((name.clone(), "its default looks like a secret"));
                }
            }
            members.values().for_each(|value| collect(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_secret(name: &str, text: &str) -> bool {
    let folded: String =
        name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let named = NAMES.iter().any(|secret| folded.ends_with(secret));
    // A secret has letters and digits; a word is one of a choice.
    let mixed = text.chars().any(|c| c.is_ascii_digit()) && text.chars().any(|c| c.is_ascii_alphabetic());
    named && text.len() >= 8 && mixed && !text.contains(' ') && !is_placeholder(text)
}

fn is_placeholder(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_are_known_by_their_beginning_and_placeholders_are_none() {
        #[track_caller]
        fn check(text: &str, expect: Option<&str>) {
            assert_eq!(looks_like(text), expect, "{text}");
        }
        check("key=AKIAIOSFODNN7ABCDEFG!", Some("a key of AWS"));
        check("-----BEGIN RSA PRIVATE KEY-----", Some("a private key"));
        check("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", None);
        check("sk-ant-short", None);
        check("the skills of npm_package", None);
    }

    #[test]
    fn a_default_is_a_secret_by_the_name_of_its_property() {
        #[track_caller]
        fn check(name: &str, default: &str, expect: bool) {
            let schema = json!({"inputSchema": {"properties": {name: {"default": default}}}});
            assert_eq!(!defaults(&schema).is_empty(), expect, "{name}: {default}");
        }
        check("apiKey", "a8f3k2m9", true);
        check("auth_token", "tok-123456", true);
        check("token", "YOUR_TOKEN_1", false);
        check("token", "bearer", false);
        check("page_token", "first page", false);
        check("tokenizer", "cl100k_base", false);
        check("city", "a8f3k2m9", false);
    }
}
