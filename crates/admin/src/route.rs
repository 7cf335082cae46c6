//! The table of routes: what each takes, answers and demands. Handling, checking and the OpenAPI document go by it.

mod input;
mod output;

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

use crate::access::{Login, Role, Way};
use crate::admin::Inner;
use crate::body::{Answer, Request};
use crate::problem::Problem;

pub(crate) use input::{Nothing, Query};
pub(crate) use output::{Done, Events, File, Items, LoggedIn, LoggedOut, Made, Output, Shown};

/// For a route that reads.
pub(crate) const GET: Method = Method::GET;
/// For one that makes something, or has something done.
pub(crate) const POST: Method = Method::POST;
/// For one that puts something in place.
pub(crate) const PUT: Method = Method::PUT;
/// For one that takes something away.
pub(crate) const DELETE: Method = Method::DELETE;

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// Anyone, logged in or not.
    Anyone,
    /// Who has this role, or one that may do more.
    AtLeast(Role),
}

/// A request on its way to a handler, with who sent it.
pub(crate) struct Ask {
    pub(crate) admin: Arc<Inner>,
    pub(crate) login: Option<Login>,
    pub(crate) way: Way,
    /// What stands in the path in place of its names.
    pub(crate) params: Vec<String>,
    pub(crate) request: Request,
}

impl Ask {
    /// What stands in place of the first name of the path.
    pub(crate) fn name(&self) -> &str {
        self.params.first().map_or("", String::as_str)
    }

    /// Where it comes from. Behind the proxy that brings TLS, that is whom the proxy says it speaks for.
    pub(crate) fn address(&self) -> IpAddr {
        let told = || {
            let all = self.request.headers.get_all("x-forwarded-for").iter().next_back()?;
            all.to_str().ok()?.rsplit(',').next()?.trim().parse::<IpAddr>().ok()
        };
        let told = self.way.secure.then(told).flatten();
        told.unwrap_or_else(|| self.request.peer.ip()).to_canonical()
    }

    /// Who asks, for records.
    pub(crate) fn by(&self) -> String {
        self.login.as_ref().map_or_else(String::new, |login| format!("{} on the admin page", login.account))
    }

    /// Who asks; only routes for those who are logged in want to know.
    pub(crate) fn login(&self) -> Result<&Login, Problem> {
        self.login.as_ref().ok_or_else(|| Problem::unknown("nobody is logged in"))
    }
}

/// What comes of a request.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Result<Answer, Problem>> + Send>>;

type Handler = Box<dyn Fn(Ask) -> Answering + Send + Sync>;
type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// What a route takes besides its path.
#[derive(Clone, Copy)]
pub(crate) enum Takes {
    Nothing,
    Body(SchemaOf),
    Query(SchemaOf),
}

/// What a route answers where all went well.
#[derive(Clone, Copy)]
pub(crate) struct Answers {
    pub(crate) status: u16,
    pub(crate) says: &'static str,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) schema: Option<SchemaOf>,
}

/// A route.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// Its path, with `{name}` where anything may stand.
    pub(crate) path: &'static str,
    pub(crate) who: Who,
    pub(crate) summary: &'static str,
    pub(crate) takes: Takes,
    pub(crate) answers: Answers,
    handler: Handler,
    stops: bool,
}

impl Route {
    /// A route: its method and path, who may use it, what it does in a sentence, and what does it.
    pub(crate) fn new<I, O, F>(
        (method, path): (Method, &'static str),
        who: Who,
        summary: &'static str,
        handler: impl Fn(Ask, I) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        I: Input,
        O: Output,
        F: Future<Output = Result<O, Problem>> + Send + 'static,
    {
        let handler: Handler = Box::new(move |ask| {
            let handler = handler.clone();
            Box::pin(async move {
                let input = I::read(&ask.request)?;
                let admin = ask.admin.clone();
                handler(ask, input).await?.answer(&admin)
            })
        });
        Self { method, path, who, summary, takes: I::takes(), answers: O::answers(), handler, stops: false }
    }

    /// Whether it changes anything.
    pub(crate) fn is_safe(&self) -> bool {
        self.method == GET
    }

    /// Whether it ends with whoever asked for it: a tool that is tried is stopped then, as by any other client.
    pub(crate) fn stops_with_its_client(&self) -> bool {
        self.stops
    }

    /// The same route, which ends with whoever asked for it.
    pub(crate) fn stopping(self) -> Self {
        Self { stops: true, ..self }
    }

    /// What stands in place of the names of its path, if it is this path.
    pub(crate) fn params(&self, path: &str) -> Option<Vec<String>> {
        let (mut parts, mut names) = (path.split('/'), self.path.split('/'));
        let mut params = Vec::new();
        loop {
            match (parts.next(), names.next()) {
                (None, None) => return Some(params),
                (Some(part), Some(name)) if name.starts_with('{') => params.push(decoded(part)?),
                (Some(part), Some(name)) if part == name => {}
                _ => return None,
            }
        }
    }

    pub(crate) fn handle(&self, ask: Ask) -> Answering {
        (self.handler)(ask)
    }
}

/// What a handler takes besides the path.
pub(crate) trait Input: Sized + Send + 'static {
    fn takes() -> Takes;
    fn read(request: &Request) -> Result<Self, Problem>;
}

/// A JSON body.
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for T {
    fn takes() -> Takes {
        Takes::Body(|generator| generator.subschema_for::<T>())
    }

    fn read(request: &Request) -> Result<Self, Problem> {
        input::body(request)
    }
}

/// A part of a path as it was meant; none where it cannot be text.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, more) = rest.split_at_checked(2)?;
        let digits = str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = more;
    }
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty() && !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_path_is_read_as_it_was_meant() {
        #[track_caller]
        fn check(part: &str, expect: Option<&str>) {
            assert_eq!(decoded(part).as_deref(), expect, "{part}");
        }
        check("abc", Some("abc"));
        check("a%2Fb%20c", Some("a/b c"));
        check("%C3%BC", Some("\u{fc}"));
        check("", None);
        check("%", None);
        check("%2", None);
        check("%zz", None);
        check("%+1", None);
        check("%00", None);
        check("%ff", None);
    }
}
