//! An address as it is meant: where it is, what is sent along, whom it trusts, and through which proxy.

use std::ffi::OsString;
use std::path::PathBuf;

use reqwest::NoProxy;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use toolgate_host::Secret;
use toolgate_host::outbound::Route;
use url::Url;

use super::BadConfig;
use crate::config::{ProxyConfig, UpstreamConfig};
use crate::oauth::OauthPlan;

/// What is never reached through a proxy of the environment.
const HERE: &str = "localhost,127.0.0.0/8,::1";

pub(crate) struct AddressPlan {
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// A file with certificates of authorities that are trusted beside the machine's own.
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) proxy: ProxyPlan,
    /// How we sign in, if we may; taken over by what does it.
    pub(crate) oauth: Option<Box<OauthPlan>>,
}

/// Through which proxy a server is reached.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ProxyPlan {
    /// The one that the environment names for it.
    Environment,
    /// None.
    Off,
    /// This one.
    At(Url),
}

impl AddressPlan {
    pub(super) fn new(
        name: &str,
        url: &str,
        config: &UpstreamConfig,
        fill: impl Fn(&str, &str) -> Result<Secret, BadConfig>,
    ) -> Result<Self, BadConfig> {
        let Some(url) = web(fill("url", url)?.expose()) else {
            return Err(BadConfig::new(
                format!("mcp.{name}.url"),
                "is no address",
                "write it as `https://HOST/PATH`",
            ));
        };
        let mut headers = HeaderMap::new();
        for (key, value) in &config.headers {
            let bad = || {
                BadConfig::new(
                    format!("mcp.{name}.headers"),
                    format!("has `{key}`, which cannot be a header"),
                    "use a name of letters, digits and `-`, and a value on one line",
                )
            };
            let header = HeaderName::from_bytes(key.as_bytes()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(fill("headers", value)?.expose()).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.append(header, value);
        }
        let proxy = match &config.proxy {
            None => ProxyPlan::Environment,
            Some(ProxyConfig::Off) => ProxyPlan::Off,
            Some(ProxyConfig::Url(url)) => {
                ProxyPlan::At(web(fill("proxy", url)?.expose()).ok_or_else(|| {
                    BadConfig::new(
                        format!("mcp.{name}.proxy"),
                        "is no address",
                        "write it as `http://HOST:PORT`, or `false` for none",
                    )
                })?)
            }
        };
        let oauth = OauthPlan::new(name, &url, config, fill)?.map(Box::new);
        Ok(Self { url, headers, ca_file: config.ca_file.as_ref().map(PathBuf::from), proxy, oauth })
    }

    /// Whether nothing but its address tells how it is reached.
    pub(crate) fn is_reached_as_usual(&self) -> bool {
        self.ca_file.is_none() && matches!(self.proxy, ProxyPlan::Environment)
    }

    /// The proxies to use, in order; `variables` is our environment.
    pub(crate) fn proxies(&self, variables: &[(OsString, OsString)]) -> reqwest::Result<Vec<reqwest::Proxy>> {
        match &self.proxy {
            ProxyPlan::Off => Ok(Vec::new()),
            ProxyPlan::At(url) => Ok(vec![reqwest::Proxy::all(url.clone())?]),
            ProxyPlan::Environment => of_environment(variables),
        }
    }
}

/// Where what lets us in is found out and given: on the way to the address, by the same proxies and authorities.
impl AddressPlan {
    pub(crate) fn route(&self, variables: &[(OsString, OsString)]) -> Route {
        let urls = match &self.proxy {
            ProxyPlan::Off => Vec::new(),
            ProxyPlan::At(url) => vec![url.clone()],
            ProxyPlan::Environment => ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"]
                .into_iter()
                .filter_map(|name| named(variables, name).and_then(proxy))
                .collect(),
        };
        Route {
            // What cannot be used is told when the address itself is reached.
            proxies: self.proxies(variables).unwrap_or_default(),
            proxy_hosts: urls.iter().filter_map(|url| url.host_str().map(ToOwned::to_owned)).collect(),
            ca_file: self.ca_file.clone(),
        }
    }
}

/// A variable in either spelling.
fn named<'a>(variables: &'a [(OsString, OsString)], name: &str) -> Option<&'a str> {
    let get = |wanted: &str| variables.iter().find(|(name, _)| name == wanted);
    let found = get(&name.to_ascii_lowercase()).or_else(|| get(name))?;
    found.1.to_str().filter(|value| !value.is_empty())
}

/// A proxy as people write it, with or without a scheme.
fn proxy(text: &str) -> Option<Url> {
    web(text).or_else(|| web(&format!("http://{text}")))
}

fn web(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// The proxies that the usual variables name, in either spelling. What cannot be used is passed by.
fn of_environment(variables: &[(OsString, OsString)]) -> reqwest::Result<Vec<reqwest::Proxy>> {
    let get = |name: &str| named(variables, name);
    let not_for = NoProxy::from_string(&format!("{HERE},{}", get("NO_PROXY").unwrap_or_default()));
    let address = |name: &str| get(name).and_then(proxy);
    let mut proxies = Vec::new();
    if let Some(url) = address("HTTPS_PROXY") {
        proxies.push(reqwest::Proxy::https(url)?);
    }
    if let Some(url) = address("HTTP_PROXY") {
        proxies.push(reqwest::Proxy::http(url)?);
    }
    if let Some(url) = address("ALL_PROXY") {
        proxies.push(reqwest::Proxy::all(url)?);
    }
    Ok(proxies.into_iter().map(|proxy| proxy.no_proxy(not_for.clone())).collect())
}
