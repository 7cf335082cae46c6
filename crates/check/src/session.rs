//! A conversation with the server, in one era: opened as the specification says, and asked in its terms.

use serde_json::{Value, json};
use toolgate_host::Tasks;
use toolgate_wire::{Era, Version, code, meta, method};

use crate::check::Limits;
use crate::connection::{Client, Complaints, Connection, Lost, Reply};
use crate::subject::Subject;

/// A conversation.
pub(crate) struct Session {
    pub(crate) connection: Connection,
    pub(crate) era: Era,
    pub(crate) version: Version,
    /// What the server said of itself: the result of `initialize` or `server/discover`.
    pub(crate) opening: Value,
    /// How the first notification was taken, over HTTP.
    pub(crate) taken: Option<u16>,
    limits: Limits,
}

/// Why no conversation came about.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotOpened {
    /// There is no answer.
    #[error("{0}")]
    Lost(#[from] Lost),
    /// It does not want to.
    #[error("error {} to `{}`: {}", .error["code"], .method, .error["message"].as_str().unwrap_or_default())]
    Refused { method: &'static str, error: Value },
    /// It answers with a version that is none.
    #[error("it answers with the protocol version {0}, which this era does not have")]
    Version(Value),
}

/// Opens conversations with one server.
pub(crate) struct Opener<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) client: Option<Client>,
    pub(crate) limits: Limits,
    pub(crate) tasks: &'a Tasks,
    pub(crate) complaints: Complaints,
    /// Whether the server speaks only the oldest transport over HTTP.
    pub(crate) old: bool,
}

impl Opener<'_> {
    /// A connection on which nothing was said yet.
    pub(crate) async fn connect(&self) -> Result<Connection, Lost> {
        match (self.subject, &self.client) {
            (Subject::Program(program), _) => {
                let started = Connection::start(program, self.limits, self.tasks, &self.complaints).await;
                started.map_err(Lost::Gone)
            }
            (Subject::Address(address), Some(client)) if self.old => {
                Connection::old_sse(address, client, self.limits, self.tasks).await
            }
            (Subject::Address(address), Some(client)) => {
                Ok(Connection::http(address, client, self.limits, self.tasks))
            }
            (Subject::Address(_), None) => Err(Lost::Gone("there is no HTTP client".into())),
        }
    }

    /// A conversation in an era, in its newest version.
    pub(crate) async fn open(&self, era: Era) -> Result<Session, NotOpened> {
        match era {
            Era::Legacy => self.legacy(Version::LATEST_LEGACY).await,
            Era::Modern => self.modern().await,
        }
    }

    /// A conversation that begins with a handshake.
    pub(crate) async fn legacy(&self, version: Version) -> Result<Session, NotOpened> {
        let mut connection = self.connect().await?;
        let id = connection.fresh_id();
        let params = initialize_params(version.as_str());
        let reply = connection.ask(id, method::INITIALIZE, params, self.limits.start).await?;
        let opening =
            reply.outcome.map_err(|error| NotOpened::Refused { method: method::INITIALIZE, error })?;
        let granted = opening["protocolVersion"].as_str().and_then(|text| text.parse::<Version>().ok());
        let Some(granted) = granted.filter(|version| version.era() == Era::Legacy) else {
            return Err(NotOpened::Version(opening["protocolVersion"].clone()));
        };
        connection.speaks(granted);
        connection.transcript.capabilities = opening["capabilities"].clone();
        let taken = connection.tell(method::INITIALIZED, json!({})).await?;
        connection.listen();
        Ok(Session { connection, era: Era::Legacy, version: granted, opening, taken, limits: self.limits })
    }

    async fn modern(&self) -> Result<Session, NotOpened> {
        let mut connection = self.connect().await?;
        let id = connection.fresh_id();
        let params = with_meta(json!({}), Version::LATEST.as_str());
        let reply = connection.ask(id, method::DISCOVER, params, self.limits.start).await?;
        let opening =
            reply.outcome.map_err(|error| NotOpened::Refused { method: method::DISCOVER, error })?;
        if !is_discovery(&opening) {
            return Err(NotOpened::Version(opening["supportedVersions"].clone()));
        }
        connection.speaks(Version::LATEST);
        connection.transcript.capabilities = opening["capabilities"].clone();
        let (era, version) = (Era::Modern, Version::LATEST);
        Ok(Session { connection, era, version, opening, taken: None, limits: self.limits })
    }
}

/// Whether a server that answers so speaks the modern version that we do.
pub(crate) fn is_discovery(result: &Value) -> bool {
    let versions = result["supportedVersions"].as_array();
    versions.is_some_and(|versions| versions.iter().any(|version| version == Version::LATEST.as_str()))
}

/// The parameters of a handshake.
pub(crate) fn initialize_params(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client_info()})
}

/// Parameters as a modern request has them.
pub(crate) fn with_meta(mut params: Value, version: &str) -> Value {
    params[meta::META][meta::PROTOCOL_VERSION] = json!(version);
    params[meta::META][meta::CLIENT_CAPABILITIES] = json!({});
    params[meta::META][meta::CLIENT_INFO] = client_info();
    params
}

fn client_info() -> Value {
    json!({"name": "toolgate-check", "version": env!("CARGO_PKG_VERSION")})
}

impl Session {
    /// What the server said it can do.
    pub(crate) fn capabilities(&self) -> &Value {
        &self.opening["capabilities"]
    }

    /// Where something was seen, in words.
    pub(crate) fn place(&self) -> String {
        place(self.era, self.connection.word())
    }

    /// Parameters as this era has them.
    pub(crate) fn params(&self, params: Value) -> Value {
        match self.era {
            Era::Legacy => params,
            Era::Modern => with_meta(params, Version::LATEST.as_str()),
        }
    }

    /// Asks something.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Result<Reply, Lost> {
        let (id, params) = (self.connection.fresh_id(), self.params(params));
        self.connection.ask(id, method, params, self.limits.answer).await
    }

    /// The method that every server of this era has.
    pub(crate) fn least(&self) -> &'static str {
        match self.era {
            Era::Legacy => method::PING,
            Era::Modern => method::DISCOVER,
        }
    }

    /// Whether it still answers, whatever it says.
    pub(crate) async fn alive(&mut self) -> Result<(), Lost> {
        match self.request(self.least(), json!({})).await {
            // Over HTTP an answer may be a status alone.
            Ok(_) | Err(Lost::Status(_)) => Ok(()),
            Err(lost) => Err(lost),
        }
    }
}

/// Where something was seen, in words.
pub(crate) fn place(era: Era, transport: &str) -> String {
    match era {
        Era::Legacy => format!("legacy era, {transport}"),
        Era::Modern => format!("modern era, {transport}"),
    }
}

/// Whether an error says that the server is modern, but does not speak our version.
pub(crate) fn is_other_version(error: &Value) -> bool {
    error["code"] == code::UNSUPPORTED_VERSION
}
