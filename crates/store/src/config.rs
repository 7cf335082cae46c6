//! What can be set for the store.

use std::fmt;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::StoreError;

use crate::place::Place;

/// What can be set for the store. Written as text it shows the password of its address.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StoreConfig {
    /// Where what outlives a process is kept: the address of a PostgreSQL database, or the path of a SQLite file. If not
    /// set, it is the file `toolgate.db` of the data folder.
    #[schemars(example = "postgres://toolgate:change-me@localhost/toolgate")]
    pub url: Option<String>,
}

impl StoreConfig {
    /// Where the store is; a path that is not absolute lies in the data folder.
    ///
    /// # Errors
    /// `url` is no address of a database that we know.
    pub fn place(&self, data_dir: &Path) -> Result<Place, StoreError> {
        Place::parse(self.url.as_deref(), data_dir)
    }
}

impl fmt::Debug for StoreConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreConfig").field("url", &self.url.as_ref().map(|_| "[secret]")).finish()
    }
}
