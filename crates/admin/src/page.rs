//! The files of the page, as they are answered with: packed, and known again by their hashes.

use std::io::Write as _;
use std::sync::LazyLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, ETAG, HeaderValue, IF_NONE_MATCH, LOCATION, VARY,
};
use http::{HeaderMap, Method, StatusCode};
use sha2::{Digest as _, Sha256};

use crate::assets::{ASSETS, Asset};
use crate::body::{Answer, Request, empty, typed};
use crate::problem::Problem;

/// A file, ready to be sent.
struct Ready {
    asset: &'static Asset,
    packed: Option<Bytes>,
    tag: String,
}

/// All of them, made when the first is asked for.
static READY: LazyLock<Vec<Ready>> = LazyLock::new(|| ASSETS.iter().map(Ready::new).collect());

impl Ready {
    fn new(asset: &'static Asset) -> Self {
        let hash: String =
            Sha256::digest(asset.bytes).iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        let packed = packed(asset.bytes).filter(|packed| packed.len() < asset.bytes.len());
        Self { asset, packed, tag: format!("W/\"{hash}\"") }
    }
}

/// Answers with a file of the page.
pub(crate) fn answer(request: &Request) -> Result<Answer, Problem> {
    let name = request.path.strip_prefix("/admin").unwrap_or_default();
    let name = name.strip_prefix('/').unwrap_or(name);
    let Some(ready) = READY.iter().find(|ready| ready.asset.name == name) else {
        return Err(Problem::missing("nothing is here").hint("the page is at `/admin`"));
    };
    if request.method != Method::GET && request.method != Method::HEAD {
        return Err(Problem::method("GET, HEAD".into()));
    }
    if request.path == "/admin/" {
        let mut answer = empty(StatusCode::PERMANENT_REDIRECT);
        answer.headers_mut().insert(LOCATION, HeaderValue::from_static("/admin"));
        return Ok(answer);
    }
    let mut answer = if is_known(&request.headers, &ready.tag) {
        empty(StatusCode::NOT_MODIFIED)
    } else {
        sent(ready, &request.headers)
    };
    let headers = answer.headers_mut();
    // It is asked for each time, and comes only when it is another one.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    headers.extend(HeaderValue::from_str(&ready.tag).ok().map(|tag| (ETAG, tag)));
    Ok(answer)
}

fn sent(ready: &Ready, headers: &HeaderMap) -> Answer {
    let content_type = ready.asset.content_type;
    match ready.packed.clone().filter(|_| takes_gzip(headers)) {
        Some(packed) => {
            let mut answer = typed(StatusCode::OK, content_type, packed);
            answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            answer
        }
        None => typed(StatusCode::OK, content_type, Bytes::from_static(ready.asset.bytes)),
    }
}

/// Whether the browser has this very file.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let known = headers.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok()).unwrap_or_default();
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    known.split(',').any(|known| known.trim() == "*" || bare(known) == bare(tag))
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let all = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
        let refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        named && !refused
    })
}

fn packed(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_page_is_in_the_binary() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let files = std::fs::read_dir(folder).unwrap();
        let mut files: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        let named = |asset: &Asset| if asset.name.is_empty() { "index.html" } else { asset.name }.to_owned();
        let mut assets: Vec<String> = ASSETS.iter().map(named).collect();
        assets.sort();
        assert_eq!(assets, files);
    }

    #[test]
    fn the_first_load_is_small() {
        let size: usize =
            READY.iter().map(|ready| ready.packed.as_ref().map_or(ready.asset.bytes.len(), Bytes::len)).sum();
        assert!(size < 150_000, "{size} bytes, packed");
    }

    #[test]
    fn what_a_browser_takes_is_read() {
        #[track_caller]
        fn check(accept: &str, expect: bool) {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_str(accept).unwrap());
            assert_eq!(takes_gzip(&headers), expect, "{accept}");
        }
        check("gzip", true);
        check("br, GZIP;q=0.5", true);
        check("*", true);
        check("br", false);
        check("gzip;q=0", false);
        check("", false);
    }
}
