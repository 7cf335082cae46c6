//! Screenshots and PDFs.

use serde_json::{Value, json};
use toolgate_core::{Kind, Outcome};

use crate::stage::STAGE;

const PAGE: &str = "<title>Shot</title><body style='margin:0'><div id=red style='width:200px;height:100px;background:red'></div>\
    <div style='height:2000px'>long</div>";

fn told(result: &Value) -> Value {
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[test]
fn a_screenshot_is_kept_linked_and_shown() {
    STAGE.run(async {
        let url = STAGE.site.html("/shot", PAGE);
        let ada = STAGE.seat("shots").await;
        ada.go(&url).await;
        let window = ada.call("take_screenshot", json!({})).await;
        let about = told(&window);
        assert_eq!(
            (&about["success"], &about["width"], &about["height"]),
            (&json!(true), &json!(1280), &json!(720)),
            "{about}"
        );
        assert_eq!(about["mimeType"], "image/webp");
        assert_eq!(window["content"][1]["type"], "resource_link");
        assert_eq!(window["content"][1]["uri"], about["uri"]);
        assert_eq!(
            (&window["content"][2]["type"], &window["content"][2]["mimeType"]),
            (&json!("image"), &json!("image/webp"))
        );
        let full = told(
            &ada.call("take_screenshot", json!({"fullPage": true, "type": "jpeg", "quality": 20})).await,
        );
        assert_eq!((&full["height"], &full["mimeType"]), (&json!(2100), &json!("image/jpeg")), "{full}");
        assert_eq!(full.get("missingBelow"), None);
        let fine = told(
            &ada.call("take_screenshot", json!({"fullPage": true, "type": "jpeg", "quality": 100})).await,
        );
        assert!(fine["bytes"].as_u64() > full["bytes"].as_u64(), "{fine} {full}");
        // What is wider than 1280 pixels is drawn smaller, and is told as it is drawn.
        ada.value("void (document.body.style.width = '2560px')").await;
        let wide = told(&ada.call("take_screenshot", json!({"fullPage": true, "type": "png"})).await);
        assert_eq!((&wide["width"], &wide["height"]), (&json!(1280), &json!(1050)), "{wide}");
        ada.value("void (document.body.style.width = '')").await;
        let part = ada
            .call(
                "take_screenshot",
                json!({"selector": "#red", "type": "png", "tag": "red", "inline": false}),
            )
            .await;
        assert_eq!((&told(&part)["width"], &told(&part)["height"]), (&json!(200), &json!(100)));
        assert_eq!(part["content"].as_array().unwrap().len(), 2);
        let Outcome::Complete(read) = ada.read(about["uri"].as_str().unwrap()).await else {
            panic!("not read")
        };
        let read: Value = read.to().unwrap();
        assert_eq!(read["contents"][0]["blob"], window["content"][2]["data"]);
        let listed = ada.data("list_screenshots", json!({})).await;
        assert_eq!(listed["total"], 5, "{listed}");
        assert_eq!(listed["items"][0]["uri"], told(&part)["uri"]);
        assert_eq!(ada.data("list_screenshots", json!({"tag": "red"})).await["total"], 1);
        let page = ada.data("list_screenshots", json!({"limit": 1, "offset": 1})).await;
        assert_eq!(page["items"], json!([listed["items"][1]]));
        let bob = STAGE.caller("not shots");
        assert!(matches!(bob.read(about["uri"].as_str().unwrap()).await, Outcome::Failed(_)));
        assert_eq!(bob.data("list_screenshots", json!({})).await["total"], 0);
    });
}

#[test]
fn a_page_that_is_higher_than_any_picture_says_what_is_missing() {
    STAGE.run(async {
        let url = STAGE.site.html("/high", "<body style='margin:0'><div style='height:16500px'>high</div>");
        let ada = STAGE.seat("high shots").await;
        ada.go(&url).await;
        let quick = json!({"fullPage": true, "type": "jpeg", "quality": 1});
        let high = told(&ada.call("take_screenshot", quick).await);
        assert_eq!((&high["height"], &high["missingBelow"]), (&json!(16_000), &json!(500)), "{high}");
    });
}

#[test]
fn a_screenshot_that_makes_no_sense_is_refused() {
    STAGE.run(async {
        let ada = STAGE.seat("no shots").await;
        for wrong in [
            json!({"quality": 0}),
            json!({"tag": "a/b"}),
            json!({"fullPage": true, "selector": "#red"}),
            json!({"type": "gif"}),
        ] {
            assert_eq!(
                ada.fails("take_screenshot", wrong.clone()).await.kind(),
                Kind::InvalidInput,
                "{wrong}"
            );
        }
    });
}

#[test]
fn a_page_is_saved_as_a_pdf() {
    STAGE.run(async {
        let url = STAGE.site.html("/pdf", PAGE);
        let ada = STAGE.seat("pdfs").await;
        ada.go(&url).await;
        let whole = told(&ada.call("save_pdf", json!({"tag": "report"})).await);
        let one = told(&ada.call("save_pdf", json!({"pages": "1", "landscape": true})).await);
        let read = async |about: &Value| {
            let Outcome::Complete(read) = ada.read(about["uri"].as_str().unwrap()).await else {
                panic!("not read")
            };
            read.to::<Value>().unwrap()["contents"][0]["blob"].as_str().unwrap().to_owned()
        };
        let (whole_bytes, one_bytes) = (read(&whole).await, read(&one).await);
        // A PDF begins with `%PDF`.
        assert!(whole_bytes.starts_with("JVBERi") && one_bytes.starts_with("JVBERi"));
        assert_ne!(whole["bytes"], one["bytes"]);
        assert_eq!(
            ada.data("list_screenshots", json!({"tag": "report"})).await["items"][0]["mimeType"],
            "application/pdf"
        );
        assert_eq!(ada.fails("save_pdf", json!({"pages": "99"})).await.kind(), Kind::InvalidInput);
    });
}
