//! Where processes begin: on one thread, and with what the kernel is told between fork and exec.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};

use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use super::{ProcessError, Program};

type Job = Box<dyn FnOnce() + Send>;

/// Starts a command of a program: it ends with us, and is confined where that is wanted.
///
/// # Errors
/// It does not start, or cannot be confined.
pub(super) async fn spawn(
    program: &Program,
    mut command: Command,
    folder: Option<&Path>,
) -> Result<Child, ProcessError> {
    let failed = |cause| ProcessError::Start { program: program.path.clone(), cause };
    prepare(program, &mut command, folder)?;
    let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other).map_err(failed)?;
    let (answer, answered) = oneshot::channel();
    let job = Box::new(move || {
        let _entered = runtime.enter();
        // Who wanted it may have given up meanwhile; a child that nobody takes is killed when it is dropped.
        if !answer.is_closed() {
            drop(answer.send(command.spawn()));
        }
    });
    on_the_starter(job).map_err(failed)?;
    let lost = |_| io::Error::other("the thread that starts programs failed");
    answered.await.map_err(lost).and_then(|spawned| spawned).map_err(failed)
}

/// Runs a job on the one thread that starts programs.
///
/// The kernel ends a child with the *thread* that began it, and threads of a runtime come and go. This one stays until
/// the process ends.
fn on_the_starter(job: Job) -> io::Result<()> {
    static STARTER: Mutex<Option<mpsc::Sender<Job>>> = Mutex::new(None);
    let mut starter = STARTER.lock().unwrap_or_else(PoisonError::into_inner);
    if starter.is_none() {
        let (jobs, waiting) = mpsc::channel::<Job>();
        std::thread::Builder::new().name("starter".into()).spawn(move || work(&waiting))?;
        *starter = Some(jobs);
    }
    let sent = starter.as_ref().map(|starter| starter.send(job));
    sent.and_then(Result::ok).ok_or_else(|| io::Error::other("the thread that starts programs is gone"))
}

fn work(waiting: &mpsc::Receiver<Job>) {
    while let Ok(job) = waiting.recv() {
        // A runtime that is being shut down panics when it is used; others still need this thread.
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            tracing::warn!("a program could not be started");
        }
    }
}

#[cfg(target_os = "linux")]
fn prepare(program: &Program, command: &mut Command, folder: Option<&Path>) -> Result<(), ProcessError> {
    use std::os::fd::{AsRawFd as _, OwnedFd};

    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    let rules: Option<OwnedFd> = match &program.sandbox {
        Some(sandbox) => Some(
            sandbox
                .rules(&program.path, folder)
                .map_err(|cause| ProcessError::Confine { program: program.path.clone(), cause })?,
        ),
        None => None,
    };
    let parent = getpid();
    let begin = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != Some(parent) {
            // We ended in between, so the kernel will not tell.
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        match &rules {
            Some(rules) => confine(rules.as_raw_fd()),
            None => Ok(()),
        }
    };
    #[expect(unsafe_code, reason = "there is no other way to act between fork and exec")]
    // SAFETY: between fork and exec only calls of the kernel are made; nothing is allocated, and no lock is taken.
    unsafe {
        command.pre_exec(begin);
    }
    Ok(())
}

/// Gives up, for good, all that the rules do not allow.
#[cfg(target_os = "linux")]
fn confine(rules: std::os::fd::RawFd) -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    const NO_FLAGS: libc::c_ulong = 0;
    #[expect(unsafe_code, reason = "no safe wrapper restricts without allocating, which is forbidden here")]
    // SAFETY: the call takes two numbers and reads no memory of ours.
    let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules, NO_FLAGS) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(not(target_os = "linux"))]
fn prepare(program: &Program, _: &mut Command, _: Option<&Path>) -> Result<(), ProcessError> {
    match &program.sandbox {
        Some(_) => {
            Err(ProcessError::Confine { program: program.path.clone(), cause: super::SandboxError::Missing })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn what_cannot_be_confined_is_an_error() {
        // This file is no set of rules, so the kernel refuses it; and nothing is given up.
        let file = tempfile::tempfile().unwrap();
        let on_a_thread = move || confine(file.as_raw_fd()).unwrap_err().raw_os_error();
        let said = std::thread::spawn(on_a_thread).join().unwrap();
        assert!(matches!(said, Some(libc::EBADFD | libc::ENOSYS | libc::EOPNOTSUPP)), "{said:?}");
    }

    #[tokio::test]
    async fn a_job_that_panics_does_not_end_the_thread() {
        on_the_starter(Box::new(|| panic!("as a runtime that is gone does"))).unwrap();
        let (answer, answered) = oneshot::channel();
        on_the_starter(Box::new(move || {
            answer.send(std::thread::current().name() == Some("starter")).unwrap()
        }))
        .unwrap();
        assert!(answered.await.unwrap());
    }
}
