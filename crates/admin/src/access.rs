//! Who may use the API and the page: accounts, links, logins, and what is checked before anything is read.

mod accounts;
mod cookie;
mod guard;
mod links;
mod logins;
mod password;
mod role;
mod secret;
mod throttle;

pub use accounts::{Account, Accounts};
pub(crate) use accounts::{NewAccount, name_fault};
pub(crate) use cookie::Cookie;
pub(crate) use guard::{Guard, Way};
pub use links::NewLink;
pub(crate) use logins::{Login, Logins};
pub use password::Cost;
pub(crate) use password::{Passwords, fault as password_fault};
pub use role::Role;
pub(crate) use throttle::Throttle;
