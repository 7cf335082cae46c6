//! Prompts that hand common work to OpenCode: a review, an explanation, a change.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Error, Kind, PromptItem, Result};
use toolgate_wire::Raw;

/// An argument that is text and may be empty only where it is not required.
struct Argument {
    name: &'static str,
    description: &'static str,
    required: bool,
}

/// A prompt: what it is called, what it takes, and what it says.
struct Prompt {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    argument: Argument,
    /// Its text, in which `{}` stands for the argument.
    text: &'static str,
    /// Its text without the argument.
    plain: &'static str,
}

const PROJECT: Argument = Argument {
    name: "workingDirectory",
    description: "The absolute path of the project; by default the configured one.",
    required: false,
};

const ALL: [Prompt; 3] = [
    Prompt {
        name: "opencode_review",
        title: "Review with OpenCode",
        description: "Have OpenCode review changes without making any.",
        argument: Argument {
            name: "target",
            description: "What to review, such as a file or a commit; by default what is not committed.",
            required: false,
        },
        text: "Have OpenCode review {}. Call `opencode_agent_delegate` with the agent `plan`, which reads and changes \
               nothing, and ask it for mistakes, risks, missing tests and anything unclear, each with its file and line. \
               Check what it says against the files with `opencode_file_read`, then report what holds, the worst first.",
        plain: "Have OpenCode review what is not committed yet. See what that is with `opencode_file_status`. Then call \
                `opencode_agent_delegate` with the agent `plan`, which reads and changes nothing, and ask it for mistakes, \
                risks, missing tests and anything unclear, each with its file and line. Check what it says against the \
                files with `opencode_file_read`, then report what holds, the worst first.",
    },
    Prompt {
        name: "opencode_explain",
        title: "Explain with OpenCode",
        description: "Have OpenCode explain a part of the project without changing it.",
        argument: Argument {
            name: "subject",
            description: "What to explain, such as a file, a function or an error message.",
            required: true,
        },
        text: "Have OpenCode explain {}. Call `opencode_agent_delegate` with the agent `plan`, which reads and changes \
               nothing, and ask what it is for, how it works, what depends on it and what is easily misunderstood. Answer \
               with the explanation, and name the files and lines that it rests on.",
        plain: "",
    },
    Prompt {
        name: "opencode_implement",
        title: "Implement with OpenCode",
        description: "Have OpenCode make a change, and see what came of it.",
        argument: Argument {
            name: "task",
            description: "What to make or to change, and how to know that it is done.",
            required: true,
        },
        text: "Have OpenCode do this: {}\n\nFirst ask it for a plan: call `opencode_agent_delegate` with the agent `plan`. \
               Then have it carried out: call `opencode_session_prompt` in the same session, and say that the tests are to \
               be run. When it is done, read `opencode://session/{id}/diff` with the session's id and `opencode_file_status`, \
               and report what changed, whether the tests pass, and what is still open.",
        plain: "",
    },
];

/// What `prompts/list` shows.
pub(crate) fn listed() -> Vec<Arc<PromptItem>> {
    ALL.iter().map(Prompt::item).map(Arc::new).collect()
}

/// Answers `prompts/get`.
pub(crate) fn get(name: &str, arguments: &Raw) -> Result<Raw> {
    let prompt = ALL.iter().find(|prompt| prompt.name == name);
    let prompt = prompt.ok_or_else(|| Error::new(Kind::UnknownTarget, "unknown prompt"))?;
    let mut text = match prompt.argument.read(arguments)? {
        Some(words) => prompt.text.replacen("{}", &words, 1),
        None => prompt.plain.to_owned(),
    };
    if let Some(project) = PROJECT.read(arguments)? {
        text.push_str(&format!("\n\nGive every call `workingDirectory`: `{project}`."));
    }
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    Ok(Raw::of(&json!({"description": prompt.description, "messages": [message]})))
}

impl Prompt {
    fn item(&self) -> PromptItem {
        let raw = json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": [self.argument.definition(), PROJECT.definition()],
        });
        PromptItem { name: self.name.into(), raw: Raw::of(&raw) }
    }
}

impl Argument {
    fn definition(&self) -> Value {
        json!({"name": self.name, "description": self.description, "required": self.required})
    }

    /// What a caller gave; nothing where it may be left out.
    fn read(&self, arguments: &Raw) -> Result<Option<String>> {
        let wrong = |what: &str| {
            Error::new(
                Kind::InvalidParams,
                format!("the argument `{}` is {what}, expected a text", self.name),
            )
            .hint("see `prompts/list` for the arguments of this prompt")
        };
        let Some(value) = arguments.get(self.name).filter(|value| !value.is_null()) else {
            return if self.required { Err(wrong("missing")) } else { Ok(None) };
        };
        let text = value.as_string().ok_or_else(|| wrong("no text"))?;
        match text.trim() {
            "" if self.required => Err(wrong("empty")),
            "" => Ok(None),
            words => Ok(Some(words.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, arguments: Value) -> std::result::Result<String, Kind> {
        let got = get(name, &Raw::of(&arguments)).map_err(|error| error.kind())?;
        let got: Value = got.to().unwrap();
        Ok(got["messages"][0]["content"]["text"].as_str().unwrap().to_owned())
    }

    #[test]
    fn a_prompt_says_what_its_arguments_say() {
        assert!(text("opencode_review", json!({})).unwrap().contains("`opencode_file_status`"));
        assert!(text("opencode_review", json!({"target": " "})).unwrap().contains("not committed"));
        assert!(text("opencode_review", json!({"target": "src/a.rs"})).unwrap().contains("review src/a.rs."));
        let task = json!({"task": "add {} and `x`", "workingDirectory": "/p"});
        let said = text("opencode_implement", task).unwrap();
        assert!(said.starts_with("Have OpenCode do this: add {} and `x`\n"), "{said}");
        assert!(said.contains("opencode://session/{id}/diff") && said.contains("`/p`"), "{said}");
    }

    #[test]
    fn what_is_missing_or_no_text_is_named() {
        for (name, arguments, kind) in [
            ("opencode_explain", json!({}), Kind::InvalidParams),
            ("opencode_explain", json!({"subject": ""}), Kind::InvalidParams),
            ("opencode_implement", json!({"task": 7}), Kind::InvalidParams),
            ("opencode_review", json!({"workingDirectory": []}), Kind::InvalidParams),
            ("opencode_nothing", json!({}), Kind::UnknownTarget),
        ] {
            assert_eq!(text(name, arguments), Err(kind), "{name}");
        }
    }
}
