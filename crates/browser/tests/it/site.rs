//! A web server on this machine, with the pages of all tests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolgate_host::Tasks;

/// A web server, and what was asked of it.
pub(crate) struct Site {
    pub(crate) port: u16,
    pages: Arc<Mutex<HashMap<String, Vec<u8>>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub(crate) async fn serve(tasks: &Tasks) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let site = Self { port, pages: Arc::default(), asked: Arc::default() };
        let (pages, asked, inner) = (site.pages.clone(), site.asked.clone(), tasks.clone());
        tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (pages, asked) = (pages.clone(), asked.clone());
                inner.spawn(async move { answer(stream, &pages, &asked).await });
            }
        });
        site
    }

    /// Puts a page of HTML at a path, and tells its address.
    pub(crate) fn html(&self, path: &str, body: &str) -> String {
        self.put(path, "200 OK", "Content-Type: text/html; charset=utf-8\r\n", body)
    }

    /// Puts any answer at a path; headers each end a line.
    pub(crate) fn put(&self, path: &str, status: &str, headers: &str, body: &str) -> String {
        let answer = format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        self.pages.lock().unwrap().insert(path.to_owned(), answer.into_bytes());
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The heads of requests for a path, so far.
    pub(crate) fn asked(&self, path: &str) -> Vec<String> {
        let wanted = format!(" {path} ");
        self.asked.lock().unwrap().iter().filter(|head| head.contains(&wanted)).cloned().collect()
    }

    /// The head of the first request for a path, whatever follows a `?`.
    pub(crate) fn first(&self, path: &str) -> Option<String> {
        let is_it = |head: &&String| head.split([' ', '?']).nth(1) == Some(path);
        self.asked.lock().unwrap().iter().find(is_it).cloned()
    }
}

async fn answer(mut stream: TcpStream, pages: &Mutex<HashMap<String, Vec<u8>>>, asked: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    asked.lock().unwrap().push(head);
    if path == "/never" {
        return std::future::pending().await;
    }
    let plain = path.split('?').next().unwrap_or_default();
    let known = pages.lock().unwrap().get(plain).cloned();
    let nothing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec();
    drop(stream.write_all(&known.unwrap_or(nothing)).await);
}
