//! The module `tools`: those that the header of the script names, under the policy of whoever runs it.

use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::Value;
use starlark::values::dict::AllocDict;
use toolgate_wire::Raw;

use crate::language::host::{Host, incoming, outgoing};
use crate::talk::Ask;

#[starlark_module]
pub(super) fn module(builder: &mut GlobalsBuilder) {
    /// Calls a tool: its structured answer, else its text. Where the tool fails, the script fails.
    fn call<'v>(
        #[starlark(require = pos)] name: &str,
        #[starlark(default = starlark::values::none::NoneOr::None)] args: starlark::values::none::NoneOr<
            Value<'v>,
        >,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> anyhow::Result<Value<'v>> {
        let result = called(name, args.into_option(), eval)?;
        incoming(&result, eval)
    }

    /// Calls a tool: a dict with `ok`, and with `value` or `error`. Where the tool fails, the script goes on.
    fn try_call<'v>(
        #[starlark(require = pos)] name: &str,
        #[starlark(default = starlark::values::none::NoneOr::None)] args: starlark::values::none::NoneOr<
            Value<'v>,
        >,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> anyhow::Result<Value<'v>> {
        let (ok, key, value) = match called(name, args.into_option(), eval) {
            Ok(result) => (true, "value", incoming(&result, eval)?),
            Err(error) => (false, "error", eval.heap().alloc(error.to_string())),
        };
        Ok(eval.heap().alloc(AllocDict([("ok", Value::new_bool(ok)), (key, value)])))
    }

    /// The tools that this script may call: dicts with `name` and `description`.
    fn list<'v>(eval: &mut Evaluator<'v, '_, '_>) -> anyhow::Result<Value<'v>> {
        let answer = Host::of(eval)?.ask(Ask::Tools)?;
        incoming(&answer, eval)
    }
}

fn called<'v>(
    name: &str,
    arguments: Option<Value<'v>>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> anyhow::Result<Raw> {
    let arguments = match arguments {
        Some(arguments) => outgoing(arguments, eval)?,
        None => Raw::EMPTY_OBJECT,
    };
    if !arguments.is_object() {
        anyhow::bail!(
            "the arguments of a tool are a dict, such as `tools.call(\"{name}\", {{\"path\": \"a\"}})`"
        );
    }
    Host::of(eval)?.ask(Ask::Tool { name: name.to_owned(), arguments })
}
