//! Finds the arguments of a tool that are repeated in headers: `x-mcp-header` in its input schema.

use crate::raw::{Kind, Raw};

use super::PARAM_PREFIX;

const ANNOTATION: &str = "x-mcp-header";

/// An argument that is repeated in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderParam {
    /// The full name of the header.
    pub header: String,
    /// The keys that lead to the argument.
    pub path: Vec<String>,
    /// The type of the argument.
    pub kind: ParamKind,
}

/// The type of an argument that is repeated in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamKind {
    /// A string.
    String,
    /// An integer.
    Integer,
    /// A truth value.
    Boolean,
}

/// An annotation that makes the tool unusable over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAnnotation {
    /// The name cannot be a part of a header name.
    #[error("`x-mcp-header` must be a token, as header names are")]
    Name,
    /// Two annotations say the same, but for case.
    #[error("`x-mcp-header` `{0}` occurs twice")]
    Duplicate(String),
    /// The type is not a string, an integer or a boolean.
    #[error("`x-mcp-header` `{0}` must be on a string, an integer or a boolean")]
    Type(String),
    /// The way to it does not go through `properties` alone.
    #[error("`x-mcp-header` must be on a property that is reached through `properties` alone")]
    Place,
}

impl HeaderParam {
    /// The value among the arguments of a call; `null` counts as absent.
    pub fn value(&self, arguments: &Raw) -> Option<Raw> {
        let value = self.path.iter().try_fold(arguments.clone(), |value, key| value.get(key))?;
        (!value.is_null()).then_some(value)
    }
}

/// The arguments of a tool that are repeated in headers, by its input schema.
pub fn header_params(input_schema: &Raw) -> Result<Vec<HeaderParam>, BadAnnotation> {
    let mut found = Vec::new();
    // Most schemas have none, and are not walked at all.
    if memchr::memmem::find(input_schema.as_bytes(), b"mcp").is_some()
        || memchr::memchr(b'\\', input_schema.as_bytes()).is_some()
    {
        Walk { found: &mut found, path: Vec::new() }.schema(input_schema, true)?;
    }
    Ok(found)
}

struct Walk<'a> {
    found: &'a mut Vec<HeaderParam>,
    path: Vec<String>,
}

impl Walk<'_> {
    /// `reachable`: so far there was nothing but `properties`.
    fn schema(&mut self, schema: &Raw, reachable: bool) -> Result<(), BadAnnotation> {
        for (key, value) in schema.entries() {
            match &*key {
                ANNOTATION if !reachable || self.path.is_empty() => return Err(BadAnnotation::Place),
                ANNOTATION => self.annotation(schema, &value)?,
                "properties" => self.properties(&value, reachable)?,
                // Maps from names to schemas: a name is not a keyword.
                "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                    for (_, inner) in value.entries() {
                        self.schema(&inner, false)?;
                    }
                }
                // Data, not schemas.
                "default" | "const" | "enum" | "examples" => {}
                _ => self.elsewhere(&value)?,
            }
        }
        Ok(())
    }

    fn properties(&mut self, properties: &Raw, reachable: bool) -> Result<(), BadAnnotation> {
        for (name, property) in properties.entries() {
            self.path.push(name.into_owned());
            self.schema(&property, reachable)?;
            self.path.pop();
        }
        Ok(())
    }

    /// A keyword that may hold a schema, or an array of them.
    fn elsewhere(&mut self, value: &Raw) -> Result<(), BadAnnotation> {
        self.schema(value, false)?;
        value.items().try_for_each(|item| self.schema(&item, false))
    }

    fn annotation(&mut self, schema: &Raw, value: &Raw) -> Result<(), BadAnnotation> {
        let name = value.as_string().filter(|name| is_token(name)).ok_or(BadAnnotation::Name)?;
        let Some(kind) = schema.get("type").and_then(|kind| param_kind(&kind)) else {
            return Err(BadAnnotation::Type(name.into_owned()));
        };
        let header = format!("{PARAM_PREFIX}{name}");
        if self.found.iter().any(|other| other.header.eq_ignore_ascii_case(&header)) {
            return Err(BadAnnotation::Duplicate(name.into_owned()));
        }
        self.found.push(HeaderParam { header, path: self.path.clone(), kind });
        Ok(())
    }
}

/// The type, which may also be that type or `null`.
fn param_kind(value: &Raw) -> Option<ParamKind> {
    if value.kind() == Kind::Array {
        let mut kinds = value.items().filter(|item| item.as_string().as_deref() != Some("null"));
        return kinds.next().filter(|_| kinds.next().is_none()).as_ref().and_then(single_kind);
    }
    single_kind(value)
}

fn single_kind(value: &Raw) -> Option<ParamKind> {
    match value.as_string().as_deref()? {
        "string" => Some(ParamKind::String),
        "integer" => Some(ParamKind::Integer),
        "boolean" => Some(ParamKind::Boolean),
        _ => None,
    }
}

fn is_token(name: &str) -> bool {
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(valid)
}
