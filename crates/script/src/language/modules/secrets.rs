//! The module `secrets`: those that the header of the script names, once it is approved.

use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::Value;

use crate::language::host::{Host, incoming};
use crate::talk::Ask;

#[starlark_module]
pub(super) fn module(builder: &mut GlobalsBuilder) {
    /// The value of a secret; `None` if there is none of this name.
    fn get<'v>(
        #[starlark(require = pos)] name: &str,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> anyhow::Result<Value<'v>> {
        let answer = Host::of(eval)?.ask(Ask::Secret { name: name.to_owned() })?;
        incoming(&answer, eval)
    }

    /// The names of the secrets that there are for this script.
    fn list<'v>(eval: &mut Evaluator<'v, '_, '_>) -> anyhow::Result<Value<'v>> {
        let answer = Host::of(eval)?.ask(Ask::Secrets)?;
        incoming(&answer, eval)
    }
}
