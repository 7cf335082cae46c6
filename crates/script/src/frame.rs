//! Frames: a length in four bytes, then as many bytes of JSON.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// How much room is made before anything has come: a length alone proves nothing.
const FIRST: usize = 64 * 1024;

/// A message as a frame.
fn framed(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - 4).map_err(io::Error::other)?;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// Writes a message.
pub(crate) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&framed(message)?)?;
    to.flush()
}

/// Reads a message from whom we trust with its length; none when there is no more.
pub(crate) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length);
    let mut body = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}

/// Sends a message.
pub(crate) async fn send(to: &mut (impl AsyncWrite + Unpin), message: &impl Serialize) -> io::Result<()> {
    to.write_all(&framed(message)?).await?;
    to.flush().await
}

/// Receives a message of at most so many bytes; one that is longer is an error before it is read.
pub(crate) async fn receive<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
    most: usize,
) -> io::Result<T> {
    let length = usize::try_from(from.read_u32_le().await?).map_err(io::Error::other)?;
    if length > most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message is too long"));
    }
    let mut body = Vec::with_capacity(length.min(FIRST));
    from.take(u64::try_from(length).map_err(io::Error::other)?).read_to_end(&mut body).await?;
    if body.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&body)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_written_is_read() {
        for text in ["", "a", "line\nline \u{1F980}", &"x".repeat(200_000)] {
            let mut wire = Vec::new();
            send(&mut wire, &text).await.unwrap();
            assert_eq!(read::<String>(&mut &wire[..]).unwrap().as_deref(), Some(text));
            assert_eq!(receive::<String>(&mut &wire[..], 1 << 20).await.unwrap(), text);
        }
        assert_eq!(read::<String>(&mut &b""[..]).unwrap(), None);
    }

    #[tokio::test]
    async fn what_is_no_frame_is_an_error() {
        #[track_caller]
        fn check(read: io::Result<String>, expect: io::ErrorKind) {
            assert_eq!(read.unwrap_err().kind(), expect);
        }
        // A length that nobody means to fill costs nothing.
        check(receive(&mut &[255, 255, 255, 255, b'"'][..], 1 << 20).await, io::ErrorKind::InvalidData);
        check(receive(&mut &[9, 0, 0, 0, b'"'][..], 1 << 20).await, io::ErrorKind::UnexpectedEof);
        check(receive(&mut &[1, 0][..], 1 << 20).await, io::ErrorKind::UnexpectedEof);
        check(receive(&mut &[1, 0, 0, 0, b'"'][..], 1 << 20).await, io::ErrorKind::UnexpectedEof);
        check(receive(&mut &[2, 0, 0, 0, b'{', b'}'][..], 1 << 20).await, io::ErrorKind::InvalidData);
    }
}
