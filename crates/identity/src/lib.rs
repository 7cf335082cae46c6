//! Who a bearer is: tokens that we made, JWTs of a configured issuer, and the one token of the configuration.
//!
//! It knows neither HTTP nor what a principal may do: the front brings the bearer, and the rules judge the principal.

mod config;
mod identity;
mod issuer;
mod name;
mod text;
mod tokens;

pub use config::{IdentityConfig, IdentityError};
pub use identity::Identity;
pub use name::{PrincipalName, RoleName};
pub use text::token_opening;
pub use tokens::{NewToken, TokenInfo, TokenState, Tokens};
