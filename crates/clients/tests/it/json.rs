//! JSON files in every manner, changed in one place. `┃` in an expectation stands around what is new.

use toolgate_clients::{Action, Client};

use crate::scene::{Scene, local};

/// `expect` is the file after, with bars around what was added; without the bars' content it is the file before.
#[track_caller]
fn check(client: Client, expect: &str) {
    let parts: Vec<&str> = expect.split('┃').collect();
    let before: String = parts.iter().step_by(2).copied().collect();
    let after = expect.replace('┃', "").replace("ENTRY", r#""command": "/bin/toolgate", "args": ["serve"]"#);
    for (before, after) in [
        (before.clone(), after.clone()),
        (before.replace('\n', "\r\n"), after.replace('\n', "\r\n")),
        (format!("\u{feff}{before}"), format!("\u{feff}{after}")),
    ] {
        // Without a line break there is none to follow.
        let after = if before.contains('\n') { after } else { after.replace("\r\n", "\n") };
        let scene = Scene::new(client, &before);
        let entries = scene.read().unwrap().entries().to_vec();
        scene.set(&local());
        assert_eq!(scene.content(), after);
        assert_eq!(scene.read().unwrap().entries()[..entries.len()], entries, "the others are as they were");
        assert_eq!(scene.set(&local()), Action::Nothing);
        assert_eq!(scene.content(), after);
        assert_eq!(scene.undo(), Action::Restore);
        assert_eq!(scene.content(), before);
        assert_eq!(scene.files(), ["config"]);
    }
}

#[test]
fn an_entry_comes_last() {
    check(
        Client::Cursor,
        r#"{
    "mcpServers": {
        "other": {
            "command": "npx"
        }┃,
        "toolgate": {
            "command": "/bin/toolgate",
            "args": ["serve"]
        }┃
    },
    "zoom": 1.0
}
"#,
    );
    check(
        Client::Cursor,
        "{\n\t\"mcpServers\": {\n\t\t\"other\": {}┃,\n\t\t\"toolgate\": {\n\t\t\t\"command\": \"/bin/toolgate\",\n\t\t\t\"args\": [\"serve\"]\n\t\t}┃\n\t}\n}",
    );
}

#[test]
fn an_empty_list_is_opened() {
    let entry =
        "\n    \"toolgate\": {\n      \"command\": \"/bin/toolgate\",\n      \"args\": [\"serve\"]\n    }";
    check(Client::Cursor, &format!("{{\n  \"mcpServers\": {{┃{entry}\n  ┃}}\n}}\n"));
    check(Client::Cursor, &format!("{{\n  \"mcpServers\": {{ ┃{entry}\n  ┃}}\n}}\n"));
    check(Client::Cursor, &format!("{{\n  \"mcpServers\": {{┃{entry}┃\n  }}\n}}\n"));
    check(Client::Cursor, &format!("{{\n  \"mcpServers\": {{\n    // none yet┃{entry}┃\n  }}\n}}\n"));
    check(Client::Cursor, &format!("{{\n  \"mcpServers\": {{ /* none */┃{entry}\n  ┃ }}\n}}\n"));
    check(Client::Cursor, &format!("{{\n  \"mcpServers\": {{ // none┃{entry}┃\n  }}\n}}\n"));
}

#[test]
fn a_missing_list_is_made() {
    let list = "\n  \"mcpServers\": {\n    \"toolgate\": {\n      \"command\": \"/bin/toolgate\",\n      \"args\": [\"serve\"]\n    }\n  }";
    check(Client::Cursor, &format!("{{\n  \"theme\": \"dark\"┃,{list}┃\n}}\n"));
    check(Client::Cursor, &format!("{{\n  \"theme\": \"dark\",┃{list},┃\n}}\n"));
    check(Client::Cursor, &format!("{{┃{list}\n┃}}"));
    check(Client::Cursor, &format!("{{┃{list}┃\n}}\n"));
    check(Client::Cursor, &format!("// mine\n{{┃{list}\n┃}}\n"));
}

#[test]
fn a_file_without_any_value_gets_one() {
    let file = "{\n  \"mcpServers\": {\n    \"toolgate\": {\n      \"command\": \"/bin/toolgate\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n";
    check(Client::Cursor, &format!("┃{file}┃"));
    check(Client::Cursor, &format!("\n\n┃{file}┃"));
    check(Client::Cursor, &format!("// to be filled\n┃{file}┃"));
}

#[test]
fn comments_and_trailing_commas_stay_where_they_are() {
    let entry = "\"toolgate\": {\n      \"type\": \"stdio\",\n      \"command\": \"/bin/toolgate\",\n      \"args\": [\"serve\"]\n    }";
    let file = |servers: &str| {
        format!(
            "{{\n  // of /* mine\n  \"servers\": {{\n    {servers}\n  }},\n  /* inputs // */ \"inputs\": [],\n}}\n"
        )
    };
    check(Client::VsCode, &file(&format!("\"a\": {{}}, // the first┃\n    {entry},┃")));
    check(Client::VsCode, &file(&format!("\"a\": {{}}┃,┃ // the first┃\n    {entry}┃")));
    check(Client::VsCode, &file(&format!("\"a\": {{}}┃,┃ /* the first */┃\n    {entry}┃\n    // the end")));
    check(Client::VsCode, &file(&format!("\"a\": {{}} /* the first */ ,┃\n    {entry},┃")));
    check(Client::VsCode, &file(&format!("\"a\": {{}}┃,\n    {entry}┃ /* of\n lines */")));
}

#[test]
fn what_stands_on_one_line_stays_on_it() {
    check(
        Client::Cursor,
        r#"{"mcpServers":{"a":{}┃,"toolgate":{"command":"/bin/toolgate","args":["serve"]}┃}}"#,
    );
    check(Client::Cursor, r#"{"mcpServers":{┃"toolgate":{"command":"/bin/toolgate","args":["serve"]}┃}}"#);
    check(
        Client::Cursor,
        r#"{"a":1┃,"mcpServers":{"toolgate":{"command":"/bin/toolgate","args":["serve"]}}┃}"#,
    );
    check(Client::Cursor, "{\n  \"mcpServers\": { \"a\": {}┃, \"toolgate\": { ENTRY }┃ }\n}\n");
    check(Client::Cursor, "{\n  \"mcpServers\": { \"a\": {},┃ \"toolgate\": { ENTRY },┃ }\n}\n");
    check(
        Client::Cursor,
        "{\n  \"mcpServers\": { \"a\": {}┃,┃ // a┃\n    \"toolgate\": {\n      \"command\": \"/bin/toolgate\",\n      \"args\": [\"serve\"]\n    }┃\n  }\n}\n",
    );
}

#[test]
fn numbers_and_texts_of_others_stay_as_they_are_spelled() {
    let list = "\n  \"mcpServers\": {\n    \"toolgate\": {\n      \"command\": \"/bin/toolgate\",\n      \"args\": [\"serve\"]\n    }\n  }";
    let odd = r#""n": 123456789012345678901234567890, "e": 1E+2, "u": "\u00e9\/é\ud83d", "a": 1, "a": 2"#;
    check(Client::Cursor, &format!("{{\n  {odd}┃,{}┃\n}}\n", list.replacen('\n', "", 1).replacen("  ", " ", 1).replace("\n    \"toolgate\": {\n      \"command\": \"/bin/toolgate\",\n      \"args\": [\"serve\"]\n    }\n  ", " \"toolgate\": { ENTRY } ")));
}
