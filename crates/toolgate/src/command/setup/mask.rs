//! Secrets on the lines of others: people paste what a terminal shows.

/// A name that holds one of these says that its value is a secret.
const TELLING: [&str; 8] =
    ["token", "secret", "password", "passphrase", "credential", "authorization", "cookie", "key"];

/// A line of JSON or TOML with the texts left out that a telling name stands before.
pub(in crate::command) fn secrets(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('"') {
        let (before, literal) = rest.split_at(start);
        let end = end_of(literal);
        out.push_str(before);
        let kept = !is_secret(&out) || is_reference(&literal[..end]);
        out.push_str(if kept { &literal[..end] } else { "\"…\"" });
        rest = &literal[end..];
    }
    out + rest
}

/// Where a text between double quotes ends, or the line.
fn end_of(literal: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in literal.char_indices().skip(1) {
        match letter {
            '"' if !escaped => return at + 1,
            _ => escaped = letter == '\\' && !escaped,
        }
    }
    literal.len()
}

/// Whether a text only says where its secret is: `Bearer {secret:NAME}`.
fn is_reference(literal: &str) -> bool {
    let opens = ["{secret:", "{env:"];
    let Some(start) = opens.iter().filter_map(|open| literal.find(open)).min() else { return false };
    let Some(length) = literal[start..].find('}') else { return false };
    let around = literal[..start].len() + literal[start + length + 1..].len();
    around <= "\"Bearer \"".len()
}

/// Whether what stands before a text is the name of a secret.
fn is_secret(before: &str) -> bool {
    let Some(name) = before.trim_end().strip_suffix([':', '=']) else { return false };
    let name = name.trim_end().trim_end_matches('"');
    let start = name.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-');
    let name = name[start.map_or(0, |at| at + 1)..].to_ascii_lowercase();
    TELLING.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::secrets;

    #[track_caller]
    fn check(line: &str, expect: &str) {
        assert_eq!(secrets(line), expect);
    }

    #[test]
    fn values_of_telling_names_are_left_out() {
        check(r#"  "GITHUB_TOKEN": "ghp_1\"2", "#, r#"  "GITHUB_TOKEN": "…", "#);
        check(
            r#"{"headers":{"X-Api-Key":"k","Accept":"a"}}"#,
            r#"{"headers":{"X-Api-Key":"…","Accept":"a"}}"#,
        );
        check(
            r#"env = { OPENAI_API_KEY = "sk", HOME = "/h" }"#,
            r#"env = { OPENAI_API_KEY = "…", HOME = "/h" }"#,
        );
        check(r#""token": "cut"#, r#""token": "…""#);
        check(r#""args": ["token", "é"] // key"#, r#""args": ["token", "é"] // key"#);
        check(r#"KEY = "{secret:KEY}""#, r#"KEY = "{secret:KEY}""#);
        check(r#"Authorization = "Bearer {env:T}""#, r#"Authorization = "Bearer {env:T}""#);
        check(r#"KEY = "abcdefghijk{env:T}""#, r#"KEY = "…""#);
        check(r#"KEY = "{env:T""#, r#"KEY = "…""#);
        check("", "");
    }
}
