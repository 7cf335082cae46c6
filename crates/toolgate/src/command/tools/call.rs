//! `toolgate tools call`: call a tool and print its answer.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::{Map, Value, json};
use toolgate_core::{Call, Error, Hub, Kind, Outcome, Principal, Target, local_client};
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
    let params = json!({"name": name, "arguments": read(arguments)?});
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

/// The arguments of a call as they are typed: `key=value` pairs, or one JSON object.
pub(crate) fn read(arguments: &[String]) -> Result<Value, Error> {
    if let [only] = arguments
        && only.trim_start().starts_with('{')
    {
        return serde_json::from_str(only)
            .map_err(|error| Error::new(Kind::InvalidInput, format!("the arguments are not JSON: {error}")));
    }
    let pairs: Result<Map<String, Value>, Error> = arguments.iter().map(|pair| pair_of(pair)).collect();
    pairs.map(Value::Object)
}

fn pair_of(pair: &str) -> Result<(String, Value), Error> {
    let Some((key, value)) = pair.split_once('=') else {
        return Err(Error::new(Kind::InvalidInput, format!("`{pair}` is no `key=value` pair"))
            .hint("write `path=notes.md`, or one JSON object in quotes"));
    };
    // `limit=5` is a number and `name=Ada` is text; text that looks like JSON is written in quotes: `name='"5"'`.
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into()));
    Ok((key.into(), value))
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
}
