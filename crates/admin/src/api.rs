//! The routes, a file for each theme.

mod access;
mod accounts;
mod approvals;
mod audit;
mod events;
mod pins;
mod scripts;
mod secrets;
mod settings;
mod status;
mod tokens;
mod tools;
mod upstreams;

use crate::access::Role;
use crate::route::{Route, Who};

/// Who may look.
const VIEWER: Who = Who::AtLeast(Role::Viewer);
/// Who may answer.
const APPROVER: Who = Who::AtLeast(Role::Approver);
/// Who may change.
const ADMIN: Who = Who::AtLeast(Role::Admin);

/// The longest reason that a person may give.
const LONGEST_REASON: usize = 1000;

/// Every route.
pub(crate) fn routes() -> Vec<Route> {
    let all = [
        access::routes(),
        accounts::routes(),
        status::routes(),
        approvals::routes(),
        pins::routes(),
        scripts::routes(),
        tools::routes(),
        upstreams::routes(),
        tokens::routes(),
        secrets::routes(),
        audit::routes(),
        settings::routes(),
        events::routes(),
    ];
    all.into_iter().flatten().collect()
}
