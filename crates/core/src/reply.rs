//! How answers of built-in tools are written, and how errors are.

mod content;
mod failure;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use toolgate_wire::Raw;

use crate::pretty::pretty;
use crate::{Error, Kind, Result};

pub use content::{Block, Content};
pub(crate) use failure::{Written, written};
pub use failure::{error_object, error_result};

/// What a built-in tool answers with.
pub trait Reply: Send {
    /// The schema of its `structuredContent`, where it has one.
    fn schema(generator: &mut SchemaGenerator) -> Option<Value>;

    /// The result object.
    fn into_result(self, compact: bool) -> Result<Raw>;
}

/// An answer that is text: a file, a page.
#[derive(Debug, Clone)]
pub struct Text(pub String);

impl Reply for Text {
    fn schema(_: &mut SchemaGenerator) -> Option<Value> {
        None
    }

    fn into_result(self, _: bool) -> Result<Raw> {
        Ok(result(&self.0, None))
    }
}

/// An answer that is data: indented JSON for the model, and the same value as `structuredContent`.
#[derive(Debug, Clone)]
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema + Send> Reply for Json<T> {
    fn schema(generator: &mut SchemaGenerator) -> Option<Value> {
        Some(generator.root_schema_for::<T>().to_value())
    }

    fn into_result(self, compact: bool) -> Result<Raw> {
        let value = serde_json::to_string(&self.0).map_err(unwritable)?;
        if compact {
            return Ok(result(&value, Some(&value)));
        }
        // What is raw in it is indented, too, and stays exactly what it is.
        let value = Raw::trusted(value.into());
        Ok(result(&pretty(&value), Some(value.as_str())))
    }
}

/// An answer that is data, and says the same in words: shorter and plainer than JSON.
#[derive(Debug, Clone)]
pub struct Worded<T> {
    /// What the model reads.
    pub text: String,
    /// The same as `structuredContent`.
    pub data: T,
}

impl<T: Serialize + JsonSchema + Send> Reply for Worded<T> {
    fn schema(generator: &mut SchemaGenerator) -> Option<Value> {
        Json::<T>::schema(generator)
    }

    fn into_result(self, _: bool) -> Result<Raw> {
        Ok(result(&self.text, Some(&serde_json::to_string(&self.data).map_err(unwritable)?)))
    }
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::new(Kind::Internal, "the answer could not be written").because(error)
}

fn result(text: &str, structured: Option<&str>) -> Raw {
    let mut body = Vec::with_capacity(text.len() + structured.map_or(0, str::len) + 96);
    body.extend_from_slice(br#"{"content":[{"type":"text","text":"#);
    body.extend_from_slice(Raw::string(text).as_bytes());
    body.extend_from_slice(b"}]");
    if let Some(structured) = structured {
        body.extend_from_slice(br#","structuredContent":"#);
        body.extend_from_slice(structured.as_bytes());
    }
    body.extend_from_slice(br#","isError":false}"#);
    Raw::trusted(body.into())
}
