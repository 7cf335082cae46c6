//! What can be written about policy, a file per table of `toolgate.toml`.

mod limits;
mod pins;
mod policy;
mod principals;
mod profiles;

pub use limits::{LimitsConfig, SourceLimit, TargetLimit};
pub use pins::{PinAction, PinsConfig, SourcePins};
pub use policy::{Effect, PolicyConfig, RuleConfig};
pub use principals::{PrincipalConfig, RoleConfig};
pub use profiles::ProfileConfig;
