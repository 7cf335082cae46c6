//! `{secret:NAME}` in configuration: the value takes its place.

use toolgate_host::Secret;
use zeroize::Zeroizing;

use crate::name::SecretName;
use crate::secrets::Snapshot;

const OPEN: &str = "{secret:";

/// A reference that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no secret `{name}`")]
pub struct MissingSecret {
    name: String,
}

impl MissingSecret {
    /// What was referred to.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self.name.parse::<SecretName>() {
            Ok(name) => format!("run `toolgate secret set {name}`"),
            Err(error) => format!("a reference is written `{{secret:NAME}}`; {}", error.hint()),
        }
    }
}

/// Puts secrets where a text refers to them; the rest stays as it is, and a value is never looked into.
///
/// # Errors
/// A secret is not there.
pub fn fill(text: &str, secrets: &Snapshot) -> Result<Secret, MissingSecret> {
    let mut filled = Zeroizing::new(String::with_capacity(text.len() + 128));
    let mut rest = text;
    while let Some((before, name, behind)) = next(rest) {
        let secret = secrets.get(name).ok_or_else(|| MissingSecret { name: name.to_owned() })?;
        grow(&mut filled, before.len() + secret.expose().len());
        filled.push_str(before);
        filled.push_str(secret.expose());
        rest = behind;
    }
    grow(&mut filled, rest.len());
    filled.push_str(rest);
    Ok(Secret::new(std::mem::take(&mut *filled)))
}

/// The names that a text refers to, in order.
pub fn references(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, name, behind) = next(rest)?;
        rest = behind;
        Some(name)
    })
}

/// The next reference: what stands before it, its name, and what stands behind it. One that does not end counts as
/// a name that no secret has, so that nobody takes it for a literal.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let (before, behind) = text.split_once(OPEN)?;
    let (name, behind) = behind.split_once('}').unwrap_or((&text[before.len()..], ""));
    Some((before, name, behind))
}

/// Makes room without leaving a copy behind, which growing in place could.
fn grow(filled: &mut Zeroizing<String>, more: usize) {
    if filled.capacity() - filled.len() < more {
        let mut larger = Zeroizing::new(String::with_capacity(2 * (filled.len() + more)));
        larger.push_str(filled);
        *filled = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Snapshot {
        let secret = |name: &str, value: &str| (name.parse().unwrap(), Secret::new(value.into()));
        [secret("A", "first one"), secret("B_2", "{secret:A}")].into_iter().collect()
    }

    #[test]
    fn values_take_the_place_of_references() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(fill(text, &secrets()).unwrap().expose(), expect);
        }
        check("", "");
        check("plain {} {secret}", "plain {} {secret}");
        check("{secret:A}", "first one");
        check("Bearer {secret:A}!", "Bearer first one!");
        check("{secret:A}{secret:A} é {secret:B_2}", "first onefirst one é {secret:A}");
    }

    #[test]
    fn a_reference_that_leads_nowhere_says_what_to_do() {
        #[track_caller]
        fn check(text: &str, name: &str, hint: &str) {
            let error = fill(text, &secrets()).unwrap_err();
            assert_eq!((error.name(), error.to_string()), (name, format!("there is no secret `{name}`")));
            assert!(error.hint().contains(hint), "{}", error.hint());
        }
        check("{secret:A} {secret:NO_SUCH}", "NO_SUCH", "`toolgate secret set NO_SUCH`");
        check("{secret:a}", "a", "capital letters");
        check("{secret: A}", " A", "`{secret:NAME}`");
        check("x {secret:A", "{secret:A", "`{secret:NAME}`");
        check("{secret:}", "", "`{secret:NAME}`");
    }

    #[test]
    fn references_are_found_in_order() {
        assert_eq!(references("x {secret:B} {secret:A} {secret").collect::<Vec<_>>(), ["B", "A"]);
    }
}
