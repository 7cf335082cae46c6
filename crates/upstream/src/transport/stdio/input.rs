//! The standard input of a program: whoever has something to say writes it there and then, and with it what others have to
//! say meanwhile; what the program does not take is written by a task.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::AsyncWrite;
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use toolgate_wire::write;

use crate::desk::Out;

/// From how many bytes on no further frame is put with others that wait.
const TOGETHER: usize = 64 * 1024;

/// Where frames are written, until it is closed.
pub(super) struct Input<W = ChildStdin> {
    waiting: Mutex<Waiting>,
    /// Callers only try to have it: whoever has it looks again at what waits before they go.
    open: Mutex<Option<Open<W>>>,
}

/// Lines that nobody has begun to write.
#[derive(Default)]
struct Waiting {
    lines: Vec<u8>,
    /// What to set when they are begun.
    left: Vec<Arc<AtomicBool>>,
    /// The task, while it has nothing to do.
    idle: Option<Waker>,
    closed: bool,
}

struct Open<W> {
    stdin: W,
    /// Lines of which the first bytes are written already.
    lines: Vec<u8>,
    written: usize,
    /// The program did not take all of it, or is gone: the task is at it, and nobody else.
    stuck: bool,
}

impl<W: AsyncWrite + Unpin> Input<W> {
    pub(super) fn new(stdin: W) -> Self {
        let open = Open { stdin, lines: Vec::new(), written: 0, stuck: false };
        Self { waiting: Mutex::default(), open: Mutex::new(Some(open)) }
    }

    /// Writes a frame, or leaves it to whoever is writing just now. It comes back where it has to be queued: others are,
    /// or too much waits.
    pub(super) fn write_now(&self, out: Out, queue: &mpsc::Sender<Out>) -> Result<(), Out> {
        let mut waiting = self.waiting();
        let are_queued = queue.capacity() < queue.max_capacity();
        if waiting.closed || are_queued || waiting.lines.len() >= TOGETHER {
            return Err(out);
        }
        waiting.put(out);
        drop(waiting);
        self.flush();
        Ok(())
    }

    /// Writes what waits, unless somebody is at it: they will see it.
    fn flush(&self) {
        while !self.waiting().lines.is_empty()
            && let Ok(mut open) = self.open.try_lock()
            && let Some(open) = open.as_mut().filter(|open| !open.stuck)
        {
            if !matches!(
                open.poll(&self.waiting, &mut Context::from_waker(Waker::noop())),
                Poll::Ready(Ok(()))
            ) {
                // The rest of it, or the error, is for the task.
                open.stuck = true;
                let idle = self.waiting().idle.take();
                idle.into_iter().for_each(Waker::wake);
            }
        }
    }

    /// Writes what was queued and what was left, for as long as there may be more.
    pub(super) fn poll_write(
        &self,
        queued: &mut mpsc::Receiver<Out>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            self.waiting().idle = Some(context.waker().clone());
            let mut open = self.open();
            let Some(now) = open.as_mut() else { return Poll::Ready(Ok(())) };
            now.stuck = true;
            ready!(now.poll(&self.waiting, context))?;
            now.stuck = false;
            drop(open);
            // Who came meanwhile left it to us.
            self.flush();
            let Some(first) = ready!(queued.poll_recv(context)) else {
                // Whoever wrote last may have left the rest of it to us and gone.
                let mut open = self.open();
                return open.as_mut().map_or(Poll::Ready(Ok(())), |last| last.poll(&self.waiting, context));
            };
            let mut waiting = self.waiting();
            waiting.put(first);
            while waiting.lines.len() < TOGETHER
                && let Ok(next) = queued.try_recv()
            {
                waiting.put(next);
            }
        }
    }

    /// Nothing can be written any more, and the program sees the end of its input.
    pub(super) fn close(&self) {
        self.waiting().closed = true;
        self.open().take();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }

    fn open(&self) -> MutexGuard<'_, Option<Open<W>>> {
        lock(&self.open)
    }
}

impl Waiting {
    /// Puts a frame behind those that wait.
    fn put(&mut self, out: Out) {
        self.left.extend(out.left);
        self.lines.extend_from_slice(&write::one_line(out.frame));
        self.lines.push(b'\n');
    }
}

impl<W: AsyncWrite + Unpin> Open<W> {
    /// Writes the lines under way, and all that wait.
    fn poll(&mut self, waiting: &Mutex<Waiting>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            while self.written < self.lines.len() {
                let stdin = Pin::new(&mut self.stdin);
                match ready!(stdin.poll_write(context, &self.lines[self.written..]))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    written => self.written += written,
                }
            }
            self.written = 0;
            self.lines.clear();
            self.lines.shrink_to(TOGETHER);
            let mut waiting = lock(waiting);
            if waiting.lines.is_empty() {
                return Poll::Ready(Ok(()));
            }
            waiting.left.drain(..).for_each(|left| left.store(true, Ordering::Release));
            std::mem::swap(&mut self.lines, &mut waiting.lines);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use bytes::Bytes;
    use tokio::io::{AsyncReadExt as _, DuplexStream};

    use super::*;

    fn frame(text: &str) -> Out {
        Out { frame: Bytes::from(text.to_owned()), left: None }
    }

    /// An input with room for so many bytes, and all around it.
    struct Rig {
        input: Input<DuplexStream>,
        queue: mpsc::Sender<Out>,
        queued: mpsc::Receiver<Out>,
        reader: DuplexStream,
    }

    impl Rig {
        fn new(room: usize) -> Self {
            let (stdin, reader) = tokio::io::duplex(room);
            let (queue, queued) = mpsc::channel(8);
            Self { input: Input::new(stdin), queue, queued, reader }
        }

        fn write_now(&self, text: &str) -> Result<(), Out> {
            self.input.write_now(frame(text), &self.queue)
        }

        /// Everything that was written, and is by the task, until nobody has more to say.
        async fn all(self) -> String {
            let Self { input, queue, mut queued, mut reader } = self;
            drop(queue);
            let mut text = String::new();
            let write = async {
                poll_fn(|context| input.poll_write(&mut queued, context)).await.unwrap();
                input.close();
            };
            let ((), read) = tokio::join!(write, reader.read_to_string(&mut text));
            read.unwrap();
            text
        }
    }

    #[tokio::test]
    async fn a_frame_is_written_at_once_where_nobody_waits() {
        let mut rig = Rig::new(100);
        rig.write_now("{ \n}").unwrap();
        let mut bytes = [0; 8];
        let length = rig.reader.read(&mut bytes).await.unwrap();
        assert_eq!(str::from_utf8(&bytes[..length]), Ok("{}\n"));
        assert_eq!(rig.all().await, "");
    }

    #[tokio::test]
    async fn a_frame_does_not_overtake_one_that_is_queued() {
        let rig = Rig::new(100);
        rig.queue.send(frame("1")).await.unwrap();
        let second = rig.write_now("2").unwrap_err();
        rig.queue.send(second).await.unwrap();
        assert_eq!(rig.all().await, "1\n2\n");
    }

    #[tokio::test]
    async fn who_writes_takes_along_what_others_have_to_say_meanwhile() {
        let rig = Rig::new(100);
        let at_it = rig.input.open.lock().unwrap();
        rig.write_now("1").unwrap();
        rig.write_now("2").unwrap();
        drop(at_it);
        rig.write_now("3").unwrap();
        assert!(lock(&rig.input.waiting).lines.is_empty());
        assert_eq!(rig.all().await, "1\n2\n3\n");
    }

    #[tokio::test]
    async fn a_frame_has_left_when_it_is_begun_and_not_while_it_waits() {
        let rig = Rig::new(100);
        let left = Arc::new(AtomicBool::new(false));
        let at_it = rig.input.open.lock().unwrap();
        let out = Out { left: Some(left.clone()), ..frame("1") };
        rig.input.write_now(out, &rig.queue).unwrap();
        assert!(!left.load(Ordering::Acquire));
        drop(at_it);
        rig.input.flush();
        assert!(left.load(Ordering::Acquire));
    }

    #[tokio::test]
    async fn where_too_much_waits_a_frame_is_queued_and_written_in_its_turn() {
        let rig = Rig::new(1000);
        let large = "x".repeat(TOGETHER / 2);
        let at_it = rig.input.open.lock().unwrap();
        rig.write_now(&large).unwrap();
        rig.write_now(&large).unwrap();
        let next = rig.write_now("next").unwrap_err();
        drop(at_it);
        rig.queue.send(next).await.unwrap();
        assert!(rig.write_now("too early").is_err());
        assert!(rig.all().await == format!("{large}\n{large}\nnext\n"));
    }

    #[tokio::test(start_paused = true)]
    async fn what_did_not_fit_is_written_by_the_task_before_all_others() {
        let Rig { input, queue, mut queued, mut reader } = Rig::new(4);
        let act = async {
            // The task waits already, and has to be told.
            input.write_now(frame("0123456789"), &queue).unwrap();
            input.write_now(frame("then"), &queue).unwrap();
            let mut bytes = [0; 21];
            reader.read_exact(&mut bytes[..11]).await.unwrap();
            queue.send(frame("next")).await.unwrap();
            reader.read_exact(&mut bytes[11..]).await.unwrap();
            assert_eq!(&bytes, b"0123456789\nthen\nnext\n");
            drop(queue);
        };
        let both = async { tokio::join!(poll_fn(|context| input.poll_write(&mut queued, context)), act) };
        let (written, ()) = tokio::time::timeout(Duration::from_secs(60), both).await.unwrap();
        written.unwrap();
    }

    #[test]
    fn nothing_is_lost_or_cut_however_many_write_at_once() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
        runtime.block_on(write_at_once::<8>(500));
    }

    #[test]
    fn nothing_is_cut_however_soon_the_last_of_them_goes() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
        for _ in 0..2000 {
            runtime.block_on(write_at_once::<2>(2));
        }
    }

    /// Writers that write so many lines each, and go.
    async fn write_at_once<const WRITERS: usize>(lines: usize) {
        let Rig { input, queue, mut queued, mut reader } = Rig::new(16);
        let input = Arc::new(input);
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..WRITERS {
            let (input, queue) = (input.clone(), queue.clone());
            writers.spawn(async move {
                for number in 0..lines {
                    let out = frame(&format!("{writer} {number} {}", "x".repeat(20 + number % 50)));
                    if let Err(out) = input.write_now(out, &queue) {
                        queue.send(out).await.unwrap();
                    }
                }
            });
        }
        drop(queue);
        let task = async {
            poll_fn(|context| input.poll_write(&mut queued, context)).await.unwrap();
            input.close();
        };
        let mut text = String::new();
        tokio::join!(task, reader.read_to_string(&mut text)).1.unwrap();
        let mut next = [0; WRITERS];
        for line in text.lines() {
            let mut words = line.split(' ');
            let (writer, number): (usize, usize) =
                (words.next().unwrap().parse().unwrap(), words.next().unwrap().parse().unwrap());
            assert_eq!((number, words.next().map(str::len)), (next[writer], Some(20 + number % 50)));
            next[writer] += 1;
        }
        assert_eq!(next, [lines; WRITERS]);
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_is_the_task_to_tell() {
        let Rig { input, queue, mut queued, reader } = Rig::new(4);
        drop(reader);
        input.write_now(frame("lost"), &queue).unwrap();
        assert!(poll_fn(|context| input.poll_write(&mut queued, context)).await.is_err());
    }

    #[tokio::test]
    async fn nothing_is_written_to_a_closed_input() {
        let Rig { input, queue, mut queued, mut reader } = Rig::new(100);
        input.close();
        assert!(input.write_now(frame("late"), &queue).is_err());
        poll_fn(|context| input.poll_write(&mut queued, context)).await.unwrap();
        assert_eq!(reader.read(&mut [0; 8]).await.unwrap(), 0);
    }
}
