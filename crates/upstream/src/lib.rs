//! Towards other MCP servers: connect, find out their era, supervise them, list what they have, call it.
//!
//! It knows neither clients nor policy: a call comes in permitted, and what goes out is the server's bytes. It reads no
//! files and no environment: what is configured comes in filled.

mod bridge;
mod call;
mod config;
mod definitions;
mod desk;
mod fault;
mod journal;
mod line;
mod link;
mod names;
mod oauth;
mod open;
mod plan;
mod pool;
mod shaping;
mod starts;
mod status;
mod supervisor;
mod transport;
mod updates;
mod upstream;
mod watches;

pub use config::{
    Check, EraChoice, GrantKind, LandlockConfig, NetworkConfig, Oauth, OauthConfig, Prefix, ProxyConfig,
    SandboxConfig, SandboxKind, Share, Start, ToolsConfig, UpstreamConfig,
};
pub use definitions::Definitions;
pub use oauth::{
    Authorizer, Holder, Keeping, LoggedOut, Login, MemoryTokens, OauthError, OauthReason, Standing,
    TokenStore, secrets_in,
};
pub use plan::{BadConfig, Plan};
pub use starts::Starts;
pub use status::{Note, State, Status};
pub use transport::WebClient;
pub use upstream::{Report, Surroundings, Upstream};
pub use watches::Watches;
