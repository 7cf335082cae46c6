//! An issuer on this machine: it answers with what it is given, and counts how often it was asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use toolgate_host::Tasks;

use crate::keys::Key;

/// An issuer on this machine.
pub(crate) struct Issuer {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    pages: HashMap<String, String>,
    asked: Vec<String>,
}

impl Issuer {
    /// An issuer that publishes these keys.
    pub(crate) async fn start(tasks: &Tasks, keys: &[&Key]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let this = Self { url, state: Arc::default() };
        let metadata = json!({"issuer": this.url, "jwks_uri": format!("{}/keys", this.url)});
        this.publish("/.well-known/openid-configuration", &metadata);
        this.publish_keys(keys);
        let state = this.state.clone();
        tasks.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = vec![0; 8192];
                let read = stream.read(&mut head).await.unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..read]).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let page = {
                    let mut state = state.lock().unwrap();
                    state.asked.push(path.clone());
                    state.pages.get(&path).cloned()
                };
                let (status, body) = page.map_or(("404 Not Found", String::new()), |page| ("200 OK", page));
                let answer = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                // A client that went away needs no answer.
                drop(stream.write_all(answer.as_bytes()).await);
            }
        });
        this
    }

    pub(crate) fn publish(&self, path: &str, page: &Value) {
        self.state.lock().unwrap().pages.insert(path.to_owned(), page.to_string());
    }

    pub(crate) fn publish_keys(&self, keys: &[&Key]) {
        let keys: Vec<Value> = keys.iter().map(|key| key.jwk()).collect();
        self.publish("/keys", &json!({"keys": keys}));
    }

    /// From now on nothing is found there.
    pub(crate) fn withdraw(&self, path: &str) {
        self.state.lock().unwrap().pages.remove(path);
    }

    /// How often a page was asked for.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.state.lock().unwrap().asked.iter().filter(|asked| *asked == path).count()
    }
}
