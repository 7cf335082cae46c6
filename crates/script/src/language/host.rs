//! What the modules of a script share: the way outside, what it printed, and the limits.
#![expect(
    unsafe_code,
    unused_qualifications,
    reason = "the derive of `ProvidesStaticType` implements an unsafe trait, and checks its claim"
)]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use starlark::PrintHandler;
use starlark::any::ProvidesStaticType;
use starlark::eval::Evaluator;
use starlark::values::Value;
use toolgate_wire::Raw;

use super::value::{self, Unfit};
use crate::talk::{Ask, Printed};

/// The most bytes that a script may print.
const PRINTED: usize = 64 * 1024;

/// The most bytes of the names that a script asks for anything by: an address with its headers, a tool, a secret.
const NAMES: usize = 64 * 1024;

/// The way outside: whatever a script needs that is not computing.
pub(crate) trait Outside {
    /// Asks for something and waits for it; or tells why not.
    fn ask(&self, ask: Ask) -> Result<Raw, String>;
}

/// What the modules of a script share.
#[derive(ProvidesStaticType)]
pub(super) struct Host<'a> {
    pub(super) outside: &'a dyn Outside,
    /// The most bytes that go out at once.
    pub(super) output: usize,
    /// How many steps were made, in what is loaded too.
    pub(super) steps: Rc<Cell<u64>>,
    printed: RefCell<Printed>,
}

impl<'a> Host<'a> {
    pub(super) fn new(outside: &'a dyn Outside, output: usize) -> Self {
        Self { outside, output, steps: Rc::default(), printed: RefCell::default() }
    }

    /// The host of the script that is being evaluated.
    pub(super) fn of<'h>(eval: &Evaluator<'_, 'h, 'a>) -> anyhow::Result<&'h Self> {
        let host = eval.extra.and_then(|extra| extra.downcast_ref::<Self>());
        host.ok_or_else(|| anyhow::anyhow!("this cannot be used here"))
    }

    pub(super) fn ask(&self, ask: Ask) -> anyhow::Result<Raw> {
        if ask.names() > NAMES {
            anyhow::bail!("what is asked for has a name or an address of more than {NAMES} bytes");
        }
        self.outside.ask(ask).map_err(|why| anyhow::anyhow!("{why}"))
    }

    /// What was printed so far, once.
    pub(super) fn take_printed(&self) -> Printed {
        self.printed.take()
    }
}

impl PrintHandler for Host<'_> {
    fn println(&self, text: &str) -> starlark::Result<()> {
        let mut printed = self.printed.borrow_mut();
        let room = PRINTED.saturating_sub(printed.text.len());
        if text.len() < room {
            printed.text.push_str(text);
            printed.text.push('\n');
        } else {
            // What is longer is cut where a letter ends, and nothing follows.
            let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            if !printed.cut {
                printed.text.push_str(&text[..end]);
            }
            printed.cut = true;
        }
        Ok(())
    }
}

/// A value as JSON that goes outside.
pub(super) fn outgoing<'v>(value: Value<'v>, eval: &Evaluator<'v, '_, '_>) -> anyhow::Result<Raw> {
    let most = Host::of(eval)?.output;
    Ok(raw(value::encode(value, eval.heap(), most)?))
}

/// JSON that came from outside as a value.
pub(super) fn incoming<'v>(raw: &Raw, eval: &Evaluator<'v, '_, '_>) -> anyhow::Result<Value<'v>> {
    value::alloc(raw, eval.heap()).map_err(|why| anyhow::anyhow!("{why}"))
}

/// A result as JSON, or why it is none.
pub(super) fn result<'v>(value: Value<'v>, eval: &Evaluator<'v, '_, '_>, most: usize) -> Result<Raw, Unfit> {
    value::encode(value, eval.heap(), most).map(raw)
}

fn raw(text: String) -> Raw {
    Raw::trusted(text.into())
}
