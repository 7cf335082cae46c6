//! Exit codes: 0 done, 1 failed, 2 usage or configuration, 70 our bug.

use std::process::ExitCode;

use toolgate_config::ConfigError;
use toolgate_core::{Error, StoreError};
use toolgate_front::http::BindError;
use toolgate_identity::IdentityError;
use toolgate_secrets::{BadName, SecretError};

/// Failed.
pub(crate) const FAILED: u8 = 1;
/// Wrong usage or configuration.
pub(crate) const USAGE: u8 = 2;
/// Our bug.
pub(crate) const BUG: u8 = 70;

/// Help asked for is an answer; anything else that clap says is a mistake in usage.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Nothing can be said where even this cannot be written.
    drop(error.print());
    ExitCode::from(if error.use_stderr() { USAGE } else { 0 })
}

/// Says what went wrong and what to do, and picks the exit code.
#[expect(clippy::print_stderr, reason = "this is where commands speak to people")]
pub(crate) fn failed(error: &anyhow::Error) -> ExitCode {
    if is_enough(error) {
        return ExitCode::SUCCESS;
    }
    if let Some(error) = error.downcast_ref::<Error>() {
        eprintln!("error: {error}");
        if let Some(hint) = error.next_step() {
            eprintln!("hint: {hint}");
        }
        return ExitCode::from(error.kind().exit_code());
    }
    let code = if error.is::<ConfigError>() || error.is::<BindError>() || error.is::<IdentityError>() {
        USAGE
    } else {
        FAILED
    };
    eprintln!("error: {error:#}");
    if let Some(hint) = hint(error) {
        eprintln!("hint: {hint}");
    }
    ExitCode::from(code)
}

/// What to do, where an error or one that it comes from says so.
fn hint(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let secret = cause.downcast_ref::<SecretError>().map(SecretError::hint);
        let name = cause.downcast_ref::<BadName>().map(|error| error.hint().into());
        let store = cause.downcast_ref::<StoreError>().and_then(|error| error.next_step().map(Into::into));
        secret.or(name).or(store)
    })
}

/// Whoever read our output has read enough of it, as `head` does, and closed it: nothing failed.
fn is_enough(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
