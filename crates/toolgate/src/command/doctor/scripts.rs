//! Whether the children that run scripts are held as they should be.

use toolgate_host::kernel;

use super::{Finding, State};
use crate::settings::{PackName, Settings};

pub(super) fn look(settings: &Settings) -> Vec<Finding> {
    if !settings.packs.contains(&PackName::Script) {
        return vec![Finding::new(State::Note, "off: `packs` leaves it out")];
    }
    vec![held(kernel::landlock_version().is_some(), kernel::has_seccomp())]
}

fn held(landlock: bool, seccomp: bool) -> Finding {
    let means = [(landlock, "Landlock"), (seccomp, "seccomp")];
    let missing: Vec<&str> = means.iter().filter(|(there, _)| !there).map(|(_, name)| *name).collect();
    match missing.as_slice() {
        [] => Finding::new(State::Ok, "the children that run them are held by Landlock and seccomp"),
        missing => {
            let weaker = format!("the children that run them are held without {}", missing.join(" and "));
            Finding::new(State::Weak, weaker).hint("use Linux 5.13 or later with Landlock and seccomp")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_lacks_is_named() {
        #[track_caller]
        fn check(landlock: bool, seccomp: bool, expect: &str) {
            let found = held(landlock, seccomp);
            assert!(found.message.ends_with(expect), "{}", found.message);
            assert_eq!(found.hint.is_some(), !(landlock && seccomp));
        }
        check(true, true, "held by Landlock and seccomp");
        check(false, true, "held without Landlock");
        check(true, false, "held without seccomp");
        check(false, false, "held without Landlock and seccomp");
    }
}
