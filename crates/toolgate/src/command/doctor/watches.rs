//! Whether enough files can be watched for changes.

use toolgate_host::kernel;

use super::{Finding, Scene, State};

/// A large project has about this many folders.
const WATCHES: u64 = 8192;

/// Each process on the data folder needs two, editors and other tools theirs.
const INSTANCES: u64 = 64;

pub(super) fn look(_: &Scene) -> Vec<Finding> {
    let Some(limits) = kernel::watch_limits() else {
        return vec![Finding::new(State::Note, "the limits of file watches are unknown here")];
    };
    let message = format!("{} watches, {} watchers a user", limits.watches, limits.instances);
    let raise = |name: &str, least: u64| format!("run `sudo sysctl fs.inotify.{name}={least}`");
    vec![if limits.watches < WATCHES {
        Finding::new(State::Weak, message).hint(raise("max_user_watches", WATCHES * 16))
    } else if limits.instances < INSTANCES {
        Finding::new(State::Weak, message).hint(raise("max_user_instances", INSTANCES * 8))
    } else {
        Finding::new(State::Ok, message)
    }]
}
