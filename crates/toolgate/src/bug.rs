//! What is our own mistake: a panic becomes a message that says so, and exit code 70.
//!
//! A tool that panics is caught by the hub, a task by its owner; both say so in the log. Only what nobody caught is
//! told to the person here.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use crate::exit;

/// The last panic, for the message. The hook runs before anybody knows whether it will be caught.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Runs the program; what breaks it down is told once.
pub(crate) fn caught(program: impl FnOnce() -> ExitCode) -> ExitCode {
    std::panic::set_hook(Box::new(note));
    ended(program)
}

fn ended(program: impl FnOnce() -> ExitCode) -> ExitCode {
    catch_unwind(AssertUnwindSafe(program)).unwrap_or_else(|_| {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Nothing can be said where even this cannot be written.
        drop(std::io::stderr().write_all(message(last.as_deref().unwrap_or("a panic")).as_bytes()));
        ExitCode::from(exit::BUG)
    })
}

/// Who catches it logs what it said; where it was is known here only.
fn note(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!("panic at {place}");
    let said = panic.payload_as_str().unwrap_or("a panic without a message");
    let mut text = format!("{said}, at {place}");
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        text.push_str(&format!("\n{trace}"));
    }
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
}

fn message(what: &str) -> String {
    let (version, system, machine) =
        (env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    let to = match env!("CARGO_PKG_REPOSITORY") {
        "" => "where you got Toolgate from",
        repository => repository,
    };
    format!(
        "error: toolgate broke down, and that is our bug\n  {what}\n  toolgate {version}, {system} {machine}\n\
         hint: report these lines and what you typed {to}; with RUST_BACKTRACE=1 they say more\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_breaks_the_program_down_ends_it_with_70() {
        assert_eq!(ended(|| panic!("on purpose")), ExitCode::from(70));
        assert_eq!(ended(|| ExitCode::from(2)), ExitCode::from(2));
    }

    #[test]
    fn the_message_names_version_and_what_to_do() {
        let text = message("index out of bounds, at crates/x/src/y.rs:1:2");
        assert!(text.contains("our bug") && text.contains(env!("CARGO_PKG_VERSION")), "{text}");
        assert!(text.contains("y.rs:1:2") && text.contains("\nhint: report"), "{text}");
    }
}
