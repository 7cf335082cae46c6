//! A page on this machine, and the Chromium that looks at it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread;

use toolgate_browser::{BrowserConfig, installed};

/// What stands on the page, and nowhere else.
pub(super) const WORDS: &str = "Hello from a page";

/// Serves the page, and what robots may see, for as long as the tests run. Says where the page is.
pub(super) fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        // A browser opens connections ahead of time, so none may keep another waiting.
        for stream in listener.incoming() {
            thread::spawn(move || answer(stream.unwrap()));
        }
    });
    format!("http://{address}/page")
}

fn answer(stream: TcpStream) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    if !lines.any(|line| line.is_empty()) {
        return;
    }
    let page = format!("<!doctype html><title>A page</title><h1>{WORDS}</h1>");
    let (status, kind, body) = match first.split(' ').nth(1) {
        Some("/page") => ("200 OK", "text/html", &*page),
        Some("/robots.txt") => ("200 OK", "text/plain", "User-agent: *\nDisallow: /private\n"),
        _ => ("404 Not Found", "text/plain", ""),
    };
    let head = format!("Content-Type: {kind}\r\nContent-Length: {}\r\nConnection: close", body.len());
    // Who asked may be gone.
    drop((&stream).write_all(format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n{body}").as_bytes()));
}

/// The Chromium that the set-up found or installed. Without one the tests fail: none is skipped.
pub(super) fn chromium() -> PathBuf {
    let environment = toolgate_config::process_environment();
    let found = installed(&BrowserConfig::default(), |name| environment.get(name).map(Into::into));
    found.expect("there is no Chromium; run `cargo xtask test`, which installs one")
}
