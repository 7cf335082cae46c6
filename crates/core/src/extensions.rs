//! Extensions of the protocol that one side declares and we only carry to the other.

use toolgate_wire::{Edit, Raw};

/// How many are carried.
const MOST: usize = 32;

/// How long the name of one may be, and its settings.
const LONGEST_NAME: usize = 128;
const LONGEST_SETTINGS: usize = 4096;

/// Those that concern only the two who talk to each other: ours are our own word.
const OF_THE_LEG: [&str; 3] = [
    "io.modelcontextprotocol/tasks",
    "io.modelcontextprotocol/oauth-client-credentials",
    "io.modelcontextprotocol/enterprise-managed-authorization",
];

/// What of the `extensions` that one side declares is carried to the other, as such an object.
pub fn carried_extensions(declared: Raw) -> Option<Raw> {
    let merged = merged(std::iter::once(declared));
    merged.entries().next().is_some().then(|| merged.detach())
}

/// What several have declared, as one object. Of two with one name the first counts.
pub(crate) fn merged(declared: impl Iterator<Item = Raw>) -> Raw {
    let mut kept: Vec<(String, Raw)> = Vec::new();
    for object in declared {
        for (name, settings) in object.entries() {
            let is_new = !kept.iter().any(|(other, _)| *other == *name);
            if kept.len() < MOST && is_new && is_carried(&name, &settings) {
                kept.push((name.into_owned(), settings));
            }
        }
    }
    let empty = Raw::EMPTY_OBJECT;
    kept.into_iter().fold(Edit::new(&empty), |edit, (name, settings)| edit.set(&name, settings)).finish()
}

fn is_carried(name: &str, settings: &Raw) -> bool {
    is_name(name)
        && !OF_THE_LEG.contains(&name)
        && settings.is_object()
        && settings.as_bytes().len() <= LONGEST_SETTINGS
}

/// Whether this can name an extension: a domain of who made it, then a word.
fn is_name(name: &str) -> bool {
    let word = |text: &str, more: &[u8]| {
        let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = text.as_bytes();
        ends(bytes.first())
            && ends(bytes.last())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || more.contains(byte))
    };
    let parts = name.split_once('/');
    name.len() <= LONGEST_NAME
        && parts.is_some_and(|(domain, rest)| word(domain, b".-") && word(rest, b"._-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(declared: &str, expect: Option<&str>) {
        let carried = carried_extensions(Raw::parse(declared.to_owned().into()).unwrap());
        assert_eq!(carried.as_ref().map(Raw::as_str), expect, "{declared}");
    }

    #[test]
    fn what_has_a_name_and_settings_is_carried_as_it_is_written() {
        check(
            r#"{"io.modelcontextprotocol/ui":{"x":1.0}}"#,
            Some(r#"{"io.modelcontextprotocol/ui":{"x":1.0}}"#),
        );
        check(r#"{"a.b/c_d-e":{}, "x/y":{}}"#, Some(r#"{"a.b/c_d-e":{},"x/y":{}}"#));
        check("{}", None);
        check("5", None);
        for name in ["", "x", "/", "a/", "/b", "a/b/c", "a b/c", "-a/b", "a/b.", "a/\\u001b[2J", "\\u00e9/b"]
        {
            check(&format!(r#"{{"{name}":{{}}}}"#), None);
        }
        for settings in ["null", "true", "[]", "1"] {
            check(&format!(r#"{{"a/b":{settings}}}"#), None);
        }
    }

    #[test]
    fn what_is_between_two_only_is_not_carried() {
        check(
            r#"{"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/oauth-client-credentials":{}}"#,
            None,
        );
    }

    #[test]
    fn no_more_is_carried_than_fits() {
        let long = format!(r#"{{"a/b":{{"x":"{}"}}}}"#, "y".repeat(LONGEST_SETTINGS));
        check(&long, None);
        check(&format!(r#"{{"a/{}":{{}}}}"#, "b".repeat(LONGEST_NAME)), None);
        let many = |name: &str| {
            let all: Vec<String> = (0..100).map(|number| format!(r#""{name}/x{number}":{{}}"#)).collect();
            Raw::parse(format!("{{{}}}", all.join(",")).into()).unwrap()
        };
        assert_eq!(merged([many("a"), many("b")].into_iter()).entries().count(), MOST);
    }

    #[test]
    fn of_two_with_one_name_the_first_counts() {
        let both = [Raw::literal(r#"{"a/b":{"n":1}}"#), Raw::literal(r#"{"a/b":{"n":2},"c/d":{}}"#)];
        assert_eq!(merged(both.into_iter()).as_str(), r#"{"a/b":{"n":1},"c/d":{}}"#);
    }
}
