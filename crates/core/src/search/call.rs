//! `tools_call`: call a tool that is not listed. The hub makes it a call of that tool before anything else looks at it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_wire::{Edit, Raw};

use super::Finder;
use crate::{
    Call, Content, Error, Hints, Kind, Result, RunHandle, Target, Tool, ToolItem, ToolName, ToolSpec,
};

/// What to do about a name that no tool has.
const FIND: &str = "call `tools_search` to find one";

pub(super) struct ToolsCall;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "they are read from the bytes, so that no number passes through a float")]
pub(super) struct Input {
    /// The tool's name, as `tools_search` returns it.
    name: String,
    /// The tool's arguments, as its input schema asks for; `tools_describe` shows it.
    #[serde(default)]
    arguments: serde_json::Map<String, serde_json::Value>,
}

impl ToolsCall {
    pub(crate) const NAME: &str = "tools_call";
}

impl Tool<Finder> for ToolsCall {
    type Input = Input;
    type Output = Content;
    const SPEC: ToolSpec = ToolSpec {
        name: Self::NAME,
        title: "Call tool",
        description: "Call a tool by its name; `tools_search` finds names and `tools_describe` shows arguments.",
        // It may be any tool.
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, _: &Finder, _: &RunHandle, _: Input) -> Result<Content> {
        Err(Error::new(Kind::Internal, "`tools_call` reached its source instead of the tool it names"))
    }
}

/// Whether a call is for `tools_call`, by name.
fn is_wrapped(call: &Call) -> bool {
    matches!(&call.target, Target::Tool(name) if name.as_str() == ToolsCall::NAME)
}

/// Makes a call of `tools_call` a call of the tool that it names, as if that had been called directly: whatever is
/// judged, counted, recorded or kept from here on is that call. Any other call stays what it is.
///
/// `ours` finds our definition of `tools_call` where the caller has it.
pub(crate) fn unwrapped(
    call: &mut Call,
    ours: impl FnOnce(&Call, &str) -> Option<Arc<ToolItem>>,
) -> Result<()> {
    if call.via_search || !is_wrapped(call) {
        return Ok(());
    }
    let Some(item) = ours(call, ToolsCall::NAME) else { return Ok(()) };
    let arguments = call.arguments.clone().or_else(|| call.params.get("arguments"));
    let arguments = arguments.unwrap_or(Raw::EMPTY_OBJECT);
    if let Some(check) = &item.input {
        check.check(&arguments)?;
    }
    let name = arguments.get("name");
    let name = name.as_ref().and_then(|name| name.as_string()).unwrap_or_default();
    // The name is an argument here, so that it is for the model to correct.
    let unknown = |error: Error| Error::new(Kind::NotFound, error.message().to_owned()).hint(FIND);
    let name: ToolName = name.parse().map_err(unknown)?;
    let inner = arguments.get("arguments");
    let edit = Edit::new(&call.params).set("name", Raw::string(name.as_str()));
    call.params = match &inner {
        Some(inner) => edit.set("arguments", inner.clone()).finish(),
        None => edit.remove("arguments").finish(),
    };
    call.arguments = inner;
    call.target = Target::Tool(name);
    call.via_search = true;
    Ok(())
}
