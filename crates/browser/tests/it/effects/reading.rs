//! Reading: how deep, from which level on, and where something is stored.

use serde_json::{Value, json};

use crate::stage::{STAGE, Seat};

#[test]
fn a_snapshot_goes_as_deep_as_is_asked_for() {
    STAGE.run(async {
        let page = "<nav>zero<ul><li>one<ul><li>two<ul><li>three</ul></ul></ul></nav>";
        let ada = STAGE.seat("deep").await;
        ada.go(&STAGE.site.html("/depths", page)).await;
        // A list within a list is two levels further down.
        for (depth, shown) in [
            (0, "zero one two three"),
            (1, "zero"),
            (2, "zero one"),
            (4, "zero one two"),
            (6, "zero one two three"),
        ] {
            let seen = ada.text("get_page_snapshot", json!({"depth": depth, "mode": "full"})).await;
            let words: Vec<&str> =
                ["zero", "one", "two", "three"].into_iter().filter(|word| seen.contains(word)).collect();
            assert_eq!(words.join(" "), shown, "{depth}: {seen}");
            assert_eq!(seen.contains("…"), words.len() < 4, "{depth}: {seen}");
        }
    });
}

#[test]
fn a_level_is_the_least_that_is_told() {
    STAGE.run(async {
        let page = "<script>for (const level of ['debug', 'info', 'warn', 'error']) console[level]('said as ' + level)</script>";
        let ada = STAGE.seat("levels").await;
        ada.go(&STAGE.site.html("/levels", page)).await;
        let all = ["debug", "info", "warning", "error"];
        for (at, level) in all.into_iter().enumerate() {
            let told = ada.text("get_console_messages", json!({"level": level})).await;
            let said: Vec<&str> = all.into_iter().filter(|level| told.contains(&format!(" {level} said as "))).collect();
            assert_eq!(said, all[at..], "{level}: {told}");
        }
    });
}

#[test]
fn what_is_stored_is_stored_where_it_is_said_and_nowhere_else() {
    STAGE.run(async {
        let ada = STAGE.seat("areas").await;
        ada.go(&STAGE.site.html("/areas", "<title>Areas</title>")).await;
        let manage = async |area: &str, action: &str, key: Option<&str>| {
            let mut arguments = json!({"area": area, "action": action});
            if let Some(key) = key {
                arguments["key"] = key.into();
            }
            if action == "set" {
                arguments["value"] = area.into();
            }
            ada.text("manage_storage", arguments).await
        };
        for area in AREAS {
            for key in ["a", "b"] {
                manage(area, "set", Some(key)).await;
            }
        }
        let mut left = AREAS.map(|_| vec!["a", "b"]);
        // What is done in one area leaves the others as they are.
        for (at, area) in AREAS.into_iter().enumerate() {
            assert_eq!(stored(&ada).await, expected(&left), "{area}");
            assert!(manage(area, "get", None).await.contains(&format!("b = {area}")), "{area}");
            manage(area, "delete", Some("a")).await;
            left[at].retain(|key| *key != "a");
            assert_eq!(stored(&ada).await, expected(&left), "{area}");
        }
        for (at, area) in AREAS.into_iter().enumerate() {
            manage(area, "clear", None).await;
            left[at].clear();
            assert_eq!(stored(&ada).await, expected(&left), "{area}");
        }
    });
}

const AREAS: [&str; 3] = ["cookies", "local", "session"];

/// What a page finds in each area, as `key=value`.
async fn stored(seat: &Seat) -> Value {
    let pairs = "const pairs = area => Object.entries(area).map(([key, value]) => key + '=' + value).sort(); \
        [document.cookie.split('; ').filter(Boolean).sort(), pairs(localStorage), pairs(sessionStorage)]";
    seat.value(&format!("{{ {pairs} }}")).await
}

/// The same, of these keys in each.
fn expected(keys: &[Vec<&str>; 3]) -> Value {
    let of = |(area, keys): (&str, &Vec<&str>)| -> Vec<String> {
        keys.iter().map(|key| format!("{key}={area}")).collect()
    };
    AREAS.into_iter().zip(keys).map(of).collect()
}
