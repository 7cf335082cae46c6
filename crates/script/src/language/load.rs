//! `load()`: other approved scripts, fetched and evaluated before the one that needs them.

use std::cell::RefCell;
use std::collections::HashMap;

use starlark::environment::{FrozenModule, Module};
use starlark::eval::{Evaluator, FileLoader};
use starlark::syntax::AstModule;

use super::host::Host;
use super::{Language, parsed, prepare, told};
use crate::talk::{Ask, RunLimits};

/// How many scripts one may load, and those in turn.
const MOST: usize = 32;

/// The scripts that a script loads, ready.
pub(super) struct Loads {
    modules: RefCell<HashMap<String, FrozenModule>>,
}

impl Loads {
    /// Fetches and evaluates all that a source loads, directly or not.
    pub(super) fn resolve(
        language: &Language,
        ast: &AstModule,
        host: &Host<'_>,
        limits: RunLimits,
    ) -> Result<Self, String> {
        let this = Self { modules: RefCell::default() };
        this.all(language, ast, (host, limits), &mut Vec::new())?;
        Ok(this)
    }

    fn all(
        &self,
        language: &Language,
        ast: &AstModule,
        with: (&Host<'_>, RunLimits),
        way: &mut Vec<String>,
    ) -> Result<(), String> {
        for load in ast.loads() {
            let name = load.module_id;
            if self.modules.borrow().contains_key(name) {
                continue;
            }
            if way.iter().any(|above| above == name) {
                return Err(format!("`{name}` loads itself: {}", way.join(" loads ")));
            }
            if way.len() + self.modules.borrow().len() >= MOST {
                return Err(format!("more than {MOST} scripts would be loaded"));
            }
            way.push(name.to_owned());
            let module = self.one(language, name, with, way)?;
            way.pop();
            self.modules.borrow_mut().insert(name.to_owned(), module);
        }
        Ok(())
    }

    fn one(
        &self,
        language: &Language,
        name: &str,
        (host, limits): (&Host<'_>, RunLimits),
        way: &mut Vec<String>,
    ) -> Result<FrozenModule, String> {
        let source = host.outside.ask(Ask::Load { name: name.to_owned() })?;
        let source = source.as_string().ok_or("a script that is loaded is no text")?;
        let ast = parsed(name, &source)?;
        self.all(language, &ast, (host, limits), way)?;
        let module = Module::new();
        {
            let mut eval = Evaluator::new(&module);
            eval.set_loader(self);
            prepare(&mut eval, host, limits)?;
            eval.eval_module(ast, &language.globals).map_err(told)?;
        }
        module.freeze().map_err(|error| format!("`{name}` cannot be loaded: {error:?}"))
    }
}

impl FileLoader for Loads {
    fn load(&self, path: &str) -> starlark::Result<FrozenModule> {
        let found = self.modules.borrow().get(path).cloned();
        found.ok_or_else(|| starlark::Error::new_other(anyhow::anyhow!("`{path}` was not loaded")))
    }
}
