//! The standard input of a program: whoever has something to say writes it there and then if nobody else is at it; what
//! has to wait is written by a task.

use std::io;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::AsyncWrite;
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use toolgate_wire::write;

use crate::desk::Out;

/// From how many bytes on no further frame is written together with others.
const TOGETHER: usize = 64 * 1024;

/// Where frames are written, until it is closed.
pub(super) struct Input<W = ChildStdin>(Mutex<Option<Open<W>>>);

struct Open<W> {
    stdin: W,
    /// Frames that wait for their turn. Each leaves it under the lock, so that nothing overtakes it.
    outgoing: mpsc::Receiver<Out>,
    /// Lines of which the first bytes are written already.
    lines: Vec<u8>,
    written: usize,
    /// The task, while it has nothing to do.
    idle: Option<Waker>,
}

impl<W: AsyncWrite + Unpin> Input<W> {
    pub(super) fn new(stdin: W, outgoing: mpsc::Receiver<Out>) -> Self {
        Self(Mutex::new(Some(Open { stdin, outgoing, lines: Vec::new(), written: 0, idle: None })))
    }

    /// Writes a frame, unless others are at it or wait: then it comes back.
    pub(super) fn write_now(&self, out: Out) -> Result<(), Out> {
        let Ok(mut open) = self.0.try_lock() else { return Err(out) };
        let Some(open) = open.as_mut().filter(|open| open.lines.is_empty() && open.outgoing.is_empty())
        else {
            return Err(out);
        };
        open.put(out);
        match open.poll_lines(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => {}
            // The rest of it, or the error, is for the task.
            Poll::Ready(Err(_)) | Poll::Pending => open.idle.take().into_iter().for_each(Waker::wake),
        }
        Ok(())
    }

    /// Writes what waits and what was left, for as long as there may be more.
    pub(super) fn poll_write(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut open = self.open();
        let Some(open) = open.as_mut() else { return Poll::Ready(Ok(())) };
        loop {
            ready!(open.poll_lines(context))?;
            match open.outgoing.poll_recv(context) {
                Poll::Ready(Some(first)) => open.put(first),
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Pending => {
                    open.idle = Some(context.waker().clone());
                    return Poll::Pending;
                }
            }
            // What waits already goes with it: each write is a call into the kernel, and may wake the program.
            while open.lines.len() < TOGETHER
                && let Ok(next) = open.outgoing.try_recv()
            {
                open.put(next);
            }
        }
    }

    /// Nothing can be written any more, and the program sees the end of its input.
    pub(super) fn close(&self) {
        self.open().take();
    }

    fn open(&self) -> MutexGuard<'_, Option<Open<W>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: AsyncWrite + Unpin> Open<W> {
    /// Puts a frame behind others that are about to be written.
    fn put(&mut self, out: Out) {
        if let Some(left) = &out.left {
            left.store(true, Ordering::Release);
        }
        self.lines.extend_from_slice(&write::one_line(out.frame));
        self.lines.push(b'\n');
    }

    fn poll_lines(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
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
        Poll::Ready(Ok(()))
    }
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

    /// An input with room for so many bytes, where to queue frames for it, and what reads it.
    fn input(room: usize) -> (Input<DuplexStream>, mpsc::Sender<Out>, DuplexStream) {
        let (stdin, reader) = tokio::io::duplex(room);
        let (queue, outgoing) = mpsc::channel(8);
        (Input::new(stdin, outgoing), queue, reader)
    }

    async fn all(input: &Input<DuplexStream>, mut reader: DuplexStream) -> String {
        let mut text = String::new();
        let write = async {
            poll_fn(|context| input.poll_write(context)).await.unwrap();
            input.close();
        };
        let ((), read) = tokio::join!(write, reader.read_to_string(&mut text));
        read.unwrap();
        text
    }

    #[tokio::test]
    async fn a_frame_is_written_at_once_where_nobody_waits() {
        let (input, queue, mut reader) = input(100);
        input.write_now(frame("{ \n}")).unwrap();
        let mut bytes = [0; 8];
        let length = reader.read(&mut bytes).await.unwrap();
        assert_eq!(str::from_utf8(&bytes[..length]), Ok("{}\n"));
        drop(queue);
        assert_eq!(all(&input, reader).await, "");
    }

    #[tokio::test]
    async fn a_frame_does_not_overtake_one_that_waits() {
        let (input, queue, reader) = input(100);
        queue.send(frame("1")).await.unwrap();
        let second = input.write_now(frame("2")).unwrap_err();
        queue.send(second).await.unwrap();
        drop(queue);
        assert_eq!(all(&input, reader).await, "1\n2\n");
    }

    #[tokio::test(start_paused = true)]
    async fn what_did_not_fit_is_written_by_the_task_before_all_others() {
        let (input, queue, mut reader) = input(4);
        let act = async {
            // The task waits already, and has to be told.
            input.write_now(frame("0123456789")).unwrap();
            let next = input.write_now(frame("next")).unwrap_err();
            let mut bytes = [0; 16];
            reader.read_exact(&mut bytes[..11]).await.unwrap();
            queue.send(next).await.unwrap();
            reader.read_exact(&mut bytes[11..]).await.unwrap();
            assert_eq!(&bytes, b"0123456789\nnext\n");
            drop(queue);
        };
        let both = async { tokio::join!(poll_fn(|context| input.poll_write(context)), act) };
        let (written, ()) = tokio::time::timeout(Duration::from_secs(60), both).await.unwrap();
        written.unwrap();
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_is_the_task_to_tell() {
        let (input, _queue, reader) = input(4);
        drop(reader);
        input.write_now(frame("lost")).unwrap();
        assert!(poll_fn(|context| input.poll_write(context)).await.is_err());
    }

    #[tokio::test]
    async fn nothing_is_written_to_a_closed_input() {
        let (input, _queue, mut reader) = input(100);
        input.close();
        assert!(input.write_now(frame("late")).is_err());
        poll_fn(|context| input.poll_write(context)).await.unwrap();
        assert_eq!(reader.read(&mut [0; 8]).await.unwrap(), 0);
    }
}
