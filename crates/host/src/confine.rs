//! A process that gives up, for good, what it does not need: files, the network, most of the kernel, and more memory
//! and processor time than it is given.

use std::io;
use std::time::Duration;

/// What a process keeps itself to.
#[derive(Debug, Clone, Copy)]
pub struct Confinement {
    /// How many bytes of memory it may use beside what it has when it begins.
    pub memory: u64,
    /// How much processor time it may use in its life.
    pub cpu: Duration,
    /// How many bytes of stack its work has.
    pub stack: usize,
}

/// By which means of the kernel a process is held. Limits of memory, processor time and open files hold everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// It can open no file and, as far as this kernel knows how to, connect to nobody.
    pub landlock: bool,
    /// It can ask the kernel for little more than memory, the time, and bytes of what is open already.
    pub seccomp: bool,
}

/// How much processor time this process has used.
#[must_use]
pub fn cpu_used() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

impl Confinement {
    /// Makes ready what the work needs, gives up everything else, and works, on a thread of its own. What is open
    /// already stays open.
    ///
    /// # Errors
    /// The limits cannot be set. That the kernel lacks a means is no error: `work` is told.
    pub fn run<P, T>(
        self,
        prepare: impl FnOnce() -> P + Send,
        work: impl FnOnce(P, Held) -> T + Send,
    ) -> io::Result<T>
    where
        T: Send,
    {
        let before = limits::Before::look()?;
        let landlock = give_up_files();
        let thread = std::thread::Builder::new().name("work".into()).stack_size(self.stack);
        std::thread::scope(|scope| {
            let working = thread.spawn_scoped(scope, move || {
                let ready = prepare();
                before.limit(self)?;
                let seccomp = give_up_kernel();
                Ok(work(ready, Held { landlock, seccomp }))
            })?;
            working.join().unwrap_or_else(|_| Err(io::Error::other("the work failed")))
        })
    }
}

/// Gives up all files and servers, as far as the kernel can hold that.
#[cfg(target_os = "linux")]
fn give_up_files() -> bool {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
        RulesetStatus, Scope,
    };
    let newest = ABI::V6;
    let restrict = || -> Result<_, landlock::RulesetError> {
        let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        let rules =
            rules.handle_access(AccessFs::from_all(newest))?.handle_access(AccessNet::from_all(newest))?;
        rules.scope(Scope::from_all(newest))?.create()?.restrict_self()
    };
    restrict().is_ok_and(|status| status.ruleset != RulesetStatus::NotEnforced)
}

#[cfg(not(target_os = "linux"))]
fn give_up_files() -> bool {
    false
}

/// What a process without files and servers still asks of the kernel: bytes of what is open, memory, threads that
/// wait for each other, and the time.
#[cfg(target_os = "linux")]
const CALLS: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_restart_syscall,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Gives up what else the kernel does, on all threads; what is asked for all the same is refused.
#[cfg(target_os = "linux")]
fn give_up_kernel() -> bool {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};

    let allowed = CALLS.iter().map(|call| (*call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let Ok(machine) = std::env::consts::ARCH.try_into() else { return false };
    let filter = SeccompFilter::new(allowed, refused, SeccompAction::Allow, machine);
    let program = filter.and_then(BpfProgram::try_from);
    program.is_ok_and(|program| apply_filter_all_threads(&program).is_ok())
}

#[cfg(not(target_os = "linux"))]
fn give_up_kernel() -> bool {
    false
}

mod limits {
    //! The limits that every kernel has.

    use std::io;

    use rustix::process::{Resource, Rlimit, setrlimit};

    use super::Confinement;

    /// How much memory the process has is read from here, once it may open no file any more.
    pub(super) struct Before {
        #[cfg(target_os = "linux")]
        statm: std::fs::File,
    }

    impl Before {
        pub(super) fn look() -> io::Result<Self> {
            Ok(Self {
                #[cfg(target_os = "linux")]
                statm: std::fs::File::open("/proc/self/statm")?,
            })
        }

        pub(super) fn limit(&self, to: Confinement) -> io::Result<()> {
            let cpu = to.cpu.as_secs().max(1);
            let memory = self.has()?.saturating_add(to.memory);
            set(Resource::Core, 0)?;
            set(Resource::Fsize, 0)?;
            set(Resource::Nofile, 0)?;
            set(Resource::Cpu, cpu)?;
            set(Resource::As, memory)
        }

        #[cfg(target_os = "linux")]
        fn has(&self) -> io::Result<u64> {
            use std::io::Read as _;
            let mut text = String::new();
            (&self.statm).read_to_string(&mut text)?;
            let pages: Option<u64> = text.split(' ').next().and_then(|pages| pages.parse().ok());
            let size = u64::try_from(rustix::param::page_size()).map_err(io::Error::other)?;
            pages
                .map(|pages| pages * size)
                .ok_or_else(|| io::Error::other("the kernel does not tell our size"))
        }

        #[cfg(not(target_os = "linux"))]
        fn has(&self) -> io::Result<u64> {
            // What the program itself takes is not known here, and is less than this.
            Ok(1 << 30)
        }
    }

    fn set(resource: Resource, most: u64) -> io::Result<()> {
        Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
    }
}
