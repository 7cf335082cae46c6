//! Which system this is, and whether all of our guards work on it.

use super::{Finding, Scene, State};

pub(super) fn look(_: &Scene) -> Vec<Finding> {
    let (system, machine, version) =
        (std::env::consts::OS, std::env::consts::ARCH, env!("CARGO_PKG_VERSION"));
    let message = format!("toolgate {version} on {system} {machine}");
    vec![if cfg!(target_os = "linux") {
        Finding::new(State::Ok, message)
    } else {
        Finding::new(State::Weak, format!("{message}: only Linux is complete and tested"))
            .hint("run it on Linux, or in a container, where others can reach it")
    }]
}
