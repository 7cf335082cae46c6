//! Calls of tools that call themselves read-only: what fails, and what succeeds.

use serde_json::{Value, json};
use toolgate_wire::{code, method};

use super::Stage;
use crate::connection::Lost;
use crate::notes::quote;
use crate::revision::words;
use crate::rule::{Rule, error, warning};
use crate::rules::Lists;

pub(crate) static CHECKS_ARGUMENTS: Rule = warning(
    "checks-arguments",
    "A call that lacks a required argument fails.",
    "hold arguments against the input schema before you act on them",
);
pub(crate) static IS_ERROR: Rule = error(
    "is-error-shape",
    "A call that fails is a result with `isError: true` and words for the model, or error -32602.",
    "put what went wrong and what to do into a text item: the model reads it, and corrects itself",
);
pub(crate) static STRUCTURED: Rule = error(
    "structured-content",
    "A tool with an output schema answers with structured content that fits it.",
    "answer `structuredContent` that fits `outputSchema`, or leave the schema away",
);

/// How many tools are called that need no arguments.
const CALLS: usize = 3;

pub(crate) async fn run(stage: &mut Stage<'_>, lists: &Lists) {
    let read_only: Vec<&Value> =
        lists.tools.iter().filter(|tool| tool["annotations"]["readOnlyHint"] == true).collect();
    let needs =
        |tool: &&&Value| tool["inputSchema"]["required"].as_array().is_some_and(|names| !names.is_empty());
    match read_only.iter().find(needs) {
        Some(tool) => without_arguments(stage, tool).await,
        None => {
            let why = "no tool calls itself read-only and has a required argument";
            stage.notes.skip(&CHECKS_ARGUMENTS, why);
            stage.notes.skip(&IS_ERROR, why);
        }
    }
    let easy: Vec<&&Value> = read_only.iter().filter(|tool| !needs(tool)).take(CALLS).collect();
    for tool in easy {
        as_it_should_be(stage, tool).await;
    }
}

async fn call(stage: &mut Stage<'_>, tool: &Value) -> Option<Result<Result<Value, Value>, Lost>> {
    let session = stage.session().await?;
    let params = json!({"name": tool["name"], "arguments": {}});
    Some(session.request(method::TOOLS_CALL, params).await.map(|reply| reply.outcome))
}

async fn without_arguments(stage: &mut Stage<'_>, tool: &Value) {
    let name = tool["name"].as_str().unwrap_or_default();
    let Some(outcome) = call(stage, tool).await else { return };
    stage.notes.tried(&CHECKS_ARGUMENTS);
    stage.notes.tried(&IS_ERROR);
    match outcome {
        Ok(Ok(result)) if result["isError"] == true => {
            let items = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
            let says = |item: &Value| item["text"].as_str().is_some_and(|text| !text.trim().is_empty());
            if !items.iter().any(says) {
                stage.found(&IS_ERROR, format!("`{name}` fails without a word in `content`"));
            }
        }
        Ok(Ok(result)) if result["resultType"] == "input_required" => {}
        Ok(Ok(_)) => {
            stage.found(
                &CHECKS_ARGUMENTS,
                format!("`{name}` answers a result though all its arguments are missing"),
            );
        }
        Ok(Err(error)) if error["code"] == code::INVALID_PARAMS => {}
        Ok(Err(error)) => {
            let what = quote(error["message"].as_str().unwrap_or_default());
            stage.found(&IS_ERROR, format!("`{name}` fails with error {}: {what}", error["code"]));
        }
        Err(lost) => stage.lost(&IS_ERROR, &Lost::Gone(format!("`{name}` without arguments: {lost}"))).await,
    }
}

/// Calls a tool that needs nothing. That it fails or takes long is its own affair.
async fn as_it_should_be(stage: &mut Stage<'_>, tool: &Value) {
    let name = tool["name"].as_str().unwrap_or_default();
    let result = match call(stage, tool).await {
        Some(Ok(Ok(result))) => result,
        Some(Err(Lost::Late(_))) => return stage.drop_session().await,
        Some(Ok(Err(_)) | Err(_)) | None => return,
    };
    let Some(schema) = tool.get("outputSchema") else { return };
    if result["isError"] == true || result["resultType"] == "input_required" {
        return;
    }
    stage.notes.tried(&STRUCTURED);
    let Some(content) = result.get("structuredContent") else {
        return stage.found(&STRUCTURED, format!("`{name}` answers without `structuredContent`"));
    };
    // That the schema itself is sound is another rule's affair.
    let Ok(validator) = jsonschema::validator_for(schema) else { return };
    let faults: Vec<String> = validator.iter_errors(content).take(3).map(|fault| words(&fault)).collect();
    for fault in faults {
        stage.found(&STRUCTURED, format!("`{name}`: {fault}"));
    }
}
