//! What can be read of OpenCode without a tool: its configuration, its sessions, and what they changed.
//!
//! Sessions are not listed, only found by their template: a client that looks at its list must not start a server.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolgate_core::{Error, Kind, Listing, ResourceItem, Result, TemplateItem, resource_not_found};
use toolgate_wire::{Raw, Template};

use crate::answers;
use crate::hidden::hidden;
use crate::pack::Opencode;
use crate::server::Link;

const CONFIG: &str = "opencode://config";
const SESSION: &str = "opencode://session/{id}";
const DIFF: &str = "opencode://session/{id}/diff";

/// How many of a session's last messages are shown.
const MESSAGES: &str = "200";

/// What a URI names.
#[derive(Debug, PartialEq, Eq)]
enum Named<'a> {
    Config,
    Session(&'a str),
    Diff(&'a str),
}

impl<'a> Named<'a> {
    fn parse(uri: &'a str) -> Option<Self> {
        if uri == CONFIG {
            return Some(Self::Config);
        }
        let rest = uri.strip_prefix("opencode://session/")?;
        let (id, named): (_, fn(&'a str) -> Self) = match rest.strip_suffix("/diff") {
            Some(id) => (id, Self::Diff),
            None => (rest, Self::Session),
        };
        crate::id::session_id(id).ok().map(named)
    }
}

/// Puts them on the shelf.
pub(crate) fn list(listing: &mut Listing) {
    let config = json!({
        "uri": CONFIG,
        "name": "OpenCode's configuration",
        "description": "What counts in the project, all files taken together, with keys and tokens hidden.",
        "mimeType": "application/json",
    });
    listing.resources.push(Arc::new(ResourceItem { uri: CONFIG.into(), raw: Raw::of(&config) }));
    let session = "A session of OpenCode: its title, its folder, whether it works now, and what was said.";
    listing.templates.extend(template(SESSION, "Session of OpenCode", session, "application/json"));
    let diff = "What a session of OpenCode changed in the files of its project.";
    listing.templates.extend(template(DIFF, "Changes of a session", diff, "text/x-diff"));
}

fn template(text: &str, name: &str, description: &str, kind: &str) -> Option<Arc<TemplateItem>> {
    let raw = json!({"uriTemplate": text, "name": name, "description": description, "mimeType": kind});
    let template = Template::parse(text).ok()?;
    Some(Arc::new(TemplateItem { template, text: text.into(), raw: Raw::of(&raw) }))
}

impl Opencode {
    /// Answers `resources/read`.
    pub(crate) async fn resource(&self, uri: &str) -> Result<Raw> {
        let named = Named::parse(uri).ok_or_else(|| resource_not_found(uri))?;
        let read = async {
            let link = self.link().await?;
            match named {
                Named::Config => Ok(("application/json", pretty(&self.merged(&link).await?.into()))),
                Named::Session(id) => Ok(("application/json", pretty(&session(&link, id).await?))),
                Named::Diff(id) => Ok(("text/x-diff", diff(&link, id).await?)),
            }
        };
        let (kind, text) = read.await.map_err(|error: Error| {
            let is_gone = error.kind() == Kind::SessionNotFound;
            if is_gone { resource_not_found(uri).because(error) } else { error }
        })?;
        Ok(Raw::of(&json!({"contents": [{"uri": uri, "mimeType": kind, "text": text}]})))
    }

    async fn merged(&self, link: &Link) -> Result<Map<String, Value>> {
        let project = self.project(None)?;
        let config = link.client().get(&["config"]).within(&project.path).send().await?;
        Ok(config.as_object().cloned().map(hidden).unwrap_or_default())
    }
}

async fn session(link: &Link, id: &str) -> Result<Value> {
    let client = link.client();
    let info = client.get(&["session", id]).send().await?;
    let directory = info["directory"].as_str().unwrap_or_default();
    let status = client.get(&["session", "status"]).within(directory.as_ref()).send().await?;
    let messages = client.get(&["session", id, "message"]).query("limit", MESSAGES).send().await?;
    Ok(json!({
        "sessionId": id,
        "title": info["title"],
        "directory": directory,
        "status": status[id]["type"].as_str().unwrap_or("idle"),
        "messages": messages.as_array().into_iter().flatten().map(said).collect::<Vec<_>>(),
    }))
}

/// A message, without what only OpenCode needs.
fn said(message: &Value) -> Value {
    let info = &message["info"];
    let parts = answers::list(&message["parts"]);
    let texts = parts.iter().filter(|part| part["type"] == "text" && part["synthetic"] != true);
    let texts: Vec<&str> = texts.filter_map(|part| part["text"].as_str()).collect();
    let tools = parts.iter().filter(|part| part["type"] == "tool");
    let tools: Vec<Value> = tools
        .map(|part| {
            let state = &part["state"];
            json!({"tool": part["tool"], "title": state["title"], "status": state["status"]})
        })
        .collect();
    let mut said = json!({"messageId": info["id"], "role": info["role"], "text": texts.join("\n")});
    if !tools.is_empty() {
        said["tools"] = tools.into();
    }
    if info["error"].is_object() {
        said["error"] = info["error"]["data"]["message"].clone();
    }
    said
}

/// The changes of every turn, in order: OpenCode keeps them with the prompt that led to them.
async fn diff(link: &Link, id: &str) -> Result<String> {
    let path = ["session", id, "message"];
    let messages = link.client().get(&path).query("limit", MESSAGES).send().await?;
    let turns = messages.as_array().into_iter().flatten().map(|message| &message["info"]["summary"]["diffs"]);
    let files = turns.filter_map(Value::as_array).flatten();
    Ok(files.filter_map(|file| file["patch"].as_str()).fold(String::new(), |all, patch| all + patch + "\n"))
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ours_has_a_name() {
        #[track_caller]
        fn check(uri: &str, expect: Option<Named<'_>>) {
            assert_eq!(Named::parse(uri), expect, "{uri}");
        }
        check("opencode://config", Some(Named::Config));
        check("opencode://session/ses_1", Some(Named::Session("ses_1")));
        check("opencode://session/ses_1/diff", Some(Named::Diff("ses_1")));
        for uri in [
            "",
            "opencode://",
            "opencode://config/",
            "opencode://session/",
            "opencode://session/msg_1",
            "opencode://session/ses_1/diff/diff",
            "opencode://session/ses_1/../config",
            "opencode://session/ses_1%2f..",
            "other://session/ses_1",
        ] {
            check(uri, None);
        }
    }
}
