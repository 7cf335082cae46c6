//! The admin page beside the protocol: put together, mounted on the listener, and told when settings change.

mod office;
mod scripts;
mod servers;
mod shown;
mod sign_ins;
mod site;

use std::net::SocketAddr;
use std::sync::Arc;

use toolgate_admin::{About, Accounts, Admin, AdminParts, Cost, NewLink, Reach, Role};
use toolgate_core::{Hub, SharedStore};
use toolgate_front::http::{HttpConfig, Site};
use toolgate_host::Clock;
use toolgate_identity::Tokens;
use toolgate_policy::RulesGate;

use crate::parts::Parts;
use crate::settings::{Reloader, Settings, Sources};
use office::Office;
use site::AdminSite;

/// What the page is put together from.
pub(crate) struct AdminSources {
    pub(crate) hub: Hub,
    pub(crate) parts: Parts,
    pub(crate) rules: RulesGate,
    pub(crate) tokens: Tokens,
    pub(crate) reloader: Arc<Reloader>,
    pub(crate) sources: Sources,
}

/// The page, on the listener that has this address.
pub(crate) fn make(from: AdminSources, settings: &Settings, address: SocketAddr) -> Admin {
    let hub = from.hub.clone();
    let store: SharedStore = from.parts.database.clone();
    let about = About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_ms: Clock::system().unix_ms(),
        address: Some(address.to_string()),
        store: if settings.store.url.is_some() { "postgres" } else { "sqlite" }.to_owned(),
    };
    let desk = Arc::new(Office::new(from, about));
    let parts = AdminParts { hub, store, desk, clock: Clock::system(), cost: Cost::USUAL };
    Admin::new(parts, &settings.admin, &reach(&settings.http))
}

/// The page as a part of the listener.
pub(crate) fn site(admin: &Admin) -> Arc<dyn Site> {
    Arc::new(AdminSite(admin.clone()))
}

/// By which addresses the page is reached.
pub(crate) fn reach(http: &HttpConfig) -> Reach {
    Reach { hosts: http.allowed_hosts.clone(), public_url: http.public_url.clone() }
}

/// A link by which the first account is set up; none where there is an account, or no store to keep it.
pub(crate) async fn first_link(parts: &Parts, base: &str) -> Option<String> {
    let accounts = Accounts::new(parts.database.clone(), Clock::system());
    let made = async {
        if parts.database.exists() && accounts.any().await? {
            return Ok(None);
        }
        let by = "toolgate serve".to_owned();
        accounts.link(NewLink { account: None, role: Role::Admin, first: true, by }).await.map(Some)
    };
    match made.await {
        Ok(made) => made.map(|(text, _)| format!("{base}/admin#setup={}", text.expose())),
        Err(error) => {
            let _: &toolgate_core::Error = &error;
            tracing::warn!("there is no link to set up the admin page: {error}");
            None
        }
    }
}
