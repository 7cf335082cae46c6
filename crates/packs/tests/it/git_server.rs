//! A real git behind HTTP: `git http-backend`, run for every request as a web server runs it.

#![expect(clippy::disallowed_methods, reason = "the tests need another git than the one they test")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use toolgate_host::Tasks;

use crate::vault_scene::SEARCH_PATH;

/// A server over the repositories of a folder, as long as this is there.
pub(crate) struct GitServer {
    pub(crate) url: String,
    heads: Arc<Mutex<Vec<String>>>,
    _tasks: Tasks,
}

/// What a server does with requests.
#[derive(Debug, Clone)]
pub(crate) enum Manner {
    /// Lets everyone in.
    Open,
    /// Lets in who sends this header.
    Guarded(String),
    /// Sends everyone elsewhere.
    Elsewhere(String),
    /// Lets everyone in, but somebody else pushes from this folder just before the first push.
    Racing(PathBuf),
    /// Says nothing.
    Silent,
}

impl GitServer {
    pub(crate) async fn start(folder: &Path, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (tasks, heads) = (Tasks::new(), Arc::new(Mutex::new(Vec::new())));
        let (serving, seen, folder) = (tasks.clone(), heads.clone(), folder.to_owned());
        tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, folder, manner) = (seen.clone(), folder.clone(), manner.clone());
                // A client that hangs up is no concern of a server's.
                serving.spawn(async move { drop(serve(stream, &folder, &manner, &seen).await) });
            }
        });
        Self { url, heads, _tasks: tasks }
    }

    /// The heads of all requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

async fn serve(
    stream: TcpStream,
    folder: &Path,
    manner: &Manner,
    seen: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await? == 0 {
            return Ok(());
        }
    }
    seen.lock().unwrap().push(head.clone());
    let mut body = vec![0; header(&head, "content-length").and_then(|text| text.parse().ok()).unwrap_or(0)];
    stream.read_exact(&mut body).await?;
    let end = "content-length: 0\r\nconnection: close\r\n\r\n";
    let answer = match manner {
        Manner::Silent => std::future::pending().await,
        Manner::Elsewhere(url) => {
            let path = head.split(' ').nth(1).unwrap_or_default();
            format!("HTTP/1.1 302 Found\r\nlocation: {url}{path}\r\n{end}").into_bytes()
        }
        Manner::Guarded(wanted) if header(&head, "authorization") != Some(wanted) => {
            format!("HTTP/1.1 401 No\r\nwww-authenticate: Basic realm=\"git\"\r\n{end}").into_bytes()
        }
        Manner::Racing(other) => {
            let is_push = |head: &String| head.contains("service=git-receive-pack");
            let pushes = seen.lock().unwrap().iter().filter(|head| is_push(head)).count();
            if is_push(&head) && pushes == 1 {
                git(other, &["pull", "-q", "--rebase", "origin", "main"]);
                git(other, &["commit", "-q", "--allow-empty", "-m", "Faster"]);
                git(other, &["push", "-q", "origin", "main"]);
            }
            backend(folder, &head, &body).await
        }
        Manner::Guarded(_) | Manner::Open => backend(folder, &head, &body).await,
    };
    stream.write_all(&answer).await?;
    stream.shutdown().await
}

/// What git answers, as a CGI program does.
async fn backend(folder: &Path, head: &str, body: &[u8]) -> Vec<u8> {
    let mut words = head.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let git = toolgate_host::find_program(SEARCH_PATH, "git").expect("the tests need git");
    let mut child = Command::new(git)
        .arg("http-backend")
        .env_clear()
        .envs([
            ("PATH", SEARCH_PATH),
            ("REQUEST_METHOD", method),
            ("PATH_INFO", path),
            ("QUERY_STRING", query),
        ])
        .envs([("GIT_HTTP_EXPORT_ALL", "1"), ("REMOTE_USER", "tester"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .env("GIT_PROJECT_ROOT", folder)
        .env("CONTENT_TYPE", header(head, "content-type").unwrap_or_default())
        .env("HTTP_CONTENT_ENCODING", header(head, "content-encoding").unwrap_or_default())
        .env("GIT_PROTOCOL", header(head, "git-protocol").unwrap_or_default())
        .env("CONTENT_LENGTH", body.len().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let write = async {
        // A program that has read enough hangs up.
        drop(stdin.write_all(body).await);
        drop(stdin);
    };
    let (output, ()) = tokio::join!(child.wait_with_output(), write);
    let said = output.unwrap().stdout;
    let end = said.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
    let (cgi, content) = (std::str::from_utf8(&said[..end]).unwrap(), &said[end + 4..]);
    let status = header(cgi, "status").unwrap_or("200 OK");
    let head = format!(
        "HTTP/1.1 {status}\r\n{cgi}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        content.len()
    );
    [head.as_bytes(), content].concat()
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Runs git as a person does, without anything of this machine's settings; gives what it says.
#[track_caller]
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let (good, said) = try_git(folder, arguments);
    assert!(good, "git {arguments:?}: {said}");
    said
}

/// The same, where it may fail.
pub(crate) fn try_git(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let git: PathBuf = toolgate_host::find_program(SEARCH_PATH, "git").expect("the tests need git");
    let output = std::process::Command::new(git)
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs([
            ("PATH", SEARCH_PATH),
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
        ])
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}
