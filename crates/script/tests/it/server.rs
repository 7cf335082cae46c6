//! A server on this machine that tells what it was asked.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use toolgate_host::Tasks;

/// Answers every request with its own head and body; `/moved/PORT` redirects to that port, `/slow` never answers.
pub(crate) async fn echoing() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    Tasks::new().spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            Tasks::new().spawn(async move {
                let mut asked = Vec::new();
                let mut piece = [0; 4096];
                while !is_whole(&asked) {
                    let read = stream.read(&mut piece).await.unwrap();
                    if read == 0 {
                        return;
                    }
                    asked.extend_from_slice(&piece[..read]);
                }
                let asked = String::from_utf8_lossy(&asked).into_owned();
                let path = asked.split(' ').nth(1).unwrap().to_owned();
                if path == "/slow" {
                    std::future::pending::<()>().await;
                }
                let answer = match path.strip_prefix("/moved/") {
                    Some(to) => format!(
                        "HTTP/1.1 302 Found\r\nLocation: http://{to}/there\r\nContent-Length: 0\r\n\r\n"
                    ),
                    None => {
                        format!(
                            "HTTP/1.1 200 OK\r\nX-Test: yes\r\nContent-Length: {}\r\n\r\n{asked}",
                            asked.len()
                        )
                    }
                };
                drop(stream.write_all(answer.as_bytes()).await);
            });
        }
    });
    port
}

fn is_whole(asked: &[u8]) -> bool {
    let text = String::from_utf8_lossy(asked);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}
