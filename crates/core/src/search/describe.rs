//! `tools_describe`: the definitions of some tools, exactly as their sources list them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toolgate_wire::Raw;

use super::Finder;
use crate::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

pub(super) struct ToolsDescribe;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Names of tools, as `tools_search` returns them.
    #[schemars(length(min = 1, max = 50))]
    names: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Described {
    /// The definitions, with `name`, `description` and `inputSchema`.
    items: Vec<Definition>,
    /// Names that no tool has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<Unknown>,
}

/// A definition in the bytes of its source: no number of it passes through a float.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Definition(Raw);

impl JsonSchema for Definition {
    fn schema_name() -> Cow<'static, str> {
        "Definition".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object"})
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct Unknown {
    /// The name that was asked for.
    name: String,
    /// Names that may have been meant.
    nearest: Vec<String>,
}

impl Tool<Finder> for ToolsDescribe {
    type Input = Input;
    type Output = Json<Described>;
    const SPEC: ToolSpec = ToolSpec {
        name: "tools_describe",
        title: "Describe tools",
        description: "Read the definitions of tools, to know the arguments that they take.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, finder: &Finder, _: &RunHandle, input: Input) -> Result<Json<Described>> {
        let mut described = Described { items: Vec::new(), unknown: Vec::new() };
        for name in &input.names {
            match finder.tools.get(name) {
                Some(entry) => described.items.push(Definition(entry.item.raw.clone())),
                None => described.unknown.push(Unknown { name: name.clone(), nearest: finder.nearest(name) }),
            }
        }
        match (described.items.as_slice(), input.names.as_slice()) {
            ([], [name, ..]) => Err(finder.unknown(name)),
            _ => Ok(Json(described)),
        }
    }
}
