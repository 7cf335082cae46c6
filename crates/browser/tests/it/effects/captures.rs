//! Pictures and PDFs: what is really in them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolgate_core::Outcome;

use crate::stage::{STAGE, Seat, ref_of};

const RED: [u8; 3] = [255, 0, 0];
const WHITE: [u8; 3] = [255, 255, 255];

/// A picture of the page, and what was told of it.
async fn shot(seat: &Seat, arguments: Value) -> (Value, Option<String>) {
    let result = seat.call("take_screenshot", arguments).await;
    let about = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    (about, result["content"][2]["data"].as_str().map(Into::into))
}

/// The width and height of a picture, and its colour in the middle, as a browser sees them; a JPEG may be a shade off.
async fn drawn(seat: &Seat, mime: &str, data: &str) -> Value {
    let draw = format!(
        "(async () => {{ const image = new Image(); image.src = 'data:{mime};base64,{data}'; await image.decode(); \
         const {{width, height}} = image; const canvas = new OffscreenCanvas(width, height).getContext('2d'); \
         canvas.drawImage(image, 0, 0); \
         return [width, height, [...canvas.getImageData(width / 2, height / 2, 1, 1).data].slice(0, 3).map(shade => Math.round(shade / 51) * 51)] }})()"
    );
    seat.value(&draw).await
}

#[test]
fn a_picture_shows_what_is_asked_for_in_the_format_that_is_asked_for() {
    STAGE.run(async {
        let page = "<body style='margin:0'><button style='width:300px;height:50px;border:0;padding:0;background:red'></button>\
            <div style='height:1000px'></div><div id=red style='width:200px;height:100px;background:red'></div><div style='height:850px'></div>";
        let ada = STAGE.seat("pictures").await;
        ada.go(&STAGE.site.html("/pictures", page)).await;
        let button = ref_of(&ada.see().await, "button");
        let (png, jpeg, webp) = (&b"\x89PNG\r\n"[..], &b"\xff\xd8\xff"[..], &b"RIFF"[..]);
        for (what, begin, expect) in [
            (json!({"type": "png"}), png, json!([1280, 720, WHITE])),
            (json!({"type": "png", "ref": button}), png, json!([300, 50, RED])),
            (json!({"type": "png", "selector": "#red"}), png, json!([200, 100, RED])),
            (json!({"type": "png", "fullPage": true}), png, json!([1280, 2000, WHITE])),
            (json!({"type": "jpeg", "selector": "#red"}), jpeg, json!([200, 100, RED])),
            (json!({"type": "webp", "fullPage": true}), webp, json!([1280, 2000, WHITE])),
        ] {
            let (about, data) = shot(&ada, what.clone()).await;
            let data = data.unwrap();
            assert!(STANDARD.decode(&data).unwrap().starts_with(begin), "{what}");
            assert_eq!(drawn(&ada, about["mimeType"].as_str().unwrap(), &data).await, expect, "{what}");
        }
    });
}

#[test]
fn a_picture_is_as_fine_and_as_far_shown_as_is_asked_for() {
    STAGE.run(async {
        // Noise makes a picture that is too large to be shown unasked.
        let page = "<canvas id=c width=600 height=500></canvas><script>const context = c.getContext('2d'); \
            const image = context.createImageData(600, 500); let seed = 1; \
            for (let at = 0; at < image.data.length; at++) image.data[at] = at % 4 == 3 ? 255 : (seed = seed * 16807 % 2147483647) & 255; \
            context.putImageData(image, 0, 0)</script>";
        let ada = STAGE.seat("fine pictures").await;
        ada.go(&STAGE.site.html("/fine-pictures", page)).await;
        for format in ["jpeg", "webp"] {
            let mut bytes = Vec::new();
            for quality in [1, 50, 100] {
                let (about, _) = shot(&ada, json!({"selector": "canvas", "type": format, "quality": quality})).await;
                bytes.push(about["bytes"].as_u64().unwrap());
            }
            assert!(bytes.is_sorted_by(|less, more| less < more), "{format}: {bytes:?}");
        }
        for (inline, is_shown) in [(None, false), (Some(false), false), (Some(true), true)] {
            let mut arguments = json!({"selector": "canvas", "type": "png"});
            if let Some(inline) = inline {
                arguments["inline"] = inline.into();
            }
            let (about, data) = shot(&ada, arguments).await;
            assert!(about["bytes"].as_u64() > Some(300_000), "{about}");
            assert_eq!(data.is_some(), is_shown, "{inline:?}");
        }
    });
}

#[test]
fn a_pdf_has_the_pages_that_are_asked_for_in_the_way_that_is_asked_for() {
    STAGE.run(async {
        let page = "<p>one</p><p style='break-before:page'>two <a href='http://two.invalid/'>link</a></p><p style='break-before:page'>three</p>";
        let ada = STAGE.seat("printed").await;
        ada.go(&STAGE.site.html("/printed", page)).await;
        for (how, pages, is_wide, has_link) in [
            (json!({}), 3, false, true),
            (json!({"pages": "1"}), 1, false, false),
            (json!({"pages": "2-3"}), 2, false, true),
            (json!({"landscape": true}), 3, true, true),
        ] {
            let told = ada.text("save_pdf", how.clone()).await;
            let told: Value = serde_json::from_str(&told).unwrap();
            let Outcome::Complete(read) = ada.read(told["uri"].as_str().unwrap()).await else { panic!("{told}") };
            let read: Value = read.to().unwrap();
            let bytes = STANDARD.decode(read["contents"][0]["blob"].as_str().unwrap()).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            let boxes: Vec<&str> = text.split("/MediaBox [").skip(1).filter_map(|rest| rest.split(']').next()).collect();
            assert_eq!(boxes.len(), pages, "{how}: {boxes:?}");
            let size: Vec<f64> = boxes[0].split(' ').map(|number| number.parse().unwrap()).collect();
            assert_eq!(size[2] > size[3], is_wide, "{how}: {size:?}");
            assert_eq!(text.contains("two.invalid"), has_link, "{how}");
        }
    });
}
