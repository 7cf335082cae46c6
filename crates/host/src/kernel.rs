//! What the kernel can do for us, asked of the kernel itself.

use std::fs;

/// How many files one user may watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchLimits {
    /// How many files and folders, over all processes.
    pub watches: u64,
    /// How many watchers, over all processes.
    pub instances: u64,
}

/// Whether the kernel itself keeps a path beneath a folder (`openat2`); without it we do so by hand, step by step.
#[must_use]
pub fn resolves_beneath() -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat2(CWD, ".", flags, Mode::empty(), ResolveFlags::BENEATH).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// The version of Landlock, by which a process gives up rights for good; none where the kernel has it not, or off.
#[must_use]
pub fn landlock_version() -> Option<u32> {
    #[cfg(target_os = "linux")]
    {
        const CREATE_RULESET_VERSION: libc::c_ulong = 1;
        let (attributes, size): (*const libc::c_void, libc::size_t) = (std::ptr::null(), 0);
        #[expect(unsafe_code, reason = "no safe wrapper asks for the version without making a rule set")]
        // SAFETY: with this flag the kernel reads no memory of ours and answers with a number; where the call does
        // not exist it answers with an error.
        let version = unsafe {
            libc::syscall(libc::SYS_landlock_create_ruleset, attributes, size, CREATE_RULESET_VERSION)
        };
        u32::try_from(version).ok().filter(|version| *version > 0)
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Whether a process can give up most of what the kernel does (seccomp).
#[must_use]
pub fn has_seccomp() -> bool {
    cfg!(target_os = "linux") && fs::exists("/proc/sys/kernel/seccomp/actions_avail").unwrap_or(false)
}

/// How many files one user may watch; unknown where there is no inotify.
#[must_use]
pub fn watch_limits() -> Option<WatchLimits> {
    let number = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?;
        text.trim().parse().ok()
    };
    Some(WatchLimits { watches: number("max_user_watches")?, instances: number("max_user_instances")? })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_answers() {
        // What it answers differs from machine to machine; that asking harms nothing does not.
        assert!(landlock_version().is_none_or(|version| version < 1000));
        assert!(watch_limits().is_none_or(|limits| limits.watches > 0));
        assert_eq!(resolves_beneath(), resolves_beneath());
    }
}
