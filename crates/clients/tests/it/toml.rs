//! Codex's TOML, changed in one place. `┃` in an expectation stands around what is new.

use toolgate_clients::{Action, Client};

use crate::scene::{Scene, lean, local};

const ENTRY: &str = "[mcp_servers.toolgate]\ncommand = \"/bin/toolgate\"\nargs = [\"serve\"]\n";

#[track_caller]
fn check(expect: &str) {
    let parts: Vec<&str> = expect.split('┃').collect();
    let before: String = parts.iter().step_by(2).copied().collect();
    let after = expect.replace('┃', "");
    for (before, after) in [
        (before.clone(), after.clone()),
        (before.replace('\n', "\r\n"), after.replace('\n', "\r\n")),
        (format!("\u{feff}{before}"), format!("\u{feff}{after}")),
    ] {
        let scene = Scene::new(Client::Codex, &before);
        scene.set(&local());
        if before.contains('\n') {
            assert_eq!(scene.content(), after);
        }
        let written = scene.content();
        assert_eq!(scene.set(&local()), Action::Nothing);
        assert_eq!(scene.content(), written);
        assert_eq!(scene.undo(), Action::Restore);
        assert_eq!(scene.content(), before);
        assert_eq!(scene.files(), ["config"]);
    }
}

#[test]
fn an_entry_is_a_table_at_the_end() {
    check(&format!("┃{ENTRY}┃"));
    check(&format!("model = \"gpt\" # mine\n┃\n{ENTRY}┃"));
    check(&format!("model = \"gpt\"\nx = 1┃\n\n{ENTRY}┃"));
    check(&format!("[mcp_servers]\n┃\n{ENTRY}┃"));
    check(&format!(
        "[mcp_servers.a]\ncommand = \"x\"\n\n[mcp_servers.a.env]\nA = \"1\"\n\n# end\n[ui]\n┃\n{ENTRY}┃"
    ));
    check(&format!("mcp_servers.a.command = 'x'\n┃\n{ENTRY}┃"));
    check(&format!("[mcp_servers]\na = {{ command = \"x\" }}\n┃\n{ENTRY}┃"));
    check(&format!("text = \"\"\"\n[mcp_servers.toolgate]\n\"\"\"\n┃\n{ENTRY}┃"));
}

/// What an entry becomes, with all else in its place.
#[track_caller]
fn check_update(before: &str, after: &str) {
    for newline in ["\n", "\r\n"] {
        let (before, after) = (before.replace('\n', newline), after.replace('\n', newline));
        let scene = Scene::new(Client::Codex, &before);
        assert_eq!(scene.set(&lean()), Action::Update);
        assert_eq!(scene.content(), after);
        assert_eq!(scene.set(&lean()), Action::Nothing);
        assert_eq!(scene.undo(), Action::Restore);
        assert_eq!(scene.content(), before);
    }
}

#[test]
fn an_entry_that_is_there_is_changed_where_it_stands() {
    let lean = "command = \"/bin/toolgate\"\nargs = [\"serve\"]\nenv = { TOOLGATE_PACKS = \"workspace\" }\n";
    check_update(
        "a = 1\n\n[mcp_servers.toolgate]\ncommand = \"old\"\nargs = [\"serve\"]\n\n# ours\n[ui]\nb = 2\n",
        &format!("a = 1\n\n[mcp_servers.toolgate]\n{lean}\n# ours\n[ui]\nb = 2\n"),
    );
    check_update(
        "[mcp_servers.toolgate] # mine\nstartup_timeout_sec = 5 # slow\ncommand = \"old\" # here\nurl = \"x\"\n\n[mcp_servers.toolgate.env]\nTOOLGATE_PACKS = \"memory\"\n\n[mcp_servers.toolgate.tools.a]\nat = 2020-01-01\n",
        "[mcp_servers.toolgate] # mine\nstartup_timeout_sec = 5 # slow\ncommand = \"/bin/toolgate\" # here\nargs = [\"serve\"]\nenv = { TOOLGATE_PACKS = \"workspace\" }\n\n\n[mcp_servers.toolgate.tools.a]\nat = 2020-01-01\n",
    );
    check_update(
        "[mcp_servers.toolgate]\ncommand = \"old\"\n\n[mcp_servers.toolgate.env]\nTOOLGATE_PACKS = \"workspace\" # ok\n",
        "[mcp_servers.toolgate]\ncommand = \"/bin/toolgate\"\nargs = [\"serve\"]\n\n[mcp_servers.toolgate.env]\nTOOLGATE_PACKS = \"workspace\" # ok\n",
    );
    check_update(
        "[mcp_servers]\ntoolgate = { command = \"old\" } # mine\nb = { command = \"x\" }\n",
        "[mcp_servers]\ntoolgate = { command = \"/bin/toolgate\", args = [\"serve\"], env = { TOOLGATE_PACKS = \"workspace\" } } # mine\nb = { command = \"x\" }\n",
    );
    check_update(
        "x = 1\n[mcp_servers.toolgate.env]\nA = \"1\"\n",
        &format!("x = 1\n\n[mcp_servers.toolgate]\n{lean}"),
    );
}

/// What is left when an entry goes from a file that we have no older copy of.
#[track_caller]
fn check_removal(before: &str, after: &str) {
    for newline in ["\n", "\r\n"] {
        let scene = Scene::new(Client::Codex, before.replace('\n', newline));
        assert_eq!(scene.undo(), Action::Remove);
        assert_eq!(scene.content(), after.replace('\n', newline));
    }
}

#[test]
fn an_entry_goes_with_all_its_tables() {
    check_removal(&format!("a = 1\n\n{ENTRY}"), "a = 1\n");
    check_removal(
        &format!("a = 1\n\n{ENTRY}\n[mcp_servers.toolgate.env]\nA = \"1\"\n\n# next\n[ui]\nb = 2\n"),
        "a = 1\n\n# next\n[ui]\nb = 2\n",
    );
    check_removal(
        "[mcp_servers]\na = { command = \"x\" }\ntoolgate = { command = \"y\" } # mine\nb = { command = \"z\" }\n",
        "[mcp_servers]\na = { command = \"x\" }\nb = { command = \"z\" }\n",
    );
    check_removal(&format!("{ENTRY}\n[[mcp_servers.toolgate.x]]\ny = 1\n\n[z]\n"), "\n[z]\n");
}
