//! Messages between zero bytes, within limits.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// The largest message: a picture of a very long page is one.
const MOST: usize = 64 * 1024 * 1024;

/// How much room is kept between messages.
const KEPT: usize = 256 * 1024;

/// Reads one message after the other.
pub(super) struct Frames<R> {
    reader: BufReader<R>,
    frame: Vec<u8>,
    most: usize,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(super) fn new(reader: R) -> Self {
        Self::within(reader, MOST)
    }

    pub(super) fn within(reader: R, most: usize) -> Self {
        Self { reader: BufReader::with_capacity(64 * 1024, reader), frame: Vec::new(), most }
    }

    /// The next message; none at the end. One that is too large is passed over.
    pub(super) async fn next(&mut self) -> io::Result<Option<&[u8]>> {
        if self.frame.capacity() > KEPT {
            self.frame = Vec::new();
        }
        self.frame.clear();
        let mut too_large = false;
        loop {
            let piece = self.reader.fill_buf().await?;
            if piece.is_empty() {
                // What is cut off is no message.
                return Ok(None);
            }
            let end = memchr::memchr(0, piece);
            let taken = &piece[..end.unwrap_or(piece.len())];
            too_large |= self.frame.len() + taken.len() > self.most;
            if too_large {
                self.frame.clear();
            } else {
                self.frame.extend_from_slice(taken);
            }
            let used = end.map_or(piece.len(), |end| end + 1);
            self.reader.consume(used);
            match end {
                Some(_) if too_large => {
                    tracing::warn!("a message of the browser is too large, and is passed over");
                    too_large = false;
                }
                Some(_) => return Ok(Some(&self.frame)),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(bytes: &[u8], most: usize) -> Vec<String> {
        let mut frames = Frames::within(bytes, most);
        let mut all = Vec::new();
        while let Some(frame) = frames.next().await.unwrap() {
            all.push(String::from_utf8(frame.to_vec()).unwrap());
        }
        all
    }

    #[tokio::test]
    async fn messages_end_with_a_zero_byte() {
        assert_eq!(all(b"", 9).await, [""; 0]);
        assert_eq!(all(b"a\0bc\0\0cut off", 9).await, ["a", "bc", ""]);
        assert_eq!(all(b"a\0far too long\0b\0", 3).await, ["a", "b"]);
        let long = [vec![b'x'; 200_000], vec![0, b'y', 0]].concat();
        assert_eq!(all(&long, 1000).await, ["y"]);
        assert_eq!(all(&long, 200_000).await[0].len(), 200_000);
    }
}
