//! A web server on this machine that answers as it is told, also in ways that no good server would.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolgate_host::Tasks;

/// A web server that runs as long as this is there.
pub(crate) struct Site {
    pub(crate) at: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    _tasks: Tasks,
}

/// What is at a path: all bytes of the answer, and whether the connection then stays open without a word.
#[derive(Clone)]
struct Answer {
    bytes: Vec<u8>,
    hangs: bool,
    /// What is answered instead where the head of a request holds a text.
    instead: Option<(&'static str, Vec<u8>)>,
}

/// What a site answers, by path.
#[derive(Clone, Default)]
pub(crate) struct Pages(HashMap<String, Answer>);

impl Pages {
    /// A page with headers, each ending a line.
    pub(crate) fn page(self, path: &str, headers: &str, body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let head = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n", body.len());
        self.raw(path, [head.as_bytes(), b"Connection: close\r\n\r\n", body].concat())
    }

    /// A page of HTML.
    pub(crate) fn html(self, path: &str, body: impl AsRef<[u8]>) -> Self {
        self.page(path, "Content-Type: text/html; charset=utf-8\r\n", body)
    }

    /// A redirect.
    pub(crate) fn redirect(self, path: &str, to: &str) -> Self {
        self.status(path, &format!("302 Found\r\nLocation: {to}"))
    }

    /// An answer without a body; the status may have headers behind it.
    pub(crate) fn status(self, path: &str, status: &str) -> Self {
        self.raw(
            path,
            format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").into_bytes(),
        )
    }

    /// Any bytes.
    pub(crate) fn raw(mut self, path: &str, bytes: Vec<u8>) -> Self {
        self.0.insert(path.to_owned(), Answer { bytes, hangs: false, instead: None });
        self
    }

    /// Another answer without a body at the same path, to requests whose head holds a text in small letters.
    pub(crate) fn when(mut self, path: &str, head: &'static str, status: &str) -> Self {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        if let Some(known) = self.0.get_mut(path) {
            known.instead = Some((head, answer.into_bytes()));
        }
        self
    }

    /// The beginning of an answer that never ends.
    pub(crate) fn hanging(mut self, path: &str, bytes: &str) -> Self {
        self.0.insert(path.to_owned(), Answer { bytes: bytes.into(), hangs: true, instead: None });
        self
    }

    /// Serves them.
    pub(crate) async fn serve(self) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (at, asked, tasks) = (listener.local_addr().unwrap(), Arc::default(), Tasks::new());
        let (log, inner) = (Arc::clone(&asked), tasks.clone());
        tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (pages, log) = (self.clone(), Arc::clone(&log));
                inner.spawn(async move { pages.answer(stream, &log).await });
            }
        });
        Site { at, asked, _tasks: tasks }
    }

    async fn answer(self, mut stream: TcpStream, log: &Mutex<Vec<String>>) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return,
            }
        }
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        let small = head.to_lowercase();
        log.lock().unwrap().push(head);
        let Some(answer) = self.0.get(&path) else { panic!("nothing is at {path}") };
        let instead = answer.instead.as_ref().filter(|(text, _)| small.contains(text));
        // A client that has read enough hangs up.
        drop(stream.write_all(instead.map_or(&answer.bytes, |(_, bytes)| bytes)).await);
        drop(stream.flush().await);
        if answer.hangs {
            std::future::pending::<()>().await;
        }
    }
}

impl Site {
    /// The heads of all requests so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}
