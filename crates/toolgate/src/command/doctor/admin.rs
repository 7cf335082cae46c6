//! Whether the admin page can be reached, and how safely.

use super::{Finding, State};
use crate::settings::Settings;

pub(super) fn look(settings: &Settings) -> Vec<Finding> {
    let (admin, http) = (&settings.admin, &settings.http);
    if !admin.enabled {
        return vec![
            Finding::new(State::Note, "the page is switched off")
                .hint("`toolgate config set admin.enabled true` switches it on"),
        ];
    }
    let public = http.public_url.as_deref().filter(|url| url.starts_with("https://"));
    let loopback = http.address().is_ok_and(|address| address.ip().is_loopback());
    let finding = match (public, loopback, admin.plain_http) {
        (Some(url), _, _) => {
            Finding::new(State::Ok, format!("`{}/admin`, over TLS", url.trim_end_matches('/')))
        }
        (None, true, false) => Finding::new(State::Ok, "`/admin` answers on this machine"),
        (None, false, false) => Finding::new(State::Note, "`/admin` answers on this machine only")
            .hint("put a proxy with TLS in front and set `http.public_url` to use it from others"),
        (None, _, true) => Finding::new(State::Weak, "passwords for `/admin` may pass in the clear")
            .hint("put a proxy with TLS in front, set `http.public_url`, and unset `admin.plain_http`"),
    };
    vec![finding]
}
