//! What requests bring along: a JSON body, or a query.

use http::header::CONTENT_TYPE;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolgate_wire::Raw;

use super::{Input, Takes};
use crate::body::Request;
use crate::problem::Problem;

/// More is no request of a page.
const MOST: usize = 1024 * 1024;

/// What a request without body and query brings along.
pub(crate) struct Nothing;

impl Input for Nothing {
    fn takes() -> Takes {
        Takes::Nothing
    }

    fn read(_: &Request) -> Result<Self, Problem> {
        Ok(Self)
    }
}

/// What stands behind the question mark.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for Query<T> {
    fn takes() -> Takes {
        Takes::Query(|generator| generator.subschema_for::<T>())
    }

    fn read(request: &Request) -> Result<Self, Problem> {
        let schema = SchemaGenerator::default().into_root_schema_for::<T>();
        let mut object = Map::new();
        for (name, text) in url::form_urlencoded::parse(request.query.as_bytes()) {
            let value = meant(&schema, &name, &text)?;
            if object.insert(name.clone().into_owned(), value).is_some() {
                return Err(Problem::field(name, "is there twice"));
            }
        }
        from_value(Value::Object(object)).map(Self)
    }
}

/// The value that a text stands for, by the schema of what it is for.
fn meant(schema: &Schema, name: &str, text: &str) -> Result<Value, Problem> {
    let kind = schema.pointer(&format!("/properties/{name}/type"));
    let is = |word: &str| match kind {
        Some(Value::String(kind)) => kind == word,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == word),
        _ => false,
    };
    if is("integer") {
        return text.parse::<u64>().map(Value::from).map_err(|_| Problem::field(name, "is no whole number"));
    }
    if is("boolean") {
        return text
            .parse()
            .map(Value::Bool)
            .map_err(|_| Problem::field(name, "is neither `true` nor `false`"));
    }
    Ok(Value::from(text))
}

/// Reads a JSON body.
pub(super) fn body<T: DeserializeOwned>(request: &Request) -> Result<T, Problem> {
    let content_type = request.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    // A form of another page can send anything but this.
    if !essence.eq_ignore_ascii_case("application/json") {
        let detail = "the body is not `application/json`";
        return Err(Problem::new(http::StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type", detail));
    }
    if request.body.len() > MOST {
        let detail = format!("a body may have at most {MOST} bytes");
        return Err(Problem::new(http::StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail));
    }
    // What could be read in two ways is refused, as everywhere.
    let raw = Raw::parse(request.body.clone())
        .map_err(|error| Problem::invalid(format!("the body is no JSON: {error}")))?;
    let mut reader = serde_json::Deserializer::from_slice(raw.as_bytes());
    serde_path_to_error::deserialize(&mut reader).map_err(|error| refused(&error))
}

fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| refused(&error))
}

/// What cannot be read, and where.
fn refused(error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let (path, text) = (error.path().to_string(), error.inner().to_string());
    // The place in the text is of no use to whoever looks at fields.
    let text = in_words(text.split(" at line ").next().unwrap_or_default());
    if path == "." { Problem::invalid(text) } else { Problem::field(path, text) }
}

/// What is wrong with the kind of a value, for people who know no types of ours.
fn in_words(text: &str) -> String {
    let Some((_, expected)) = text.strip_prefix("invalid ").and_then(|text| text.rsplit_once(", expected "))
    else {
        return text.to_owned();
    };
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "has to be a whole number".to_owned(),
        "a sequence" => "has to be a list".to_owned(),
        "a map" => "has to be an object".to_owned(),
        other => format!("has to be {}", other.strip_prefix("struct ").map_or(other, |_| "an object")),
    }
}
