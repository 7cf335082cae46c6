//! Tools for styles, which are there where they are wanted.

use serde_json::{Value, json};
use toolgate_browser::BrowserConfig;
use toolgate_core::Kind;

use crate::stage::{STAGE, Seat, config, ref_of};

const PAGE: &str = "<style>#a {color: red; margin: 4px} .b {color: green; padding: 1px !important} p {color: blue; colour: x} \
    .c {width: nonsense} #a {border-top-width: 3px}</style><p id=a class='b c' style='padding: 2px; height: 20px'>text</p><a href='#a'>link</a>";

/// Every tool for styles, with arguments that would do.
pub(crate) fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("get_computed_styles", json!({"selector": "#a"})),
        ("get_applicable_rules", json!({"selector": "#a"})),
        ("why_style_not_applied", json!({"selector": "#a", "property": "color"})),
        ("analyze_specificity", json!({"selector": "#a"})),
        ("extract_css", json!({"selector": "#a"})),
        ("diff_css", json!({"selector": "#a", "baseline": {}})),
    ]
}

#[test]
fn they_are_off_unless_they_are_wanted() {
    STAGE.run(async {
        let ada = STAGE.caller("no styles");
        for (tool, arguments) in calls() {
            assert_eq!(ada.fails(tool, arguments).await.kind(), Kind::UnknownTarget, "{tool}");
        }
    });
    let (hub, _tasks) = STAGE.other(BrowserConfig { evaluate: false, ..config() });
    STAGE.run(async {
        let error = Seat::at(&hub, "ada").fails("evaluate_expression", json!({"expression": "1"})).await;
        assert_eq!(error.kind(), Kind::UnknownTarget);
    });
}

#[test]
#[expect(clippy::too_many_lines, reason = "one page in one Chromium of its own, looked at by all six tools")]
fn styles_are_told_and_explained() {
    let (hub, _tasks) = STAGE.other(BrowserConfig { css: true, ..config() });
    STAGE.run(async {
        let url = STAGE.site.html("/styles", PAGE);
        let (ada, bob) = (Seat::take(&hub, "ada", json!({})).await, Seat::take(&hub, "bob", json!({})).await);
        ada.go(&url).await;
        let some = json!({"selector": "#a", "properties": ["color", "padding-top"]});
        let styles = ada.data("get_computed_styles", some).await["styles"].clone();
        assert_eq!(styles, json!({"color": "rgb(255, 0, 0)", "padding-top": "1px"}));
        let all = ada.data("get_computed_styles", json!({"selector": "#a"})).await;
        assert!(all["styles"].as_object().unwrap().len() > 200);

        let rules =
            ada.data("get_applicable_rules", json!({"selector": "#a", "properties": ["color"]})).await;
        let told: Vec<_> = rules["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| (item["selector"].as_str().unwrap(), &item["specificity"]))
            .collect();
        assert_eq!(
            told,
            [("p", &json!([0, 0, 1])), (".b", &json!([0, 1, 0])), ("#a", &json!([1, 0, 0]))],
            "{rules}"
        );
        let few = ada.data("get_applicable_rules", json!({"selector": "#a", "limit": 1})).await;
        assert!(few["items"].as_array().unwrap().len() == 1 && few["total"].as_u64().unwrap() > 5, "{few}");

        let why = async |property: &str, desired: &str| {
            let ask = json!({"selector": "#a", "property": property, "desiredValue": desired});
            ada.data("why_style_not_applied", ask).await["reason"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            why("color", "blue").await,
            "color: blue by `p` (0,0,1) loses against color: red by `#a` (1,0,0), which is more specific"
        );
        assert!(
            why("padding", "2px").await.ends_with("which is important"),
            "{}",
            why("padding", "2px").await
        );
        assert!(
            why("color", "pink")
                .await
                .starts_with("nothing declares pink; what counts is color: red by `#a`")
        );
        assert!(
            why("width", "nonsense")
                .await
                .starts_with("the only declaration is not understood: width: nonsense"),
            "{}",
            why("width", "nonsense").await
        );
        assert!(why("cursor", "pointer").await.starts_with("nothing declares `cursor`"));
        assert_eq!(why("wobble", "x").await, "`wobble` is no property");

        let conflicts = ada
            .data(
                "analyze_specificity",
                json!({"selector": "#a", "properties": ["color", "height"], "conflictsOnly": true}),
            )
            .await;
        assert_eq!(conflicts["items"].as_array().unwrap().len(), 1, "{conflicts}");
        assert_eq!(conflicts["items"][0]["winner"], "color: red by `#a` (1,0,0)");
        assert_eq!(conflicts["items"][0]["losers"].as_array().unwrap().len(), 2);

        // What a shorthand declares is declared of its parts.
        let part = json!({"selector": "#a", "properties": ["padding-top"]});
        let part = ada.data("analyze_specificity", part).await["items"].clone();
        assert_eq!((&part[0]["property"], &part[1]), (&json!("padding"), &Value::Null), "{part}");

        let css = ada.text("extract_css", json!({"selector": "#a"})).await;
        assert!(
            css.contains("#a {\n") && css.contains("  color: rgb(255, 0, 0);") && !css.contains("cursor"),
            "{css}"
        );
        let one = ada.text("extract_css", json!({"selector": "#a", "properties": ["height"]})).await;
        assert!(one.contains("\n#a {\n  height: 20px;\n}\n"), "{one}");
        assert!(
            ada.text("extract_css", json!({"selector": "#a", "maxChars": 10})).await.contains("truncated")
        );

        let baseline = json!({"color": "rgb(255, 0, 0)", "height": "30px"});
        let diff = ada.data("diff_css", json!({"selector": "#a", "baseline": baseline})).await;
        let height = json!({"property": "height", "expected": "30px", "actual": "20px"});
        assert_eq!(diff, json!({"same": false, "items": [height]}));
        let link = ref_of(&ada.see().await, "link \"link\"");
        for (tool, mut arguments) in calls() {
            if tool == "diff_css" {
                arguments["baseline"] = json!({"height": "20px"});
            }
            let by_selector = ada.call(tool, arguments.clone()).await;
            arguments.as_object_mut().unwrap().remove("selector");
            arguments["ref"] = link.clone().into();
            assert_ne!(ada.call(tool, arguments).await, by_selector, "{tool}");
        }
        for (tool, mut arguments) in calls() {
            arguments["browserId"] = ada.id.clone().into();
            assert_eq!(bob.fails(tool, arguments).await.kind(), Kind::NotFound, "{tool}");
        }
    });
}
