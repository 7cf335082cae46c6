//! Where a store is: a file, or a database of a server.

use std::fmt;
use std::path::{Path, PathBuf};

use toolgate_core::StoreError;
use toolgate_host::Secret;
use url::Url;

/// The file of the data folder, unless another place is configured.
const FILE_NAME: &str = "toolgate.db";

/// What a PostgreSQL address may say behind its `?`. Others would be logged with their values by the driver.
const PARAMETERS: &[&str] = &[
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "user",
];

/// Where a store is. Shown as text it has no password.
#[derive(Clone, Debug)]
pub struct Place(pub(crate) Kind);

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL database.
    Server { url: Secret, shown: String },
}

impl Place {
    /// A SQLite file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Kind::File(path.into()))
    }

    /// What a text names: a PostgreSQL address or a path; without one it is a file of the data folder.
    pub(crate) fn parse(text: Option<&str>, data_dir: &Path) -> Result<Self, StoreError> {
        let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
            return Ok(Self::file(data_dir.join(FILE_NAME)));
        };
        if let Some(path) = text.strip_prefix("sqlite:") {
            return Ok(Self::file(data_dir.join(path.strip_prefix("//").unwrap_or(path))));
        }
        match text.split_once("://") {
            None => Ok(Self::file(data_dir.join(text))),
            Some(("postgres" | "postgresql", _)) => Self::server(text),
            Some(_) => Err(unknown("`store.url` names a kind of database that is not known")),
        }
    }

    fn server(text: &str) -> Result<Self, StoreError> {
        let url = Url::parse(text).map_err(|_| unknown("`store.url` is no address of a database"))?;
        let mut names = url.query_pairs().map(|(name, _)| name.into_owned());
        let is_known = |name: &str| PARAMETERS.contains(&name) || name.starts_with("options[");
        if let Some(name) = names.find(|name| !is_known(name)) {
            return Err(StoreError::new(format!("`store.url` has a parameter `{name}` that is not known"))
                .hint(format!("these are: `{}`", PARAMETERS.join("`, `"))));
        }
        Ok(Self(Kind::Server { shown: shown(&url), url: Secret::new(text.to_owned()) }))
    }

    /// Whether several machines can share it.
    pub fn is_server(&self) -> bool {
        matches!(self.0, Kind::Server { .. })
    }

    /// Whether there is anything to read: a file may not be made yet.
    pub fn exists(&self) -> bool {
        match &self.0 {
            Kind::File(path) => path.exists(),
            Kind::Server { .. } => true,
        }
    }

    /// The address that the driver understands.
    pub(crate) fn address(&self) -> Result<Secret, StoreError> {
        match &self.0 {
            Kind::Server { url, .. } => Ok(url.clone()),
            Kind::File(path) => {
                let Some(path) = path.to_str() else {
                    return Err(StoreError::new(format!("the name of the file {self} is no text"))
                        .hint("choose a data folder, or a `store.url`, whose name is valid UTF-8"));
                };
                Ok(Secret::new(format!("sqlite://{}?mode=rw", encoded(path))))
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::File(path) => write!(f, "`{}`", path.display()),
            Kind::Server { shown, .. } => write!(f, "`{shown}`"),
        }
    }
}

fn unknown(message: &str) -> StoreError {
    StoreError::new(message).hint("write `postgres://USER:PASSWORD@HOST/DATABASE`, or the path of a file")
}

/// An address without its password and its parameters, of which one may be a password.
fn shown(url: &Url) -> String {
    let user = Some(url.username()).filter(|user| !user.is_empty()).map(|user| format!("{user}@"));
    let port = url.port().map(|port| format!(":{port}"));
    let host = url.host_str().unwrap_or_default();
    format!(
        "postgres://{}{host}{}{}",
        user.unwrap_or_default(),
        port.unwrap_or_default(),
        url.path().trim_end_matches('/')
    )
}

/// A path as part of an address: the driver takes `%`, `?` and `#` for its own.
fn encoded(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    path.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: Option<&str>, expect: &str) {
        let found = match Place::parse(text, Path::new("/data")) {
            Ok(place) => format!("{place}"),
            Err(error) => format!("{error}; {}", error.next_step().unwrap_or_default()),
        };
        assert!(found.starts_with(expect), "{text:?} is {found}");
        let debug = format!("{:?}", Place::parse(text, Path::new("/data")));
        assert!(!found.contains("hunter2") && !debug.contains("hunter2"), "{found} {debug}");
    }

    #[test]
    fn a_place_is_a_path_or_an_address_and_never_shows_a_password() {
        check(None, "`/data/toolgate.db`");
        check(Some(" "), "`/data/toolgate.db`");
        check(Some("other.db"), "`/data/other.db`");
        check(Some("/srv/a b.db"), "`/srv/a b.db`");
        check(Some("sqlite:///srv/x.db"), "`/srv/x.db`");
        check(Some("sqlite:x.db"), "`/data/x.db`");
        check(Some("postgres://me:hunter2@db:5433/gate?sslmode=require"), "`postgres://me@db:5433/gate`");
        check(Some("postgresql:///gate?password=hunter2&host=/run"), "`postgres:///gate`");
        check(Some("postgres://me:hunter2@db:port/gate"), "`store.url` is no address of a database; write");
        check(Some("postgres://db/gate?pasword=hunter2"), "`store.url` has a parameter `pasword` that");
        check(Some("mysql://me:hunter2@db/gate"), "`store.url` names a kind of database that is not known");
    }

    #[test]
    fn a_path_with_odd_characters_becomes_an_address() {
        let address = Place::file("/a b/ü%41?#.db").address().unwrap();
        assert_eq!(address.expose(), "sqlite:///a%20b/%C3%BC%2541%3F%23.db?mode=rw");
    }
}
