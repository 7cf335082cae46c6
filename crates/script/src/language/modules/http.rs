//! The module `http`: requests to the hosts that the header of the script names.

use std::collections::BTreeMap;

use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::Value;
use starlark::values::dict::UnpackDictEntries;

use crate::language::host::{Host, incoming, outgoing};
use crate::talk::{Ask, HttpAsk};

/// Headers, as a script writes them.
type Headers<'v> = UnpackDictEntries<&'v str, &'v str>;

#[starlark_module]
pub(super) fn module(builder: &mut GlobalsBuilder) {
    /// Gets what is at an address: a dict with `status`, `body` and `headers`.
    fn get<'v>(
        #[starlark(require = pos)] url: &str,
        #[starlark(default = Headers::default())] headers: Headers<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> anyhow::Result<Value<'v>> {
        send("GET", url, (headers, None), eval)
    }

    /// Deletes what is at an address.
    fn delete<'v>(
        #[starlark(require = pos)] url: &str,
        #[starlark(default = Headers::default())] headers: Headers<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> anyhow::Result<Value<'v>> {
        send("DELETE", url, (headers, None), eval)
    }

    /// Posts a body: text, or data that is written as JSON.
    fn post<'v>(
        #[starlark(require = pos)] url: &str,
        body: Option<Value<'v>>,
        #[starlark(default = Headers::default())] headers: Headers<'v>,
        #[starlark(default = "application/json")] content_type: &str,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> anyhow::Result<Value<'v>> {
        send("POST", url, (headers, Some((body, content_type))), eval)
    }

    /// Puts a body: text, or data that is written as JSON.
    fn put<'v>(
        #[starlark(require = pos)] url: &str,
        body: Option<Value<'v>>,
        #[starlark(default = Headers::default())] headers: Headers<'v>,
        #[starlark(default = "application/json")] content_type: &str,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> anyhow::Result<Value<'v>> {
        send("PUT", url, (headers, Some((body, content_type))), eval)
    }

    /// Patches with a body: text, or data that is written as JSON.
    fn patch<'v>(
        #[starlark(require = pos)] url: &str,
        body: Option<Value<'v>>,
        #[starlark(default = Headers::default())] headers: Headers<'v>,
        #[starlark(default = "application/json")] content_type: &str,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> anyhow::Result<Value<'v>> {
        send("PATCH", url, (headers, Some((body, content_type))), eval)
    }
}

/// A body and what it is, where there may be one.
type Body<'v, 'a> = Option<(Option<Value<'v>>, &'a str)>;

fn send<'v>(
    method: &str,
    url: &str,
    (headers, body): (Headers<'v>, Body<'v, '_>),
    eval: &mut Evaluator<'v, '_, '_>,
) -> anyhow::Result<Value<'v>> {
    let mut headers: BTreeMap<String, String> = headers
        .entries
        .into_iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let mut text = String::new();
    if let Some((body, content_type)) = body {
        headers.entry("content-type".into()).or_insert_with(|| content_type.to_owned());
        text = match body {
            None => String::new(),
            Some(body) => match body.unpack_str() {
                Some(text) => text.to_owned(),
                None => outgoing(body, eval)?.as_str().to_owned(),
            },
        };
    }
    let host = Host::of(eval)?;
    if text.len() > host.output {
        anyhow::bail!("the body has more than {} bytes", host.output);
    }
    let ask = HttpAsk { method: method.to_owned(), url: url.to_owned(), headers, body: text };
    let answer = host.ask(Ask::Http(ask))?;
    incoming(&answer, eval)
}
