//! Requests to other servers: where the header says so, through the guard.

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Map, Value, json};
use toolgate_host::outbound::FetchRequest;
use toolgate_wire::Raw;
use url::Url;

use super::{Answer, Desk};
use crate::talk::HttpAsk;

impl Desk<'_> {
    pub(super) async fn http(&self, ask: HttpAsk) -> Answer {
        Self::count(&self.requests, self.pack.config.max_http_calls, "requests")?;
        let header = &self.script.header;
        let url = Url::parse(&ask.url).map_err(|error| format!("this is no address: {error}"))?;
        if !header.grants_host(&url) {
            let host = url.host_str().unwrap_or_default();
            let name = &self.script.name;
            return Err(format!(
                "the host `{host}` is not among the `@hosts` that `{name}` was approved with"
            ));
        }
        let request = FetchRequest {
            method: method(&ask.method)?,
            url: ask.url,
            headers: headers(ask.headers)?,
            body: ask.body.into(),
        };
        let sent = self.pack.fetcher.send(request, |hop| header.grants_host(hop)).await;
        let opened = sent.map_err(|error| error.to_string())?;
        let (status, url) = (opened.status, opened.url.to_string());
        let mut headers = Map::new();
        for (name, value) in &opened.headers {
            let value = Value::String(String::from_utf8_lossy(value.as_bytes()).into_owned());
            headers.entry(name.as_str()).or_insert(value);
        }
        let body = opened.read().await.map_err(|error| error.to_string())?;
        let body = String::from_utf8_lossy(&body);
        Ok(Raw::of(&json!({"status": status, "url": url, "headers": headers, "body": body})))
    }
}

fn method(name: &str) -> Result<Method, String> {
    let known = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    known.into_iter().find(|method| method.as_str() == name).ok_or_else(|| format!("`{name}` is no method"))
}

fn headers(given: impl IntoIterator<Item = (String, String)>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let bad = || format!("`{}` cannot be sent as a header", name.escape_debug());
        let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(&value)) else {
            return Err(bad());
        };
        headers.insert(name, value);
    }
    Ok(headers)
}
