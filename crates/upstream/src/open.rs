//! Opening a connection: which era the server speaks, and the first words with it.

mod http;
mod stdio;

use std::ffi::OsString;
use std::time::Duration;

use toolgate_core::LogLevel;
use toolgate_host::Tasks;
use toolgate_wire::{Era, Raw, Version, code, meta, method};

use crate::config::EraChoice;
use crate::desk::Reports;
use crate::fault::{Fault, short};
use crate::link::{Ask, Declared, Facts, Link, Wire};
use crate::oauth::Bearer;
use crate::plan::{Plan, Reach};
use crate::transport::WebClient;

/// What it takes to open a connection.
pub(crate) struct Opener<'a> {
    pub(crate) plan: &'a Plan,
    /// Our environment, of which programs get a little.
    pub(crate) variables: &'a [(OsString, OsString)],
    /// The client for HTTP, made when it is first needed.
    pub(crate) client: &'a WebClient,
    /// What lets us in, where we sign in.
    pub(crate) bearer: Option<Bearer>,
    pub(crate) declared: Declared,
    /// The era the server was found to speak before.
    pub(crate) known: Option<Era>,
    /// The same, also where it is doubted by now.
    pub(crate) spoke: Option<Era>,
    pub(crate) reports: &'a Reports,
    pub(crate) owner: &'a Tasks,
}

/// What a server turned out to be.
enum Found {
    Modern(Facts),
    Legacy,
    /// It is gone, or of no use after the question.
    Lost(Fault),
}

/// Opens a connection, within the time for it.
pub(crate) async fn open(opener: &Opener<'_>) -> Result<std::sync::Arc<Link>, Fault> {
    let limit = opener.plan.startup_timeout;
    let opening = async {
        match &opener.plan.reach {
            Reach::Program(program) => stdio::open(opener, program).await,
            Reach::Address(address) => http::open(opener, address).await,
        }
    };
    let opened = tokio::time::timeout(limit, opening)
        .await
        .unwrap_or_else(|_| Err(Fault::NotSent(format!("it was not ready within {} ms", limit.as_millis()))));
    if let (Err(Fault::Unauthorized(_)), Some(bearer)) = (&opened, &opener.bearer) {
        // Whether a person can help is known before they try.
        drop(tokio::time::timeout(limit, bearer.assess()).await);
    }
    let (wire, facts) = opened?;
    let link = Link::new(wire, facts);
    // What it then sends, the client's own level decides on.
    link.speak_from(LogLevel::Info, opener.plan.timeout).await;
    Ok(link)
}

impl Opener<'_> {
    /// The era, where it need not be asked for.
    fn era(&self) -> Option<Era> {
        match self.plan.era {
            EraChoice::Auto => self.known,
            EraChoice::Legacy => Some(Era::Legacy),
            EraChoice::Modern => Some(Era::Modern),
        }
    }
}

/// What we call ourselves.
fn client_info() -> Raw {
    Raw::literal(concat!(
        r#"{"name":"toolgate","title":"Toolgate","version":""#,
        env!("CARGO_PKG_VERSION"),
        r#""}"#
    ))
}

/// The `_meta` keys of a modern request.
pub(crate) fn modern_meta(declared: Declared) -> [(&'static str, Raw); 3] {
    [
        (meta::PROTOCOL_VERSION, Raw::string(Version::LATEST.as_str())),
        (meta::CLIENT_CAPABILITIES, declared.to_raw(Era::Modern)),
        (meta::CLIENT_INFO, client_info()),
    ]
}

/// The params of a modern request that has none of its own.
pub(crate) fn modern_params(declared: Declared) -> Raw {
    let keys = modern_meta(declared).map(|(key, value)| format!(r#""{key}":{}"#, value.as_str()));
    Raw::trusted(format!(r#"{{"_meta":{{{}}}}}"#, keys.join(",")).into())
}

/// Asks what the server is, as the modern era does.
async fn discover(wire: &Wire, limit: Duration) -> Result<Raw, Fault> {
    let ask = || Ask::plain(method::DISCOVER, modern_params(Declared::default()), limit);
    match wire.request(ask()).await {
        // A server that refuses the version and then names this very one is asked once more.
        Err(Fault::Refused(error)) if takes_ours(&error) => wire.request(ask()).await,
        answer => answer,
    }
}

/// Whether an error object says that the version was refused, and names ours among those that are not.
fn takes_ours(error: &Raw) -> bool {
    let refused =
        error.get("code").is_some_and(|code| code.as_str() == code::UNSUPPORTED_VERSION.to_string());
    refused && supports(error.path(&["data", "supported"]))
}

/// What an answer to the question means.
fn found(answer: Result<Raw, Fault>) -> Found {
    match answer {
        Ok(result) if supports(result.get("supportedVersions")) => Found::Modern(Facts {
            version: Version::LATEST,
            capabilities: result.get("capabilities").unwrap_or(Raw::EMPTY_OBJECT).detach(),
            server: result.path(&[meta::META, meta::SERVER_INFO]).map(|raw| raw.detach()),
            instructions: instructions(&result),
        }),
        Ok(_) | Err(Fault::Refused(_)) => Found::Legacy,
        Err(
            fault @ (Fault::NotSent(_)
            | Fault::NoToken(_)
            | Fault::SessionGone
            | Fault::Gone(_)
            | Fault::Status(_)
            | Fault::Late(_)
            | Fault::Unusable(_)
            | Fault::Unauthorized(_)
            | Fault::Scope(_)),
        ) => Found::Lost(fault),
    }
}

fn supports(versions: Option<Raw>) -> bool {
    versions.is_some_and(|versions| {
        versions.items().any(|version| version.as_string().as_deref() == Some(Version::LATEST.as_str()))
    })
}

fn instructions(result: &Raw) -> Option<String> {
    let text = result.get("instructions")?;
    text.as_string().map(std::borrow::Cow::into_owned)
}

/// The handshake of the legacy era.
async fn initialize(wire: &Wire, declared: Declared, limit: Duration) -> Result<Facts, Fault> {
    let params = format!(
        r#"{{"protocolVersion":"{}","capabilities":{},"clientInfo":{}}}"#,
        Version::LATEST_LEGACY,
        declared.to_raw(Era::Legacy).as_str(),
        client_info().as_str()
    );
    let result = wire.request(Ask::plain(method::INITIALIZE, Raw::trusted(params.into()), limit)).await?;
    let version = result.get("protocolVersion");
    let version = version.as_ref().and_then(Raw::as_string);
    let known = version.as_deref().and_then(|text| text.parse::<Version>().ok());
    let Some(version) = known.filter(|version| version.era() == Era::Legacy) else {
        let said = short(version.as_deref().unwrap_or("none"));
        return Err(Fault::Unusable(format!("it wants to speak protocol version `{said}`")));
    };
    wire.transport.speaks(version);
    wire.notify(method::INITIALIZED, None).await?;
    Ok(Facts {
        version,
        capabilities: result.get("capabilities").unwrap_or(Raw::EMPTY_OBJECT).detach(),
        server: result.get("serverInfo").map(|raw| raw.detach()),
        instructions: instructions(&result),
    })
}

/// Whether an error object is one that only the modern era knows, and does not mean that it speaks another.
pub(crate) fn is_modern_error(error: &Raw) -> bool {
    let code = error.get("code");
    let known = [code::HEADER_MISMATCH, code::MISSING_CAPABILITY];
    code.is_some_and(|code| known.iter().any(|known| code.as_str() == known.to_string()))
}
