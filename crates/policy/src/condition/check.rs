//! What is found out about a condition before it is ever asked: unknown words, and how much it loops.

use cel::common::ast::{ComprehensionExpr, EntryExpr, Expr, IdedExpr};
use cel::{ParseErrors, Program};

use super::MOST_VALUES;
use crate::suggest::did_you_mean;

/// What a condition can ask about.
pub(super) const VARIABLES: [&str; 7] = ["args", "principal", "roles", "target", "kind", "source", "client"];

/// How deep a condition may be nested; working it out takes stack for every level.
const DEEPEST: usize = 32;

/// Names of types, for `type(args.x) == string`.
const TYPES: [&str; 9] = ["bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type"];

/// What a condition can call. Operators have names that nobody can write.
const FUNCTIONS: [&str; 12] = [
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "string",
    "int",
    "uint",
    "double",
    "bool",
    "bytes",
    "type",
    "dyn",
];

/// Why a condition is none, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadCondition {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl BadCondition {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    pub(super) fn unreadable() -> Self {
        Self::new("cannot be read", "write it in a simpler way")
    }

    /// What the parser found first; the rest mostly follows from it.
    pub(super) fn unread(errors: &ParseErrors) -> Self {
        let hint = "a condition is CEL, for instance `args.path.startsWith(\"/tmp/\")`";
        let Some(first) = errors.errors.iter().min_by_key(|error| error.pos) else {
            return Self::new("cannot be read", hint);
        };
        let message = first.msg.trim_start_matches("Syntax error: ").replace('\n', " ");
        let (line, column) = first.pos;
        let line = if line > 1 { format!("line {line}, ") } else { String::new() };
        Self::new(format!("cannot be read at {line}character {}: {message}", column.max(1)), hint)
    }
}

/// What is known of a condition.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Shape {
    /// Which of the variables it asks for.
    pub(super) uses: [bool; VARIABLES.len()],
    /// How deep loops are nested.
    pub(super) nesting: usize,
}

/// Refuses what is nested deeper than any condition has to be, before it is read.
pub(super) fn brackets(text: &str) -> Result<(), BadCondition> {
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Err(too_deep());
        }
    }
    Ok(())
}

fn too_deep() -> BadCondition {
    BadCondition::new(format!("is nested deeper than {DEEPEST}"), "make two rules of it")
}

/// Refuses words that nobody knows, and loops that cost too much.
pub(super) fn check(program: &Program) -> Result<Shape, BadCondition> {
    let mut walk = Walk { program, shape: Shape::default(), names: Vec::new(), loops: 0, depth: 0 };
    walk.expression(program.expression())?;
    Ok(walk.shape)
}

struct Walk<'a> {
    program: &'a Program,
    shape: Shape,
    /// The names that loops around here have given.
    names: Vec<&'a str>,
    loops: usize,
    depth: usize,
}

impl<'a> Walk<'a> {
    fn expression(&mut self, at: &'a IdedExpr) -> Result<(), BadCondition> {
        if self.depth > DEEPEST {
            return Err(too_deep());
        }
        self.depth += 1;
        self.inner(at)?;
        self.depth -= 1;
        Ok(())
    }

    fn inner(&mut self, at: &'a IdedExpr) -> Result<(), BadCondition> {
        match &at.expr {
            Expr::Unspecified | Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => self.name(at, name),
            Expr::Select(select) => self.expression(&select.operand),
            Expr::List(list) => list.elements.iter().try_for_each(|item| self.expression(item)),
            Expr::Map(map) => map.entries.iter().try_for_each(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => {
                    self.expression(&entry.key)?;
                    self.expression(&entry.value)
                }
                EntryExpr::StructField(field) => self.expression(&field.value),
            }),
            Expr::Call(call) => {
                self.function(at, &call.func_name)?;
                call.target.iter().try_for_each(|target| self.expression(target))?;
                call.args.iter().try_for_each(|argument| self.expression(argument))
            }
            Expr::Comprehension(each) => {
                self.expression(&each.iter_range)?;
                self.expression(&each.accu_init)?;
                self.body(each)
            }
            Expr::Struct(message) => Err(BadCondition::new(
                format!("makes a `{}`{}, which does not exist", message.type_name, self.place(at)),
                "use numbers, strings, lists and maps",
            )),
        }
    }

    /// What a loop does again and again.
    fn body(&mut self, each: &'a ComprehensionExpr) -> Result<(), BadCondition> {
        let outer = self.names.len();
        self.names.extend([each.iter_var.as_str(), each.accu_var.as_str()]);
        self.names.extend(each.iter_var2.as_deref());
        self.loops += 1;
        self.shape.nesting = self.shape.nesting.max(self.loops);
        if self.loops >= MOST_VALUES.len() {
            let most = MOST_VALUES.len() - 1;
            return Err(BadCondition::new(
                format!("has loops more than {most} deep"),
                "what costs that much has no place before every call",
            ));
        }
        for part in [&each.loop_cond, &each.loop_step, &each.result] {
            self.expression(part)?;
        }
        self.loops -= 1;
        self.names.truncate(outer);
        Ok(())
    }

    fn name(&mut self, at: &IdedExpr, name: &str) -> Result<(), BadCondition> {
        if self.names.contains(&name) || name.starts_with('@') || TYPES.contains(&name) {
            return Ok(());
        }
        if let Some(place) = VARIABLES.iter().position(|known| *known == name) {
            self.shape.uses[place] = true;
            return Ok(());
        }
        let otherwise = "there are `args`, `principal`, `roles`, `target`, `kind`, `source` and `client`";
        let hint = did_you_mean(name, VARIABLES.into_iter().chain(self.names.iter().copied()), otherwise);
        Err(BadCondition::new(format!("asks for `{name}`{}, which does not exist", self.place(at)), hint))
    }

    fn function(&self, at: &IdedExpr, name: &str) -> Result<(), BadCondition> {
        let operator = !name.starts_with(|first: char| first.is_ascii_alphabetic());
        if operator || FUNCTIONS.contains(&name) {
            return Ok(());
        }
        let otherwise =
            format!("there are {} and the operators", FUNCTIONS.map(|name| format!("`{name}`")).join(", "));
        let hint = did_you_mean(name, FUNCTIONS, &otherwise);
        Err(BadCondition::new(format!("calls `{name}`{}, which does not exist", self.place(at)), hint))
    }

    fn place(&self, at: &IdedExpr) -> String {
        let start = self.program.source_info().offset_for(at.id).map(|(start, _)| start);
        start.map_or_else(String::new, |start| format!(" at character {}", start + 1))
    }
}
