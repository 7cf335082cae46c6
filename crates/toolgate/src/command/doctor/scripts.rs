//! Whether the children that run scripts are held as they should be.

use toolgate_host::kernel;

use super::{Finding, State};
use crate::settings::{PackName, Settings};

pub(super) fn look(settings: &Settings) -> Vec<Finding> {
    if !settings.packs.contains(&PackName::Script) {
        return vec![Finding::new(State::Note, "off").hint("add `script` to `packs`")];
    }
    let means = [(kernel::landlock_version().is_some(), "Landlock"), (kernel::has_seccomp(), "seccomp")];
    let missing: Vec<&str> = means.iter().filter(|(there, _)| !there).map(|(_, name)| *name).collect();
    vec![match missing.as_slice() {
        [] => Finding::new(State::Ok, "the children that run them are held by Landlock and seccomp"),
        missing => {
            let weaker = format!("the children that run them are held without {}", missing.join(" and "));
            Finding::new(State::Weak, weaker).hint("use Linux 5.13 or later with Landlock and seccomp")
        }
    }]
}
