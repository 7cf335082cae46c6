//! `opencode_auth_set`: the key of a provider.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::list;
use crate::pack::Opencode;

/// When a token expires that does not: the last moment that OpenCode can count to. At zero it has expired long ago.
const NEVER: u64 = (1 << 53) - 1;

pub(super) struct AuthSet;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The id of the provider, as `opencode_provider_list` shows it.
    provider: String,
    /// What kind of credentials: a key (api), or tokens of a sign-in (oauth).
    #[serde(rename = "type")]
    #[schemars(with = "String", extend("enum" = ["api", "oauth"]))]
    kind: String,
    /// The key, where the type is api.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    key: Option<String>,
    /// The access token, where the type is oauth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    token: Option<String>,
    /// The refresh token, where the type is oauth; by default the access token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    refresh: Option<String>,
    /// When the access token expires, in milliseconds since 1970; by default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    expires: Option<u64>,
    /// The absolute path of the project; by default the configured one, or the one we work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    working_directory: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The id of the provider.
    provider: String,
    /// Whether OpenCode can use the provider now.
    connected: bool,
}

impl Tool<Opencode> for AuthSet {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_auth_set",
        title: "Set credentials",
        description: "Give OpenCode the credentials of a provider of models.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let body = credentials(&input)?;
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let known = link.client().get(&["provider"]).within(&project.path).send().await?;
        let all = list(&known["all"]);
        if !all.iter().any(|provider| provider["id"] == input.provider.as_str()) {
            let words = format!("`provider` is `{}`, which OpenCode does not know", input.provider);
            return Err(Error::new(Kind::InvalidInput, words)
                .hint("call `opencode_provider_list` to see the providers"));
        }
        link.client().request(reqwest::Method::PUT, &["auth", &input.provider]).json(body).send().await?;
        let now = link.client().get(&["provider"]).within(&project.path).send().await?;
        let connected =
            now["connected"].as_array().into_iter().flatten().any(|id| *id == input.provider.as_str());
        Ok(Json(Output { provider: input.provider, connected }))
    }
}

fn credentials(input: &Input) -> Result<Value> {
    let missing = |field: &str| {
        Error::new(Kind::InvalidInput, format!("`{field}` is missing: `type` is `{}`", input.kind))
            .hint("give `key` for the type `api`, and `token` for `oauth`")
    };
    match input.kind.as_str() {
        "api" => Ok(json!({"type": "api", "key": input.key.as_ref().ok_or_else(|| missing("key"))?})),
        "oauth" => {
            let access = input.token.as_ref().ok_or_else(|| missing("token"))?;
            let refresh = input.refresh.as_ref().unwrap_or(access);
            let expires = input.expires.unwrap_or(NEVER);
            Ok(json!({"type": "oauth", "access": access, "refresh": refresh, "expires": expires}))
        }
        other => {
            Err(Error::new(Kind::InvalidInput, format!("`type` is `{other}`, expected `api` or `oauth`"))
                .hint("choose one of them"))
        }
    }
}
