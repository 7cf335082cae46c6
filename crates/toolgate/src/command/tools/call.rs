//! `toolgate tools call`: call a tool and print its answer.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::{Map, Value, json};
use toolgate_core::{Call, Error, Hub, Kind, ListKind, Outcome, Principal, Target, local_client};
use toolgate_wire::Raw;

use crate::command::progress;
use crate::command::serve::stop_signal;
use crate::exit;

/// Calls a tool; standard output gets its answer, standard error why it failed.
pub(crate) async fn run(
    hub: &Hub,
    name: &str,
    arguments: &[String],
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let params = json!({"name": name, "arguments": read_for(arguments, &schema(hub, name).await)?});
    let target = Target::Tool(name.parse()?);
    let call = Call::new(Principal::local(), local_client(), target, Raw::of(&params));
    let result = match outcome(hub, call, name).await? {
        Outcome::Complete(result) => result,
        Outcome::Failed(error) => return Err(error.into()),
        Outcome::InputRequired { .. } | Outcome::Task(_) => {
            return Err(Error::new(Kind::MissingCapability, "this tool has to ask something")
                .hint("call it from an MCP client")
                .into());
        }
    };
    let value: Value = result.to()?;
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
    } else {
        for block in value["content"].as_array().into_iter().flatten() {
            writeln!(out, "{}", shown(block))?;
        }
    }
    let failed = value["isError"].as_bool().unwrap_or_default();
    Ok(ExitCode::from(if failed { exit::FAILED } else { 0 }))
}

/// What a call came to; a signal to stop cancels it, so that what it began elsewhere is stopped too.
async fn outcome(hub: &Hub, call: Call, name: &str) -> anyhow::Result<Outcome> {
    let stop = stop_signal(hub.tasks())?;
    let run = hub.start(call);
    let cancel = run.canceller();
    let mut outcome = std::pin::pin!(progress::outcome(run, name));
    Ok(tokio::select! {
        outcome = &mut outcome => outcome,
        () = stop.cancelled() => {
            cancel.cancel();
            outcome.await
        }
    })
}

/// What a tool takes, as far as it is known.
async fn schema(hub: &Hub, name: &str) -> Value {
    let view = hub.settled_view(&Principal::local(), ListKind::Tools).await;
    let definition = view.tool(name).and_then(|tool| tool.raw.to::<Value>().ok());
    definition.map(|mut definition| definition["inputSchema"].take()).unwrap_or_default()
}

/// The arguments of a call as they are typed: `key=value` pairs, or one JSON object.
pub(crate) fn read(arguments: &[String]) -> Result<Value, Error> {
    read_for(arguments, &Value::Null)
}

/// The same, for a tool that takes what a schema says.
fn read_for(arguments: &[String], schema: &Value) -> Result<Value, Error> {
    if let [only] = arguments
        && only.trim_start().starts_with('{')
    {
        return serde_json::from_str(only)
            .map_err(|error| Error::new(Kind::InvalidInput, format!("the arguments are not JSON: {error}")));
    }
    let pairs: Result<Map<String, Value>, Error> =
        arguments.iter().map(|pair| pair_of(pair, &schema["properties"])).collect();
    pairs.map(Value::Object)
}

fn pair_of(pair: &str, properties: &Value) -> Result<(String, Value), Error> {
    let Some((key, value)) = pair.split_once('=') else {
        return Err(Error::new(Kind::InvalidInput, format!("`{pair}` is no `key=value` pair"))
            .hint("write `path=notes.md`, or one JSON object in quotes"));
    };
    // `limit=5` is a number and `name=Ada` is text; where a tool takes only text, so is `name=5`. Text that has quotes
    // around it is what is between them: `name='"5"'`.
    let text = || Value::String(value.into());
    let value = match serde_json::from_str(value) {
        Ok(read @ Value::String(_)) => read,
        Ok(read) if !takes_only_text(&properties[key], &read) => read,
        Ok(_) | Err(_) => text(),
    };
    Ok((key.into(), value))
}

/// Whether an argument has to be text, and cannot be what was read.
fn takes_only_text(property: &Value, read: &Value) -> bool {
    let kinds = &property["type"];
    let kinds = kinds.as_array().map_or(std::slice::from_ref(kinds), Vec::as_slice);
    let is = |word: &str| kinds.iter().any(|kind| kind == word);
    let others = kinds.iter().any(|kind| kind != "string" && kind != "null");
    is("string") && !others && !(read.is_null() && is("null"))
}

fn shown(block: &Value) -> String {
    match block["type"].as_str() {
        Some("text") => block["text"].as_str().unwrap_or_default().into(),
        Some(kind @ ("image" | "audio")) => {
            let bytes = block["data"].as_str().map_or(0, |data| data.len() / 4 * 3);
            format!("[{kind}, {}, about {bytes} bytes; use --json to get it]", block["mimeType"])
        }
        _ => block.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_pairs_or_one_object() {
        #[track_caller]
        fn check(given: &[&str], expect: Value) {
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            assert_eq!(read(&given).unwrap(), expect);
        }
        check(&[], json!({}));
        check(
            &["path=notes.md", "limit=5", "deep=true"],
            json!({"path": "notes.md", "limit": 5, "deep": true}),
        );
        check(&["text=a=b"], json!({"text": "a=b"}));
        check(&["name=\"5\""], json!({"name": "5"}));
        check(&[r#"{"path": "x"}"#], json!({"path": "x"}));
        assert!(read(&["nonsense".into()]).is_err());
        assert!(read(&["{broken".into()]).is_err());
    }

    #[test]
    fn what_has_to_be_text_is_text_whatever_it_looks_like() {
        let schema = json!({"properties": {
            "text": {"type": "string"},
            "word": {"type": "string", "enum": ["1", "2"]},
            "maybe": {"type": ["string", "null"]},
            "either": {"type": ["string", "integer"]},
            "count": {"type": "integer"},
        }});
        #[track_caller]
        fn check(schema: &Value, given: &str, expect: Value) {
            assert_eq!(read_for(&[given.into()], schema).unwrap(), expect, "{given}");
        }
        check(&schema, "text=5", json!({"text": "5"}));
        check(&schema, "text=true", json!({"text": "true"}));
        check(&schema, r#"text={"a": 1}"#, json!({"text": r#"{"a": 1}"#}));
        check(&schema, "text=[1, 2]", json!({"text": "[1, 2]"}));
        check(&schema, "text=null", json!({"text": "null"}));
        check(&schema, r#"text="quoted""#, json!({"text": "quoted"}));
        check(&schema, "text=", json!({"text": ""}));
        check(&schema, "word=2", json!({"word": "2"}));
        check(&schema, "maybe=null", json!({"maybe": null}));
        check(&schema, "maybe=5", json!({"maybe": "5"}));
        check(&schema, "either=5", json!({"either": 5}));
        check(&schema, "count=5", json!({"count": 5}));
        check(&schema, "count=five", json!({"count": "five"}));
        check(&schema, "unknown=5", json!({"unknown": 5}));
    }
}
