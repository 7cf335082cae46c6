//! Models by name, checked before OpenCode sees them: a wrong one would stick to its session.

use std::path::Path;

use serde_json::{Value, json};
use toolgate_core::{Error, Kind, Result};

use crate::answers::list;
use crate::client::Client;

/// A model as callers name it: `provider/model`, where the model's own name may have slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) provider: String,
    pub(crate) model: String,
}

impl Model {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match text.split_once('/') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                Ok(Self { provider: provider.into(), model: model.into() })
            }
            _ => {
                Err(Error::new(Kind::InvalidInput, format!("`model` is `{text}`, expected `provider/model`"))
                    .hint("call `opencode_model_list` to see the models"))
            }
        }
    }

    /// Fails unless OpenCode has it in this project.
    pub(crate) async fn check(&self, client: &Client, directory: &Path) -> Result<()> {
        let known = client.get(&["config", "providers"]).within(directory).send().await?;
        let providers = list(&known["providers"]);
        let found = providers.iter().find(|provider| provider["id"] == self.provider.as_str());
        let Some(provider) = found else {
            let ids = providers.iter().filter_map(|provider| provider["id"].as_str());
            return Err(self.unknown("provider", &self.provider, ids));
        };
        let models = provider["models"].as_object();
        if models.is_some_and(|models| models.contains_key(&self.model)) {
            return Ok(());
        }
        let ids = models.into_iter().flat_map(|models| models.keys().map(String::as_str));
        Err(self.unknown("model", &self.model, ids))
    }

    fn unknown<'a>(&self, what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Error {
        let words =
            format!("`model` is `{}/{}`, but OpenCode has no {what} `{name}`", self.provider, self.model);
        Error::new(Kind::InvalidInput, words).hint(match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`? `opencode_model_list` shows the models"),
            None => "call `opencode_model_list` to see the models".to_owned(),
        })
    }

    /// As a prompt names it.
    pub(crate) fn of_prompt(&self) -> Value {
        json!({"providerID": self.provider, "modelID": self.model})
    }

    /// As a new session names it.
    pub(crate) fn of_session(&self) -> Value {
        json!({"providerID": self.provider, "id": self.model})
    }
}

/// The known name that is most like the given one, if one is.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.map(|known| (strsim::jaro_winkler(name, known), known));
    scored.filter(|(score, _)| *score > 0.7).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_s_name_may_have_slashes() {
        #[track_caller]
        fn check(text: &str, expect: Option<(&str, &str)>) {
            let model = Model::parse(text).ok();
            let pair = model.as_ref().map(|model| (model.provider.as_str(), model.model.as_str()));
            assert_eq!(pair, expect, "{text}");
        }
        check("fake/fake-1", Some(("fake", "fake-1")));
        check("openrouter/anthropic/claude-x", Some(("openrouter", "anthropic/claude-x")));
        check("fake-1", None);
        check("/x", None);
        check("x/", None);
        check("", None);
    }
}
