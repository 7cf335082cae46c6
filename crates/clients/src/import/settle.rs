//! One name for each server and each secret, whichever files they come from.

use super::Found;
use super::name::{secret_name, with_ending};

/// Brings together what is the same, and tells apart what is not.
pub(super) fn all(found: Vec<Found>) -> Vec<Found> {
    let mut settled: Vec<Found> = Vec::new();
    for mut next in found {
        let same = |other: &&mut Found| other.plain() == next.plain() && origin(other) == origin(&next);
        if let Some(other) = settled.iter_mut().find(same) {
            other.origins.append(&mut next.origins);
            continue;
        }
        name_server(&mut next, &settled);
        name_secrets(&mut next, &settled);
        settled.push(next);
    }
    settled
}

/// What a client calls it.
fn origin(found: &Found) -> Option<&str> {
    found.origins.first().map(|origin| &*origin.name)
}

fn name_server(next: &mut Found, settled: &[Found]) {
    let taken = |name: &str| settled.iter().any(|other| other.name == name);
    if !taken(&next.name) {
        return;
    }
    let client = next.origins.first().map_or("", |origin| origin.client.id());
    let endings = std::iter::once(client.to_owned()).chain((2..).map(|count| format!("{client}-{count}")));
    let free = endings.map(|ending| with_ending(&next.name, &ending)).find(|name| !taken(name));
    next.notes.push(format!("there is another `{}`", next.name));
    next.name = free.unwrap_or_default();
}

fn name_secrets(next: &mut Found, settled: &[Found]) {
    let own: Vec<String> = next.secrets.iter().map(|secret| secret.name.clone()).collect();
    let known = |name: &str| {
        settled.iter().flat_map(|other| &other.secrets).find(|secret| secret.name == name).cloned()
    };
    for secret in next.secrets.clone() {
        if known(&secret.name).is_none_or(|other| other.expose() == secret.expose()) {
            continue;
        }
        let first = secret_name(&[&next.name, &secret.name]);
        let mut names = std::iter::once(first.clone()).chain((2..).map(|count| format!("{first}_{count}")));
        if let Some(free) = names.find(|name| known(name).is_none() && !own.contains(name)) {
            next.rename_secret(&secret.name, &free);
        }
    }
}
