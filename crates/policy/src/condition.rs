//! Conditions on a call, written in CEL: compiled once, bounded in what they may cost.

mod check;
mod value;

use std::cell::OnceCell;
use std::sync::{Arc, LazyLock};

use cel::{Context, Env, Program, Value};
use toolgate_core::{Call, Target};
use toolgate_wire::{Edit, Raw, meta};

use crate::suggest::shown;

pub(crate) use check::BadCondition;
use check::{Shape, VARIABLES};

/// The longest condition.
const LONGEST: usize = 1000;

/// The stack that reading one may take; most of it is never touched.
const STACK: usize = 64 << 20;

/// The most bytes of arguments that a condition is given.
const MOST_BYTES: usize = 64 * 1024;

/// The most values in the arguments, by how deep loops over them are nested: what a caller can make a condition cost
/// stays in the milliseconds.
const MOST_VALUES: [usize; 3] = [10_000, 1000, 100];

/// Without the optional parts of the language, which nobody needs for a condition.
static ENV: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib().with_optional_support(false)));

/// A condition that was found to be one.
#[derive(Debug)]
pub(crate) struct Condition {
    program: Program,
    shape: Shape,
}

impl Condition {
    /// Reads a condition.
    pub(crate) fn compile(text: &str) -> Result<Self, BadCondition> {
        if text.len() > LONGEST {
            return Err(BadCondition::new(format!("is longer than {LONGEST} bytes"), "make two rules of it"));
        }
        check::brackets(text)?;
        // The parser takes kilobytes of stack for every level, more than a worker has to spare.
        let read = || {
            let program = ENV.compile(text).map_err(|errors| BadCondition::unread(&errors))?;
            let shape = check::check(&program)?;
            Ok(Self { program, shape })
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read);
            thread
                .ok()
                .and_then(|thread| thread.join().ok())
                .unwrap_or_else(|| Err(BadCondition::unreadable()))
        })
    }

    /// Whether it holds; `Err` says why that cannot be told.
    pub(crate) fn holds(&self, facts: &Facts<'_>) -> Result<bool, String> {
        let mut context = Context::with_env(Arc::clone(&ENV));
        let used = VARIABLES.into_iter().zip(self.shape.uses).filter(|(_, used)| *used);
        for (name, _) in used {
            let value = match name {
                "args" => facts.args(MOST_VALUES[self.shape.nesting])?,
                "principal" => text(facts.principal),
                "roles" => Value::List(Arc::new(facts.roles.iter().map(|role| text(role)).collect())),
                "target" => text(facts.target),
                "kind" => text(facts.kind),
                "source" => text(facts.source),
                _ => text(facts.client),
            };
            context.add_variable_from_value(name, value);
        }
        match self.program.execute(&context) {
            Ok(Value::Bool(holds)) => Ok(holds),
            Ok(other) => Err(format!("it gives a {} where a truth value is needed", other.type_of())),
            Err(error) => Err(shown(&told(&error))),
        }
    }
}

/// What a condition is asked about.
pub(crate) struct Facts<'a> {
    pub(crate) principal: &'a str,
    pub(crate) roles: &'a [&'a str],
    pub(crate) target: &'a str,
    pub(crate) kind: &'static str,
    pub(crate) source: &'a str,
    pub(crate) client: &'a str,
    pub(crate) arguments: &'a Arguments<'a>,
}

impl Facts<'_> {
    fn args(&self, most: usize) -> Result<Value, String> {
        let (value, count) = self.arguments.read()?;
        if *count > most {
            return Err(format!("the arguments hold more than {most} values"));
        }
        Ok(value.clone())
    }
}

/// The arguments of a call, found and read when a condition first needs them.
pub(crate) struct Arguments<'a> {
    from: Found<'a>,
    read: OnceCell<Result<(Value, usize), String>>,
}

enum Found<'a> {
    Raw(Raw),
    In(&'a Call),
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(raw: Raw) -> Self {
        Self { from: Found::Raw(raw), read: OnceCell::new() }
    }

    pub(crate) fn of(call: &'a Call) -> Self {
        Self { from: Found::In(call), read: OnceCell::new() }
    }

    fn read(&self) -> Result<&(Value, usize), String> {
        let read = self.read.get_or_init(|| {
            let raw = match &self.from {
                Found::Raw(raw) => raw.clone(),
                Found::In(call) => args_of(call).unwrap_or(Raw::EMPTY_OBJECT),
            };
            if raw.as_bytes().len() > MOST_BYTES {
                return Err(format!("the arguments are larger than {MOST_BYTES} bytes"));
            }
            value::of(&raw).map_err(|_| "the arguments cannot be read".to_owned())
        });
        read.as_ref().map_err(Clone::clone)
    }
}

/// What a condition sees of a call as `args`: the arguments of a tool or a prompt, the one that is completed, all params of
/// a method that only another server knows, or an empty object.
fn args_of(call: &Call) -> Option<Raw> {
    match &call.target {
        Target::Tool(_) | Target::Prompt(_) => {
            call.arguments.clone().or_else(|| call.params.get("arguments"))
        }
        Target::Completion(_) => call.params.get("argument"),
        // Nobody here knows which of them are arguments.
        Target::Method(_) => Some(Edit::new(&call.params).remove(meta::META).finish()),
        Target::Resource(_) | Target::Subscribe(_) | Target::Unsubscribe(_) | Target::Task(..) => None,
    }
}

fn text(text: &str) -> Value {
    Value::String(Arc::new(text.to_owned()))
}

/// What went wrong, without the values: they may be long, or secrets.
#[expect(clippy::wildcard_enum_match_arm, reason = "the crate may add more, and some are out of use already")]
fn told(error: &cel::ExecutionError) -> String {
    use cel::ExecutionError as E;
    match error {
        E::NoSuchKey(key) => format!("there is no `{key}`; `has(…)` asks whether there is"),
        E::NoSuchOverload(overload) => {
            format!("`{}` does not work on {}", overload.function(), overload.argument_types().join(" and "))
        }
        E::UnexpectedType { got, want } => format!("it found a {got} where a {want} is needed"),
        E::IndexOutOfBounds(_) => "a list has no item at that place".into(),
        E::DivisionByZero(_) | E::RemainderByZero(_) => "it divides by zero".into(),
        E::Overflow(..) => "a number became too large".into(),
        E::ValuesNotComparable(..) => "it compares values of different types".into(),
        E::UndeclaredReference(name) => format!("there is no `{name}`"),
        _ => "it cannot be worked out".into(),
    }
}

#[cfg(test)]
mod tests;
