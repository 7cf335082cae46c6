//! Whether a process can give up rights for good.

use toolgate_host::kernel;

use super::{Finding, Scene, State};

pub(super) fn look(_: &Scene) -> Vec<Finding> {
    vec![match kernel::landlock_version() {
        Some(version @ ..4) => {
            let weaker = format!("Landlock, version {version}: programs cannot be kept off the network");
            Finding::new(State::Weak, weaker).hint("use Linux 6.7 or later")
        }
        Some(version) => Finding::new(State::Ok, format!("Landlock, version {version}")),
        None => {
            Finding::new(State::Weak, "no Landlock: what a child process may touch is not held by the kernel")
                .hint("use Linux 5.13 or later with `landlock` among its security modules")
        }
    }]
}
