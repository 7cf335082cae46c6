//! Where the browser brings the answer: one address on this machine, for as long as someone signs in.

use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::error::OauthError;

/// The path of the address.
pub(super) const PATH: &str = "/callback";

/// How much of a request is read, and for how long.
const MOST: usize = 32 * 1024;
const PATIENCE: Duration = Duration::from_secs(30);

/// A request of a browser that waits for a page.
pub(super) struct Visit {
    /// What was asked for: path and query.
    pub(super) target: Url,
    stream: TcpStream,
}

/// Waits for one visit after the other, and gives each to `handle`, until that says it was the one.
///
/// Browsers open connections that they never use, so none may keep another waiting.
pub(super) async fn visits<T, F: Future<Output = Option<Result<T, OauthError>>>>(
    listener: &TcpListener,
    base: &Url,
    mut handle: impl FnMut(Url) -> F,
) -> Result<T, OauthError> {
    let mut open = FuturesUnordered::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted
                    .map_err(|error| OauthError::unavailable(format!("nobody can come back: {error}")))?;
                open.push(tokio::time::timeout(PATIENCE, read(stream, base)));
            }
            Some(visit) = open.next(), if !open.is_empty() => {
                let Ok(Some(visit)) = visit else { continue };
                if visit.target.path() != PATH {
                    answer(visit, "404 Not Found", "Nothing is here", "This address only takes the answer of a sign-in.").await;
                    continue;
                }
                match handle(visit.target.clone()).await {
                    None => answer(visit, "400 Bad Request", "Not this one", "This is not the answer to the sign-in under way. Begin it anew.").await,
                    Some(Ok(value)) => {
                        answer(visit, "200 OK", "You are signed in", "Toolgate has what it needs. You can close this page.").await;
                        return Ok(value);
                    }
                    Some(Err(error)) => {
                        answer(visit, "400 Bad Request", "You are not signed in", &format!("{error}: {}.", error.hint())).await;
                        return Err(error);
                    }
                }
            }
        }
    }
}

/// The head of a request; none if it is none.
async fn read(mut stream: TcpStream, base: &Url) -> Option<Visit> {
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(piece.get(..read)?);
        if head.len() > MOST {
            return None;
        }
    }
    let head = String::from_utf8_lossy(&head);
    let target = head.strip_prefix("GET ")?.split(' ').next()?;
    let target = base.join(target).ok().filter(|url| url.origin() == base.origin())?;
    Some(Visit { target, stream })
}

async fn answer(mut visit: Visit, status: &str, title: &str, text: &str) {
    let page = page(title, text);
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n\
         Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        page.len()
    );
    // Whoever does not want the page has signed in all the same.
    drop(visit.stream.write_all(head.as_bytes()).await);
    drop(visit.stream.write_all(page.as_bytes()).await);
    drop(visit.stream.shutdown().await);
}

fn page(title: &str, text: &str) -> String {
    let escaped = |text: &str| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    };
    let (title, text) = (escaped(title), escaped(text));
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Toolgate: {title}</title>\
         <style>body{{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;\
         color-scheme:light dark}}</style><h1>{title}</h1><p>{text}</p></html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_wrote_is_only_text_on_the_page() {
        let page = page("No", "<script>alert(\"x\")</script> & more");
        assert!(page.contains("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; more"), "{page}");
    }
}
