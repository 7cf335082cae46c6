//! What the API asks of the rest of the program, which keeps tokens, secrets, servers, pins, scripts, settings and the
//! record.

mod audit;
mod pins;
mod policy;
mod scripts;
mod settings;
mod tokens;
mod upstreams;

use std::future::Future;
use std::pin::Pin;

use toolgate_core::Result;

pub use audit::{AuditFilter, AuditPage};
pub use pins::{Pin as PinnedTool, PinFinding};
pub use policy::{Explained, PolicyQuestion, PolicyStep};
pub use scripts::{LookedAtScript, ScriptInfo, ScriptsGlance};
pub use settings::{Setting, SettingOrigin, SettingsInForce};
pub use tokens::{MadeToken, NewToken, PrincipalInfo, SecretInfo, Token};
pub use upstreams::{NewUpstream, SignIn, Upstream};

/// What someone answers with, later.
pub type Told<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// What the process says of itself.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// Its version.
    pub version: String,
    /// Since when it runs, in milliseconds since 1970.
    pub started_ms: u64,
    /// Where it listens.
    pub address: Option<String>,
    /// The kind of store: `sqlite` or `postgres`.
    pub store: String,
}

/// The rest of the program, as the API needs it. `by` says who wants something done, for records.
pub trait Desk: Send + Sync {
    /// What the process says of itself.
    fn about(&self) -> About;

    /// What the policy makes of a call.
    ///
    /// # Errors
    /// What it is for cannot be read.
    fn explain(&self, question: PolicyQuestion) -> Result<Explained>;

    /// Everyone who is known: by settings, by a token, or by being connected.
    fn principals(&self) -> Told<'_, Vec<PrincipalInfo>>;

    /// All tokens, newest first.
    fn tokens(&self) -> Told<'_, Vec<Token>>;

    /// Makes a token; its text is shown this once.
    fn make_token(&self, new: NewToken, by: String) -> Told<'_, MadeToken>;

    /// Takes a token back.
    fn revoke_token(&self, id: String) -> Told<'_, Token>;

    /// The names of all secrets.
    fn secrets(&self) -> Told<'_, Vec<SecretInfo>>;

    /// Keeps a secret; tells whether there was none of that name.
    fn set_secret(&self, name: String, value: toolgate_host::Secret) -> Told<'_, ()>;

    /// Forgets a secret.
    fn remove_secret(&self, name: String) -> Told<'_, ()>;

    /// Finds records, newest first.
    fn audit(&self, filter: AuditFilter) -> Told<'_, AuditPage>;

    /// Every tool of another server that was ever seen.
    fn pins(&self) -> Told<'_, Vec<PinnedTool>>;

    /// One of them.
    fn pin(&self, source: String, tool: String) -> Told<'_, PinnedTool>;

    /// Accepts a definition: exactly the one with this digest.
    fn accept_pin(&self, source: String, tool: String, digest: String, by: String) -> Told<'_, PinnedTool>;

    /// All scripts in order; then the code that somebody wanted to run and that is no file.
    fn scripts(&self) -> Told<'_, Vec<ScriptInfo>>;

    /// One of them, as it is now.
    fn script(&self, name: String) -> Told<'_, LookedAtScript>;

    /// Approves a script: exactly the bytes with this hash.
    fn approve_script(&self, name: String, hash: String, by: String) -> Told<'_, ScriptInfo>;

    /// Rejects a script: exactly the bytes with this hash.
    fn reject_script(
        &self,
        name: String,
        hash: String,
        reason: Option<String>,
        by: String,
    ) -> Told<'_, ScriptInfo>;

    /// Puts a new version of a script in the place of the one that was seen; without one, it has to be new.
    fn put_script(&self, name: String, source: String, seen: Option<String>) -> Told<'_, ScriptInfo>;

    /// All scripts at a glance, which may be a moment old; none where scripts are switched off.
    fn glance_at_scripts(&self) -> Told<'_, Option<ScriptsGlance>>;

    /// All upstreams, with how they stand, by name.
    fn upstreams(&self) -> Told<'_, Vec<Upstream>>;

    /// One of them, with what its program wrote.
    fn upstream(&self, name: String) -> Told<'_, Upstream>;

    /// Adds an upstream to the settings.
    fn add_upstream(&self, new: NewUpstream) -> Told<'_, Upstream>;

    /// Takes an upstream out of the settings, and forgets what is kept of it.
    fn remove_upstream(&self, name: String) -> Told<'_, ()>;

    /// Switches an upstream on or off.
    fn switch_upstream(&self, name: String, on: bool) -> Told<'_, ()>;

    /// Begins to sign in to an upstream; the address is to be opened in a browser.
    fn sign_in(&self, name: String) -> Told<'_, SignIn>;

    /// Goes on with signing in, by the address that the browser ended at.
    fn finish_sign_in(&self, name: String, address: String) -> Told<'_, ()>;

    /// Signs out of an upstream.
    fn sign_out(&self, name: String) -> Told<'_, ()>;

    /// The settings in force, with where each comes from.
    fn settings(&self) -> Told<'_, SettingsInForce>;

    /// Reads the settings anew, and tells what changed.
    fn reload(&self) -> Told<'_, String>;
}
