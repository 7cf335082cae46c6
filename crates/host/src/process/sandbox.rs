//! What a program may touch, held by the kernel from its first instruction on (Landlock).

use std::io;
use std::path::PathBuf;

/// Which servers a program may connect to, by TCP. The kernel's other ways out, such as UDP, are not held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Network {
    /// None, and it may not listen either.
    #[default]
    None,
    /// Those that listen on these ports, and it may not listen itself.
    Ports(Vec<u16>),
    /// All.
    All,
}

/// What a program may touch. What it needs to start is readable too: see [`Sandbox::BASE`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Files and folders, with all beneath them, that it may read and run.
    pub read: Vec<PathBuf>,
    /// Files and folders, with all beneath them, that it may change as well.
    pub write: Vec<PathBuf>,
    /// Whom it may talk to.
    pub network: Network,
}

/// Why a program cannot be confined. It is then not started.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The kernel cannot do it at all.
    #[error("the kernel has no Landlock")]
    Missing,
    /// The kernel cannot do all that is wanted.
    #[error("{what} needs version {needed} of Landlock, and the kernel has version {has}")]
    TooOld {
        /// What is wanted.
        what: &'static str,
        /// The version that can do it.
        needed: u32,
        /// The version that there is.
        has: u32,
    },
    /// A path that it names is not there.
    #[error("`{}` cannot be opened: {cause}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The kernel did not take the rules.
    #[error("the kernel does not take its rules: {0}")]
    Refused(String),
}

impl Sandbox {
    /// What is readable in every sandbox, where it exists: programs, their libraries and their settings. Beside these
    /// the program itself is, the interpreter its first line names, and a few devices such as `/dev/null`.
    pub const BASE: [&str; 9] =
        ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/etc/resolv.conf"];

    /// Whether a kernel with this version of Landlock can hold it, all of it.
    ///
    /// # Errors
    /// It cannot.
    pub fn fits(&self, version: Option<u32>) -> Result<(), SandboxError> {
        let has = version.ok_or(SandboxError::Missing)?;
        // Before the third a file that may not be written could still be emptied.
        let (what, needed) = match self.network {
            Network::All => ("keeping files from being changed", 3),
            Network::None | Network::Ports(_) => ("keeping a program off the network", 4),
        };
        if has < needed {
            return Err(SandboxError::TooOld { what, needed, has });
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
mod kernel_rules {
    use std::io::Read as _;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort, PathBeneath,
        PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope,
    };

    use super::{Network, PathBuf, Sandbox, SandboxError};

    /// Devices that hold nothing, and those that only give.
    const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];
    const SOURCES: [&str; 2] = ["/dev/urandom", "/dev/random"];

    /// The oldest version that can hold files, and the newest whose rights we know how to give.
    const FILES: ABI = ABI::V3;
    const NEWEST: ABI = ABI::V6;

    impl Sandbox {
        /// The rules as the kernel takes them, for a program that starts in a folder.
        pub(crate) fn rules(&self, program: &Path, folder: Option<&Path>) -> Result<OwnedFd, SandboxError> {
            self.fits(crate::kernel::landlock_version())?;
            let mut rules = self.empty().map_err(refused)?;
            let (reading, writing) = (AccessFs::from_read(NEWEST), changes());
            let own = own_files(program);
            for path in Self::BASE.iter().map(Path::new).chain(own.iter().map(PathBuf::as_path)) {
                rules = allow_if_there(rules, path, reading)?;
            }
            for path in SOURCES {
                rules = allow_if_there(rules, Path::new(path), AccessFs::ReadFile.into())?;
            }
            for path in DEVICES {
                let both = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
                rules = allow_if_there(rules, Path::new(path), both)?;
            }
            for path in self.read.iter().map(PathBuf::as_path).chain(folder) {
                rules = allow(rules, path, reading)?;
            }
            for path in &self.write {
                rules = allow(rules, path, reading | writing)?;
            }
            if let Network::Ports(ports) = &self.network {
                let ports = ports.iter().map(|port| Ok(NetPort::new(*port, AccessNet::ConnectTcp)));
                rules = rules.add_rules(ports).map_err(|error: landlock::RulesetError| refused(error))?;
            }
            let file: Option<OwnedFd> = rules.into();
            file.ok_or(SandboxError::Missing)
        }

        /// Rules by which nothing is allowed.
        fn empty(&self) -> Result<RulesetCreated, landlock::RulesetError> {
            let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
            let rules = rules.handle_access(AccessFs::from_all(FILES))?;
            let rules = match self.network {
                Network::All => rules,
                Network::None | Network::Ports(_) => rules.handle_access(AccessNet::from_all(ABI::V4))?,
            };
            // What newer kernels hold beside that: commands to devices, signals, and sockets without a path.
            let rules = rules.set_compatibility(CompatLevel::BestEffort);
            rules.handle_access(AccessFs::from_all(NEWEST))?.scope(Scope::from_all(NEWEST))?.create()
        }
    }

    /// All that can be done to files, but for making devices.
    fn changes() -> BitFlags<AccessFs> {
        AccessFs::from_write(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
    }

    /// The program, and the interpreter that its first line names.
    fn own_files(program: &Path) -> Vec<PathBuf> {
        let mut start = Vec::new();
        let read = std::fs::File::open(program).and_then(|file| file.take(256).read_to_end(&mut start));
        let line = read.ok().and_then(|_| start.split(|byte| *byte == b'\n').next());
        let line = line.and_then(|line| line.strip_prefix(b"#!")).unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let interpreter = line.split_whitespace().next().map(PathBuf::from);
        std::iter::once(program.to_owned()).chain(interpreter).collect()
    }

    fn allow_if_there(
        rules: RulesetCreated,
        path: &Path,
        access: BitFlags<AccessFs>,
    ) -> Result<RulesetCreated, SandboxError> {
        if path.exists() { allow(rules, path, access) } else { Ok(rules) }
    }

    fn allow(
        rules: RulesetCreated,
        path: &Path,
        access: BitFlags<AccessFs>,
    ) -> Result<RulesetCreated, SandboxError> {
        let missing = |cause| SandboxError::Path { path: path.to_owned(), cause };
        let is_folder = path.metadata().map_err(missing)?.is_dir();
        let file = PathFd::new(path).map_err(|error| missing(std::io::Error::other(error)))?;
        // The rights over what a folder holds mean nothing for a file.
        let access = if is_folder { access } else { access & AccessFs::from_file(NEWEST) };
        rules.add_rule(PathBeneath::new(file, access)).map_err(refused)
    }

    fn refused(error: landlock::RulesetError) -> SandboxError {
        SandboxError::Refused(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_cannot_hold_all_of_it_holds_none() {
        #[track_caller]
        fn check(network: Network, version: Option<u32>, expect: &str) {
            let sandbox = Sandbox { network, ..Sandbox::default() };
            let said =
                sandbox.fits(version).err().map_or_else(|| "fine".to_owned(), |error| error.to_string());
            assert_eq!(said, expect);
        }
        let ports = || Network::Ports(vec![443]);
        let old = |has| {
            format!(
                "keeping a program off the network needs version 4 of Landlock, and the kernel has version {has}"
            )
        };
        check(Network::None, None, "the kernel has no Landlock");
        check(Network::All, None, "the kernel has no Landlock");
        check(
            Network::All,
            Some(2),
            "keeping files from being changed needs version 3 of Landlock, and the kernel has version 2",
        );
        check(Network::All, Some(3), "fine");
        check(Network::None, Some(3), &old(3));
        check(ports(), Some(1), &old(1));
        check(ports(), Some(4), "fine");
        check(Network::None, Some(9), "fine");
    }
}
