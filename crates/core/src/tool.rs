//! A tool is one file: its input, its output, what it says of itself, and what it does.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use toolgate_wire::Raw;
use toolgate_wire::headers::header_params;

use crate::{Error, InputCheck, Kind, Reply, Result, RunHandle, ToolItem};

/// What a tool says of itself.
#[derive(Debug, Clone, Copy)]
pub struct ToolSpec {
    /// Its name: lower case words joined by `_`, the pack's name first.
    pub name: &'static str,
    /// A name for people.
    pub title: &'static str,
    /// One sentence on what it does.
    pub description: &'static str,
    /// What it does to the world.
    pub hints: Hints,
}

/// What a tool does to the world, as clients show it to people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol has these four")]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may undo or overwrite.
    pub destructive: bool,
    /// Twice is the same as once.
    pub idempotent: bool,
    /// It reaches beyond this machine.
    pub open_world: bool,
}

impl Hints {
    /// Reads local state.
    pub const READ_ONLY: Self = Self::new(true, false, true, false);
    /// Reads from external services.
    pub const READ_ONLY_EXTERNAL: Self = Self::new(true, false, false, true);
    /// Changes local state.
    pub const WRITE_LOCAL: Self = Self::new(false, true, false, false);
    /// Changes external services.
    pub const WRITE_EXTERNAL: Self = Self::new(false, true, false, true);
    /// Creates something new.
    pub const CREATE: Self = Self::new(false, false, false, true);

    const fn new(read_only: bool, destructive: bool, idempotent: bool, open_world: bool) -> Self {
        Self { read_only, destructive, idempotent, open_world }
    }
}

impl Serialize for Hints {
    // Only what means something: of a tool that reads, the protocol asks for nothing about what it writes; one that writes
    // is taken for one that is not idempotent, and any for one that reaches beyond this machine.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("readOnlyHint", &self.read_only)?;
        if !self.read_only {
            map.serialize_entry("destructiveHint", &self.destructive)?;
            if self.idempotent {
                map.serialize_entry("idempotentHint", &true)?;
            }
        }
        if !self.open_world {
            map.serialize_entry("openWorldHint", &false)?;
        }
        map.end()
    }
}

/// Whether a tool runs as a task where the client understands tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TaskMode {
    /// It answers at once, unless it detaches its run by itself.
    #[default]
    Never,
    /// As a task where it can, else at once.
    Optional,
    /// As a task or not at all.
    Required,
}

/// A built-in tool of the pack `P`.
pub trait Tool<P>: Send + Sync + 'static {
    /// Its arguments.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// Its answer.
    type Output: Reply;
    /// What it says of itself.
    const SPEC: ToolSpec;
    /// Whether it runs as a task.
    const TASK: TaskMode = TaskMode::Never;

    /// Does it.
    fn run(
        &self,
        pack: &P,
        run: &RunHandle,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output>> + Send;
}

type Calling = Pin<Box<dyn Future<Output = Result<Raw>> + Send>>;
type Caller<P> = Box<dyn Fn(Arc<P>, RunHandle, Raw) -> Calling + Send + Sync>;

/// A tool of the pack `P`, whatever its input and output.
pub struct AnyTool<P> {
    pub(crate) item: Arc<ToolItem>,
    pub(crate) call: Caller<P>,
}

impl<P> AnyTool<P> {
    /// Its definition as it is listed.
    pub fn item(&self) -> &Arc<ToolItem> {
        &self.item
    }
}

/// Puts a tool on a pack's list.
pub fn tool<P: Send + Sync + 'static, T: Tool<P>>(tool: T) -> AnyTool<P> {
    let tool = Arc::new(tool);
    let call = move |pack: Arc<P>, run: RunHandle, arguments: Raw| -> Calling {
        let tool = tool.clone();
        Box::pin(async move {
            let input = arguments.to::<T::Input>().map_err(unfit)?;
            match T::TASK {
                TaskMode::Never => {}
                TaskMode::Required if !run.may_be_task() => {
                    return Err(crate::task::undeclared());
                }
                TaskMode::Optional | TaskMode::Required => Box::pin(run.detach()).await?,
            }
            tool.run(&pack, &run, input).await?.into_result(run.compact())
        })
    };
    AnyTool { item: Arc::new(item::<P, T>()), call: Box::new(call) }
}

fn unfit(error: serde_json::Error) -> Error {
    let text = error.to_string();
    // The place in the text is ours, not the caller's.
    let text = text.split(" at line ").next().unwrap_or_default().to_owned();
    Error::new(Kind::InvalidInput, text).because(error)
}

fn item<P, T: Tool<P>>() -> ToolItem {
    let spec = T::SPEC;
    let input = input_schema::<T::Input>();
    let mut definition = json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "inputSchema": input,
    });
    if let Some(output) = T::Output::schema(&mut settings().into_generator()) {
        definition["outputSchema"] = plain(output);
    }
    definition["annotations"] = json!(spec.hints);
    ToolItem {
        name: name(spec.name),
        title: Some(spec.title.to_owned()),
        raw: Raw::of(&definition),
        hints: spec.hints,
        headers: header_params(&Raw::of(&input)).unwrap_or_default(),
        input: Some(InputCheck::new(input)),
        // Where the client decides, the hub runs any of them as a task: it only keeps the answer.
        task: if T::TASK == TaskMode::Required { TaskMode::Required } else { TaskMode::Optional },
    }
}

#[expect(clippy::expect_used, reason = "the names are constants; a house rule test reads all of them")]
fn name(text: &'static str) -> crate::ToolName {
    text.parse().expect("a built-in tool has a valid name")
}

fn input_schema<T: JsonSchema>() -> Value {
    let mut schema = plain(settings().into_generator().into_root_schema_for::<T>().to_value());
    // A tool without parameters still takes an object.
    schema["type"] = json!("object");
    if schema.get("properties").is_none() {
        schema["properties"] = json!({});
    }
    schema
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}

/// Leaves out what only Rust knows: the name of the type, and the formats of its numbers, which make the
/// validators of other languages complain.
fn plain(mut schema: Value) -> Value {
    if let Some(object) = schema.as_object_mut() {
        object.shift_remove("title");
    }
    without_number_formats(&mut schema);
    schema
}

fn without_number_formats(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let format = object.get("format").and_then(Value::as_str);
            if format.is_some_and(|format| {
                ["int", "uint", "float", "double"].iter().any(|kind| format.starts_with(kind))
            }) {
                object.shift_remove("format");
            }
            object.values_mut().for_each(without_number_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(without_number_formats),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
