//! Whether the kernel keeps paths inside their folder.

use toolgate_host::kernel;

use super::{Finding, Scene, State};

pub(super) fn look(_: &Scene) -> Vec<Finding> {
    vec![if kernel::resolves_beneath() {
        Finding::new(State::Ok, "the kernel keeps paths inside their folder (openat2)")
    } else {
        Finding::new(State::Weak, "paths are kept inside their folder step by step, without openat2")
            .hint("use Linux 5.6 or later, and a container that does not filter openat2")
    }]
}
