//! `docs/reference/tools.md`: every tool of the built-in packs.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;
use toolgate_browser::Browser;
use toolgate_core::{Hints, Pack, ToolItem, search_tools};
use toolgate_opencode::Opencode;
use toolgate_packs::{Calendar, Chat, Github, Memory, Vault, Web, Workspace};
use toolgate_script::ScriptPack;

use super::markdown::{code, table};
use super::schema;

/// The tools of a pack, as they are listed.
struct Shown {
    pack: &'static str,
    tools: Vec<(Value, Hints)>,
}

/// The packs on the page. The fixtures are not for users.
fn packs() -> Result<Vec<Shown>> {
    let packs = [
        shown::<Workspace>()?,
        shown::<Memory>()?,
        shown::<Vault>()?,
        shown::<Web>()?,
        shown::<Opencode>()?,
        shown::<Chat>()?,
        shown::<Calendar>()?,
        shown::<Github>()?,
        shown::<ScriptPack>()?,
        shown::<Browser>()?,
    ];
    Ok(packs.into_iter().chain([searching()?]).collect())
}

fn shown<P: Pack>() -> Result<Shown> {
    let tools = P::tools();
    let tools = tools.iter().map(|tool| defined(tool.item()));
    Ok(Shown { pack: P::NAME, tools: tools.collect::<Result<_>>()? })
}

/// Those of the hub itself, where clients search.
fn searching() -> Result<Shown> {
    let tools = search_tools().iter().map(|tool| defined(tool)).collect::<Result<_>>()?;
    Ok(Shown { pack: "catalog", tools })
}

fn defined(item: &ToolItem) -> Result<(Value, Hints)> {
    let definition = item.raw.to().with_context(|| format!("`{}` has no definition", item.name))?;
    Ok((definition, item.hints))
}

pub(super) fn write(_root: &Path) -> Result<String> {
    let packs = packs()?;
    let list: Vec<Vec<String>> = packs.iter().flat_map(|pack| pack.tools.iter().map(summary)).collect();
    let mut page = format!(
        "# Tools\n\n\
         What the built-in packs offer. `toolgate tools list` shows what is switched on. Those of `catalog` \
         are there where clients [search](../guide/large-catalogs.md) instead of listing.\n\n{}",
        table(&["tool", "title", "what it does"], &list)
    );
    for pack in &packs {
        page += &format!("\n## {}\n", pack.pack);
        for (definition, hints) in &pack.tools {
            page += &tool(definition, *hints);
        }
    }
    Ok(page)
}

fn summary((definition, _): &(Value, Hints)) -> Vec<String> {
    let name = text(definition, "name");
    vec![
        format!("[`{name}`](#{name})"),
        text(definition, "title").into(),
        text(definition, "description").into(),
    ]
}

fn tool(definition: &Value, hints: Hints) -> String {
    let name = text(definition, "name");
    let mut section =
        format!("\n### {}\n\n{}\n\n{}\n", code(name), text(definition, "description"), world(hints));
    section += &input(&definition["inputSchema"]);
    section += &definition.get("outputSchema").map(output).unwrap_or_default();
    section
}

fn input(schema: &Value) -> String {
    let rows: Vec<Vec<String>> = schema::fields(schema)
        .into_iter()
        .map(|field| vec![code(&field.name), field.form, yes(field.required), field.default, field.meaning])
        .collect();
    if rows.is_empty() {
        return "\nIt takes no arguments.\n".to_owned();
    }
    format!("\n{}", table(&["input", "type", "required", "default", "meaning"], &rows))
}

fn output(schema: &Value) -> String {
    let rows: Vec<Vec<String>> = schema::fields(schema)
        .into_iter()
        .map(|field| vec![code(&field.name), field.form, yes(field.required), field.meaning])
        .collect();
    format!("\n{}", table(&["output", "type", "always there", "meaning"], &rows))
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

/// What the hints mean to a person who has to allow the tool.
fn world(hints: Hints) -> String {
    let change = match (hints.read_only, hints.destructive) {
        (true, _) => "It changes nothing",
        (false, true) => "It may change or overwrite what is there",
        (false, false) => "It adds, and overwrites nothing",
    };
    let again = if hints.idempotent { "; twice is the same as once" } else { "" };
    let reach =
        if hints.open_world { "; it reaches beyond this machine" } else { "; it stays on this machine" };
    format!("{change}{again}{reach}.")
}

fn text<'a>(definition: &'a Value, key: &str) -> &'a str {
    definition[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_section() {
        let page = write(Path::new(".")).unwrap();
        for pack in packs().unwrap() {
            for (definition, _) in pack.tools {
                let name = text(&definition, "name");
                assert!(page.contains(&format!("\n### `{name}`\n")), "{name}");
            }
        }
    }

    #[test]
    fn hints_are_told_in_words() {
        assert_eq!(
            world(Hints::READ_ONLY),
            "It changes nothing; twice is the same as once; it stays on this machine."
        );
        assert_eq!(world(Hints::CREATE), "It adds, and overwrites nothing; it reaches beyond this machine.");
    }
}
