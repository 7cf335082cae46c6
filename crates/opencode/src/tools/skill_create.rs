//! `opencode_skill_create`: a new skill for OpenCode.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};
use toolgate_host::files::{WriteMode, WriteOptions};
use toolgate_host::{RelPath, Root};

use super::files::refused;
use crate::pack::Opencode;
use crate::settings::{Scope, quiet, reload};

pub(super) struct SkillCreate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Its name: lower case words joined by `-`, at most 64 characters.
    #[schemars(regex(pattern = r"^[a-z0-9]+(-[a-z0-9]+)*$"), length(max = 64))]
    name: String,
    /// What it is for, on one line.
    #[schemars(length(min = 1, max = 1024))]
    description: String,
    /// What it says, as Markdown.
    content: String,
    /// Whether it is for all projects, and not for this one alone.
    #[serde(default)]
    global: bool,
    /// Whether sessions that work now may be stopped by it.
    #[serde(default)]
    force: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The name of the skill.
    name: String,
    /// The file it is in.
    location: String,
    /// Whether OpenCode lists it now.
    listed: bool,
}

impl Tool<Opencode> for SkillCreate {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_skill_create",
        title: "Create a skill",
        description: "Write a new skill for OpenCode, and see that it lists it.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        check(&input)?;
        let project = pack.project(None)?;
        let link = pack.link().await?;
        let scope = if input.global { Scope::Global } else { Scope::Project };
        if !input.force {
            quiet(&link, scope, &project.path).await?;
        }
        let (folder, below) = if input.global {
            let paths = link.client().get(&["path"]).within(&project.path).send().await?;
            (PathBuf::from(super::text(&paths["config"])), "skills")
        } else {
            (project.path.clone(), ".opencode/skills")
        };
        let path = format!("{below}/{}/SKILL.md", input.name);
        let failed = |error| refused("name", &input.name, error);
        let root = Root::create(&folder).map_err(failed)?;
        let relative = RelPath::parse(&path, "project").map_err(failed)?;
        let options = WriteOptions {
            create_dirs: true,
            mode: WriteMode::CreateNew,
            max_bytes: 1 << 20,
            protected: |_| false,
        };
        // A text in quotes of JSON is one in YAML too.
        let description = serde_json::Value::from(input.description.as_str());
        let text =
            format!("---\nname: {}\ndescription: {description}\n---\n\n{}\n", input.name, input.content);
        root.write(&relative, text.into_bytes(), options).await.map_err(failed)?;
        reload(&link, scope, &project.path).await?;
        let skills = link.client().get(&["skill"]).within(&project.path).send().await?;
        if !skills.as_array().into_iter().flatten().any(|skill| skill["name"] == input.name.as_str()) {
            let words = format!("`{path}` is written, but OpenCode does not list it");
            return Err(
                Error::new(Kind::Upstream, words).hint("call `opencode_skill_list` to see what it lists")
            );
        }
        let location = folder.join(path).to_string_lossy().into_owned();
        Ok(Json(Output { name: input.name, location, listed: true }))
    }
}

fn check(input: &Input) -> Result<()> {
    let word =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    if input.name.len() > 64 || !input.name.split('-').all(word) {
        let words = format!(
            "`name` is `{}`, expected lower case words joined by `-`, at most 64 letters",
            input.name
        );
        return Err(Error::new(Kind::InvalidInput, words).hint("choose a name such as `release-notes`"));
    }
    if input.description.trim().is_empty() || input.description.chars().count() > 1024 {
        let words = "`description` must have 1 to 1024 characters";
        return Err(Error::new(Kind::InvalidInput, words).hint("say on one line what the skill is for"));
    }
    Ok(())
}
