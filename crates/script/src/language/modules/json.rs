//! The module `json`: text to values, and back.

use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::Value;

use crate::language::host::outgoing;
use crate::language::value::decode as read;

#[starlark_module]
pub(super) fn module(builder: &mut GlobalsBuilder) {
    /// The value as JSON text.
    fn encode<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> anyhow::Result<String> {
        Ok(outgoing(value, eval)?.as_str().to_owned())
    }

    /// The value of a JSON text; integers stay integers.
    fn decode<'v>(
        #[starlark(require = pos)] text: &str,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> anyhow::Result<Value<'v>> {
        read(text, eval.heap()).map_err(|why| anyhow::anyhow!("{why}"))
    }
}
