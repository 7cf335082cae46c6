//! The language: a script is parsed, evaluated and answered for, with a way outside that somebody else holds.

mod depth;
mod host;
mod load;
mod modules;
mod value;

use std::cell::Cell;
use std::rc::Rc;

use starlark::codemap::FileSpanRef;
use starlark::environment::{Globals, Module};
use starlark::eval::{BeforeStmtFuncDyn, Evaluator};
use starlark::syntax::{AstModule, Dialect};
use starlark::values::Value;
use starlark::values::dict::AllocDict;
use toolgate_wire::Raw;

use crate::talk::{Order, Printed, RunLimits};
use host::Host;
use load::Loads;

pub(crate) use host::Outside;

/// How deep functions may call each other.
const CALLS: usize = 200;

/// The language, ready to run scripts.
pub(crate) struct Language {
    globals: Globals,
}

/// What became of a script: its answer or what it failed with, and what it printed either way.
pub(crate) struct Finished {
    pub(crate) outcome: Result<Raw, String>,
    pub(crate) printed: Printed,
}

impl Language {
    pub(crate) fn new() -> Self {
        Self { globals: modules::globals() }
    }

    /// Runs a script to its end.
    pub(crate) fn run(&self, order: &Order, outside: &dyn Outside) -> Finished {
        let host = Host::new(outside, order.limits.output);
        let outcome = self.evaluate(order, &host);
        Finished { outcome, printed: host.take_printed() }
    }

    fn evaluate(&self, order: &Order, host: &Host<'_>) -> Result<Raw, String> {
        let ast = parsed(&order.name, &order.source)?;
        let loads = Loads::resolve(self, &ast, host, order.limits)?;
        let module = Module::new();
        let mut eval = Evaluator::new(&module);
        eval.set_loader(&loads);
        prepare(&mut eval, host, order.limits)?;
        eval.eval_module(ast, &self.globals).map_err(told)?;
        let value = answer(&module, &mut eval, order)?;
        host::result(value, &eval, order.limits.output)
            .map_err(|unfit| format!("the result cannot be answered with: {unfit}"))
    }
}

/// Reads a source, unless it is so deep that reading it is dangerous.
fn parsed(name: &str, source: &str) -> Result<AstModule, String> {
    if let Some((line, column)) = depth::too_deep(source) {
        let most = depth::MOST;
        return Err(format!("{name}:{line}:{column}: the source nests more than {most} levels deep"));
    }
    AstModule::parse(name, source.to_owned(), &dialect()).map_err(|error| {
        // Behind the last line there is none to show, and the place would be told as that of the first.
        let bare = AstModule::parse(name, source.trim_end().to_owned(), &dialect());
        told(bare.err().unwrap_or(error))
    })
}

fn dialect() -> Dialect {
    Dialect {
        enable_top_level_stmt: true,
        enable_f_strings: true,
        enable_keyword_only_arguments: true,
        enable_positional_only_arguments: true,
        enable_load_reexport: false,
        ..Dialect::Standard
    }
}

fn prepare<'v, 'a, 'e>(
    eval: &mut Evaluator<'v, 'a, 'e>,
    host: &'a Host<'e>,
    limits: RunLimits,
) -> Result<(), String>
where
    'a: 'e,
{
    eval.extra = Some(host);
    eval.set_print_handler(host);
    let steps: Box<dyn BeforeStmtFuncDyn<'a, 'e>> =
        Box::new(Steps { made: host.steps.clone(), most: limits.steps });
    eval.before_stmt_for_dap(steps.into());
    eval.set_max_callstack_size(CALLS).map_err(|error| error.to_string())
}

/// Counts the statements of a script. What computes long without any is ended by the limits of the process.
struct Steps {
    made: Rc<Cell<u64>>,
    most: u64,
}

impl<'a, 'e: 'a> BeforeStmtFuncDyn<'a, 'e> for Steps {
    fn call<'v>(&mut self, _: FileSpanRef<'_>, _: &mut Evaluator<'v, 'a, 'e>) -> starlark::Result<()> {
        if self.made.get() >= self.most {
            let most = self.most;
            return Err(starlark::Error::new_other(anyhow::anyhow!(
                "the script made more than {most} steps"
            )));
        }
        self.made.update(|made| made + 1);
        Ok(())
    }
}

/// What the script answers with: what the function returns, or `main()`, or `result`, or its public values.
fn answer<'v>(
    module: &'v Module,
    eval: &mut Evaluator<'v, '_, '_>,
    order: &Order,
) -> Result<Value<'v>, String> {
    let is_function = |value: &Value<'v>| value.get_type() == "function";
    if let Some(name) = &order.function {
        let Some(value) = module.get(name).filter(|_| !name.starts_with('_')) else {
            return Err(format!("there is no function `{name}` in `{}`{}", order.name, there_is(module)));
        };
        if !is_function(&value) {
            return Err(format!("`{name}` is no function but a value of type `{}`", value.get_type()));
        }
        return call(value, name, eval, order.args.as_ref());
    }
    if let Some(main) = module.get("main").filter(is_function) {
        return call(main, "main", eval, order.args.as_ref());
    }
    if order.args.is_some() {
        return Err(format!("`{}` has no function `main` that could take `args`", order.name));
    }
    if let Some(result) = module.get("result") {
        return Ok(result);
    }
    let public = module.names().filter_map(|name| Some((name.as_str(), module.get(name.as_str())?)));
    let data = public.filter(|(name, value)| !name.starts_with('_') && !is_function(value));
    Ok(module.heap().alloc(AllocDict(data.collect::<Vec<_>>())))
}

/// The functions of a script, for whoever asked for another.
fn there_is(module: &Module) -> String {
    let is_function = |name: &str| module.get(name).is_some_and(|value| value.get_type() == "function");
    let names = module.names().map(|name| name.as_str().to_owned());
    let mut names: Vec<String> = names
        .filter(|name| !name.starts_with('_') && is_function(name))
        .map(|name| format!("`{name}`"))
        .collect();
    names.sort();
    match names.is_empty() {
        true => "; it has none".into(),
        false => format!("; there is {}", names.join(", ")),
    }
}

fn call<'v>(
    function: Value<'v>,
    name: &str,
    eval: &mut Evaluator<'v, '_, '_>,
    args: Option<&Raw>,
) -> Result<Value<'v>, String> {
    let value = |raw: &Raw| value::alloc(raw, eval.heap());
    let (mut positional, mut named) = (Vec::new(), Vec::new());
    match args {
        None => {}
        Some(args) if args.is_object() => {
            for (key, entry) in args.entries() {
                named.push((key.into_owned(), value(&entry)?));
            }
        }
        Some(args) => {
            for item in args.items() {
                positional.push(value(&item)?);
            }
        }
    }
    let named: Vec<(&str, Value<'v>)> = named.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let names: Vec<&str> = named.iter().map(|(key, _)| *key).collect();
    if let Some(spec) = function.parameters_spec()
        && !spec.can_fill_with_args(positional.len(), &names)
    {
        return Err(format!("`args` do not fit: the function is `{name}({})`", spec.parameters_str()));
    }
    eval.eval_function(function, &positional, &named).map_err(told)
}

/// An error with its traceback and its place.
fn told(error: starlark::Error) -> String {
    format!("{error}").trim_end().to_owned()
}

#[cfg(test)]
mod tests;
