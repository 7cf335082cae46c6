//! How many threads carry calls, and what must not keep one of them to itself.

use std::num::NonZeroUsize;

use tokio::runtime::{Handle, RuntimeFlavor};

/// How many threads carry calls unless it is set: half as many as there are processors, and at least one.
///
/// A call is mostly waiting. What others do on the same machine, the servers behind us and the clients before us among
/// them, needs processors too, and threads that have little to do wake each other to share it.
pub fn threads() -> NonZeroUsize {
    half(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
}

fn half(processors: NonZeroUsize) -> NonZeroUsize {
    NonZeroUsize::new(processors.get() / 2).unwrap_or(NonZeroUsize::MIN)
}

/// Does what takes the processor for a while. Other calls go on meanwhile, on a thread that steps in for this one.
pub fn at_length<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // Where there is one thread, nobody can step in.
        Ok(_) | Err(_) => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn half_of_the_processors_carry_calls_and_at_least_one() {
        for (processors, expect) in [(1, 1), (2, 1), (3, 1), (4, 2), (9, 4), (64, 32)] {
            assert_eq!(half(NonZeroUsize::new(processors).unwrap()).get(), expect, "{processors}");
        }
    }

    #[test]
    fn what_takes_long_does_not_keep_the_only_thread_to_itself() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (done, is_done) = mpsc::channel();
        let long = runtime.spawn(async move {
            #[expect(clippy::disallowed_methods, reason = "it is awaited here")]
            let other = tokio::spawn(async move { done.send(7).unwrap() });
            let seen = at_length(|| is_done.recv_timeout(Duration::from_secs(60)));
            other.await.unwrap();
            seen
        });
        assert_eq!(runtime.block_on(long).unwrap(), Ok(7));
    }

    #[test]
    fn it_is_done_also_where_nobody_can_step_in() {
        assert_eq!(at_length(|| 7), 7);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(async { at_length(|| 8) }), 8);
    }
}
