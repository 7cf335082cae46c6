//! Undo: what was, or what there is without us.

use std::fs;

use toolgate_clients::{Action, Client};

use crate::scene::{Scene, lean, local};

const ONE: &str = "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n";

#[test]
fn a_file_that_has_changed_since_loses_our_entry_only() {
    for (client, before, change) in [
        (Client::Cursor, ONE, ("\"a\": {}", "\"a\": {\"command\": \"new\"}")),
        (Client::Cursor, "{\n  \"x\": 1\n}\n", ("\"x\": 1", "\"x\": 2, \"y\": 3")),
        (Client::VsCode, "{\n  \"servers\": {}, // mine\n  \"x\": 1,\n}\n", ("// mine", "// yours")),
        (Client::Codex, "x = 1\n\n[a]\ny = 2\n", ("y = 2", "y = 3 # now")),
    ] {
        let scene = Scene::new(client, before);
        scene.set(&local());
        let changed = scene.content().replace(change.0, change.1);
        fs::write(scene.path(), &changed).unwrap();
        assert_eq!(scene.undo(), Action::Remove);
        assert_eq!(scene.content(), before.replace(change.0, change.1));
        assert_eq!(scene.files(), ["config"]);
    }
}

#[test]
fn a_file_of_ours_that_others_use_by_now_stays() {
    let scene = Scene::empty(Client::Cursor);
    scene.set(&local());
    let used = scene.content().replace("\"toolgate\": {", "\"a\": {},\n    \"toolgate\": {");
    fs::write(scene.path(), used).unwrap();
    assert_eq!(scene.undo(), Action::Remove);
    assert_eq!(scene.content(), ONE);
}

#[test]
fn our_entry_written_anew_by_the_client_is_still_ours() {
    let scene = Scene::new(Client::Cursor, ONE);
    scene.set(&local());
    let rewritten = scene.content().replace("[\"serve\"]", "[\n        \"serve\"\n      ]");
    fs::write(scene.path(), &rewritten).unwrap();
    assert_eq!(scene.set(&local()), Action::Nothing);
    assert_eq!(scene.content(), rewritten);
    assert_eq!(scene.undo(), Action::Restore);
    assert_eq!(scene.content(), ONE);
}

#[test]
fn several_writes_are_undone_at_once() {
    let scene = Scene::new(Client::Cursor, ONE);
    assert_eq!(scene.set(&local()), Action::Add);
    assert_eq!(scene.set(&lean()), Action::Update);
    assert_eq!(scene.set(&local()), Action::Update);
    assert_eq!(scene.files(), ["config", "config.toolgate-backup"]);
    assert_eq!(scene.undo(), Action::Restore);
    assert_eq!(scene.content(), ONE);
}

#[test]
fn a_write_after_a_change_remembers_the_change() {
    let scene = Scene::new(Client::Cursor, ONE);
    scene.set(&local());
    let changed = scene.content().replace("\"a\"", "\"b\"");
    fs::write(scene.path(), changed).unwrap();
    scene.set(&lean());
    assert_eq!(scene.undo(), Action::Restore);
    assert_eq!(scene.content(), ONE.replace("\"a\"", "\"b\""));
}

#[test]
fn a_new_file_is_deleted_also_after_an_update() {
    for client in Client::ALL {
        let scene = Scene::empty(client);
        assert_eq!(scene.set(&local()), Action::Create);
        assert_eq!(scene.set(&lean()), Action::Update);
        assert_eq!(scene.files(), ["config"], "there was nothing to keep");
        assert_eq!(scene.undo(), Action::Delete);
        assert!(scene.files().is_empty());
    }
}

#[test]
fn there_may_be_nothing_to_undo() {
    let scene = Scene::new(Client::Cursor, ONE);
    assert_eq!(scene.undo(), Action::Nothing);
    assert_eq!(scene.content(), ONE);
    assert_eq!(Scene::empty(Client::Codex).undo(), Action::Nothing);
}

#[test]
fn two_entries_do_not_share_a_backup() {
    let scene = Scene::new(Client::Cursor, ONE);
    scene.set(&local());
    scene.read().unwrap().set("second", &local()).unwrap().unwrap().apply().unwrap();
    assert_eq!(scene.undo(), Action::Remove);
    assert!(!scene.content().contains("\"toolgate\""));
    scene.read().unwrap().undo("second").unwrap().apply().unwrap();
    assert_eq!(scene.content(), ONE);
    assert_eq!(scene.files(), ["config"]);
}

/// What is left of a file when an entry goes that we have no older copy of.
#[track_caller]
fn check_removal(before: &str, after: &str) {
    for newline in ["\n", "\r\n"] {
        let scene = Scene::new(Client::Cursor, before.replace('\n', newline));
        assert_eq!(scene.undo(), Action::Remove);
        assert_eq!(scene.content(), after.replace('\n', newline));
    }
}

#[test]
fn an_entry_goes_from_wherever_it_stands() {
    let file = |servers: &str| format!("{{ \"mcpServers\": {{{servers}}} }}");
    check_removal(&file(r#""toolgate": {}"#), &file(""));
    check_removal(&file(r#""toolgate": {}, "b": {}"#), &file(r#""b": {}"#));
    check_removal(&file(r#" "a": {}, "toolgate": {} "#), &file(r#" "a": {} "#));
    check_removal(&file(r#"" ": {}, "toolgate": {}, "b": {}"#), &file(r#"" ": {}, "b": {}"#));
    check_removal(&file(r#""a": {}, "toolgate": {}, "#), &file(r#""a": {}, "#));
    check_removal(&file("\n  \"toolgate\": {},\n  \"b\": {}\n"), &file("\n  \"b\": {}\n"));
    check_removal(&file("\n  \"a\": {},\n  \"toolgate\": {}\n"), &file("\n  \"a\": {}\n"));
    check_removal(&file("\n  \"a\": {}, // a\n  \"toolgate\": {}\n"), &file("\n  \"a\": {} // a\n"));
    check_removal(
        &file("\n  \"a\": {}, // a\n  \"toolgate\": {}, // t\n  \"b\": {}\n"),
        &file("\n  \"a\": {}, // a\n  // t\n  \"b\": {}\n"),
    );
    check_removal(
        &file("\n  \"a\": {}, // a\n  \"toolgate\": {}, \"b\": {}\n"),
        &file("\n  \"a\": {}, // a\n  \"b\": {}\n"),
    );
    check_removal(&file("\n  // a\n  \"toolgate\": {} // t\n"), &file("\n  // a\n // t\n"));
    check_removal(
        &file("\n  \"toolgate\": {} /* t */ ,\n  \"b\": {}\n"),
        &file("\n  /* t */ \n  \"b\": {}\n"),
    );
}
