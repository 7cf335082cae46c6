//! Which values a message must not repeat.

/// A name that holds one of these says that its value is a secret.
const TELLING: [&str; 9] =
    ["token", "secret", "password", "passphrase", "credential", "authorization", "cookie", "key", "headers"];

/// Whether a key or a variable of this name may hold a secret.
///
/// Better one too many: all that is lost is a word in a message. `env` stands for the environment of a
/// child, where people put the keys of the services they use, and `feeds` for addresses that open calendars. `require_token` only says that there has to be one.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let tells = TELLING.iter().any(|word| name.contains(word));
    name == "env" || name == "feeds" || (tells && !name.starts_with("require_"))
}

/// Whether this value carries a secret whatever its key is called: an address with a user and a password.
pub(crate) fn is_secret_value(value: &str) -> bool {
    value.split_once("://").is_some_and(|(_, rest)| rest.contains('@'))
}
