//! The one place that knows the JSON Schema crate.

mod fault;
mod plain;

use std::fmt;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;
use toolgate_wire::Raw;

use crate::{Error, Kind, Result};
use plain::Plain;

/// How many faults of one input are named.
const MOST_FAULTS: usize = 5;

/// The check of a value against a schema, compiled when it is first needed.
pub struct InputCheck {
    schema: Value,
    plain: Option<Plain>,
    compiled: OnceLock<Option<Validator>>,
}

impl InputCheck {
    /// A check against a schema.
    pub fn new(schema: Value) -> Self {
        Self { plain: Plain::of(&schema), schema, compiled: OnceLock::new() }
    }

    /// Checks the arguments of a call; the error names each field that is wrong.
    pub fn check(&self, arguments: &Raw) -> Result<()> {
        if self.plain.as_ref().is_some_and(|plain| plain.surely_fits(arguments)) {
            return Ok(());
        }
        let Some(validator) = self.validator() else {
            return Err(Error::new(Kind::Internal, "the schema of this tool does not compile"));
        };
        let value: Value = arguments
            .to()
            .map_err(|error| Error::new(Kind::InvalidInput, "the arguments cannot be read").because(error))?;
        if validator.is_valid(&value) {
            return Ok(());
        }
        let faults: Vec<String> = validator
            .iter_errors(&value)
            .take(MOST_FAULTS)
            .map(|fault| fault::line(&fault, &self.schema))
            .collect();
        Err(Error::new(Kind::InvalidInput, faults.join("; ")))
    }

    fn validator(&self) -> Option<&Validator> {
        let compile = || jsonschema::validator_for(&self.schema).ok();
        self.compiled.get_or_init(compile).as_ref()
    }
}

impl fmt::Debug for InputCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputCheck").finish_non_exhaustive()
    }
}
