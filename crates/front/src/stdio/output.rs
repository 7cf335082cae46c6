//! The one writer of standard output: frames from anywhere, one line each.

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use toolgate_host::Tasks;
use toolgate_wire::write::one_line;

/// How many frames may wait before requests have to.
const WAITING: usize = 256;

/// How many bytes are gathered before they are written out, while more frames wait.
const GATHERED: usize = 64 * 1024;

/// Starts the writer; it ends when the last sender is gone, or nobody reads any more.
pub(super) fn start(
    tasks: &Tasks,
    mut stream: impl AsyncWrite + Send + Unpin + 'static,
) -> (mpsc::Sender<Bytes>, JoinHandle<()>) {
    let (frames, mut waiting) = mpsc::channel::<Bytes>(WAITING);
    let writing = tasks.spawn(async move {
        let mut gathered = Vec::new();
        while let Some(frame) = waiting.recv().await {
            line(&mut gathered, frame);
            while gathered.len() < GATHERED
                && let Ok(frame) = waiting.try_recv()
            {
                line(&mut gathered, frame);
            }
            if write_out(&mut stream, &gathered).await.is_err() {
                tracing::debug!("nobody reads standard output any more");
                return;
            }
            gathered.clear();
            gathered.shrink_to(GATHERED);
        }
    });
    (frames, writing)
}

fn line(gathered: &mut Vec<u8>, frame: Bytes) {
    gathered.extend_from_slice(&one_line(frame));
    gathered.push(b'\n');
}

async fn write_out(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> std::io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}
