//! Using pages: clicks, keys, fields, dialogs, files.

use serde_json::{Value, json};
use toolgate_browser::BrowserConfig;
use toolgate_core::Kind;

use crate::stage::{STAGE, Seat, config, ref_of};

/// A caller at a page.
async fn at(name: &str, html: &str) -> Seat {
    let url = STAGE.site.html(&format!("/{name}"), html);
    let seat = STAGE.seat(name).await;
    seat.go(&url).await;
    seat
}

#[test]
fn a_click_reaches_the_element_with_button_keys_and_count() {
    STAGE.run(async {
        let page = "<div style='height:3000px'></div><button id=b>Press</button><script>const log = []; \
            for (const kind of ['click', 'dblclick', 'contextmenu', 'auxclick']) b.addEventListener(kind, e => \
            { e.preventDefault(); log.push(kind + e.button + (e.ctrlKey ? 'c' : '') + (e.shiftKey ? 's' : '') + e.isTrusted) })</script>";
        let ada = at("click", page).await;
        let told = ada.data("click_element", json!({"selector": "#b", "timeout": 60_000})).await;
        assert_eq!(told["did"], "clicked button \"Press\" e1", "{told}");
        ada.data("click_element", json!({"ref": "e1", "button": "right"})).await;
        ada.data("click_element", json!({"ref": "e1", "button": "middle"})).await;
        ada.data("click_element", json!({"ref": "e1", "doubleClick": true})).await;
        ada.data("click_element", json!({"ref": "e1", "modifiers": ["Control", "shift"]})).await;
        let log = ada.value("log.join()").await;
        assert_eq!(log, "click0true,contextmenu2true,auxclick2true,auxclick1true,click0true,click0true,dblclick0true,click0cstrue");
        assert_eq!(ada.fails("click_element", json!({"ref": "e1", "modifiers": ["Hyper"]})).await.kind(), Kind::InvalidInput);
        assert_eq!(ada.fails("click_element", json!({"ref": "e1", "timeout": 0})).await.kind(), Kind::InvalidInput);
    });
}

#[test]
fn a_click_waits_until_it_can_be_made_and_says_what_it_waited_for() {
    STAGE.run(async {
        // One that an animation moves may seem to stand still to whoever looks seldom.
        let page = "<style>#cover {position:fixed; inset:0}</style>\
            <button id=b disabled>Late</button><button id=h style='display:none'>Hidden</button>\
            <button id=m style='position:absolute; top:100px'>Moving</button><script>\
            b.onclick = () => b.textContent = 'done'; m.onclick = () => m.textContent = 'caught'; var moving = true, at = 0; \
            function move() { if (moving) { m.style.left = (at = (at + 37) % 401) + 'px'; requestAnimationFrame(move) } } \
            move()</script>";
        let ada = at("waits", page).await;
        async fn check(ada: &Seat, selector: &str, words: &str) {
            let error = ada.fails("click_element", json!({"selector": selector, "timeout": 400})).await;
            assert!(error.kind() == Kind::Timeout && error.message().contains(words), "{selector}: {error}");
            assert!(error.message().starts_with("waited 400 ms for "), "{error}");
        }
        check(&ada, "#b", "to be enabled").await;
        check(&ada, "#h", "to be visible").await;
        check(&ada, "#m", "keeps moving").await;
        ada.value("b.disabled = false; document.body.insertAdjacentHTML('beforeend', '<div id=cover></div>')").await;
        check(&ada, "#b", "<div> e").await;
        ada.value("void setTimeout(() => cover.remove(), 500)").await;
        ada.data("click_element", json!({"selector": "#b", "timeout": 60_000})).await;
        assert_eq!(ada.value("b.textContent").await, "done");
        ada.value("void setTimeout(() => moving = false, 300)").await;
        ada.data("click_element", json!({"selector": "#m", "timeout": 60_000})).await;
        assert_eq!(ada.value("m.textContent").await, "caught");
        ada.value("void setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<a id=new href=#x>new</a>'), 300)").await;
        let told = ada.data("click_element", json!({"selector": "#new", "timeout": 60_000})).await;
        assert!(told["url"].as_str().unwrap().ends_with("#x"), "{told}");
    });
}

#[test]
fn a_click_that_leads_to_another_page_waits_for_it() {
    STAGE.run(async {
        STAGE.site.html("/led", "<title>Led here</title>");
        let ada = at("leads", "<a href='/led'>go</a>").await;
        let told = ada.data("click_element", json!({"selector": "a", "timeout": 60_000})).await;
        assert_eq!(told["title"], "Led here", "{told}");
    });
}

#[test]
fn fields_of_all_kinds_are_filled() {
    STAGE.run(async {
        let page = "<form onsubmit='event.preventDefault(); document.title = \"sent\"'>\
            <input id=a value=old maxlength=8><textarea id=t></textarea><div id=e contenteditable>old</div>\
            <input id=c type=checkbox><input id=d type=date><input id=r type=range min=0 max=10>\
            <select id=s><option value=1>One<option value=2>Two</select><input id=ro readonly value=x>\
            <input id=f type=file><input id=n type=number><button>go</button></form>\
            <script>let inputs = 0; document.addEventListener('input', () => inputs++)</script>";
        let ada = at("fill", page).await;
        let fill = async |selector: &str, text: &str| {
            ada.data("fill_text", json!({"selector": selector, "text": text, "timeout": 30_000})).await["did"]
                .clone()
        };
        assert_eq!(fill("#a", "grün").await, "filled textbox \"a\" with \"grün\"".replace(" \"a\"", ""));
        assert_eq!(fill("#a", "much too long").await, "filled textbox with \"much too\"");
        ada.data("fill_text", json!({"selector": "#t", "text": "two\nlines"})).await;
        ada.data("fill_text", json!({"selector": "#t", "text": "!", "clearFirst": false})).await;
        assert_eq!(ada.value("t.value").await, "two\nlines!");
        fill("#e", "new").await;
        assert_eq!(ada.value("e.textContent").await, "new");
        assert_eq!(fill("#c", "true").await, "filled checkbox with \"true\"");
        fill("#c", "true").await;
        assert_eq!(ada.value("c.checked").await, true);
        fill("#d", "2026-11-16").await;
        fill("#r", "7").await;
        fill("#s", "Two").await;
        fill("#n", "12").await;
        assert_eq!(
            ada.value("[d.value, r.value, s.value, n.value, inputs > 5]").await,
            json!(["2026-11-16", "7", "2", "12", true])
        );
        fill("#a", "").await;
        assert_eq!(ada.value("a.value").await, "");
        for (selector, text) in
            [("#d", "tomorrow"), ("#c", "maybe"), ("#ro", "y"), ("#f", "y"), ("form", "y")]
        {
            let error =
                ada.fails("fill_text", json!({"selector": selector, "text": text, "timeout": 300})).await;
            assert!(matches!(error.kind(), Kind::InvalidInput | Kind::Timeout), "{selector}: {error}");
        }
        ada.data("fill_text", json!({"selector": "#a", "text": "x", "submit": true})).await;
        assert_eq!(ada.value("document.title").await, "sent");
    });
}

#[test]
fn a_form_is_filled_in_one_call() {
    STAGE.run(async {
        let page = "<label>Name <input id=a></label><label>Ok <input id=c type=checkbox></label>\
            <select id=s aria-label=Pick><option>One<option>Two</select>";
        let ada = at("form", page).await;
        let seen = ada.see().await;
        let fields = json!([
            {"ref": ref_of(&seen, "textbox \"Name\""), "value": "Ada"},
            {"selector": "#c", "value": "true"},
            {"selector": "#s", "value": "Two"},
        ]);
        let told = ada.data("fill_form", json!({"fields": fields, "timeout": 30_000})).await;
        assert_eq!(ada.value("[a.value, c.checked, s.value]").await, json!(["Ada", true, "Two"]), "{told}");
        let half = json!([{"selector": "#a", "value": "Bob"}, {"selector": "#nobody", "value": "x"}]);
        let error = ada.fails("fill_form", json!({"fields": half, "timeout": 300})).await;
        assert!(
            error.message().contains("element_not_found")
                && error.message().contains("filled before: textbox"),
            "{error}"
        );
        assert_eq!(ada.fails("fill_form", json!({"fields": []})).await.kind(), Kind::InvalidInput);
        assert_eq!(
            ada.fails("fill_form", json!({"fields": [{"value": "x"}]})).await.kind(),
            Kind::InvalidInput
        );
    });
}

#[test]
fn keys_are_pressed() {
    STAGE.run(async {
        let page = "<input id=a value=abc><input id=b><script>const keys = []; \
            document.onkeydown = e => keys.push((e.ctrlKey ? 'C-' : '') + e.key)</script>";
        let ada = at("keys", page).await;
        ada.data("press_key", json!({"key": "End", "selector": "#a", "timeout": 30_000})).await;
        ada.data("press_key", json!({"key": "x"})).await;
        assert_eq!(ada.value("a.value").await, "abcx");
        ada.data("press_key", json!({"key": "Control+a"})).await;
        ada.data("press_key", json!({"key": "Delete"})).await;
        assert_eq!(ada.value("a.value").await, "");
        ada.data("press_key", json!({"key": "Tab"})).await;
        assert_eq!(ada.value("document.activeElement.id").await, "b");
        assert_eq!(ada.value("keys.join()").await, "End,x,C-a,Delete,Tab");
        assert_eq!(ada.fails("press_key", json!({"key": "Foo"})).await.kind(), Kind::InvalidInput);
    });
}

#[test]
fn options_are_chosen_by_label_value_and_place() {
    STAGE.run(async {
        let page = "<select id=s><option value=a>Alpha<option value=b>Beta<option value=c disabled>Gamma</select>\
            <select id=m multiple><option>1<option>2<option>3</select><p id=p>x</p>\
            <script>let changes = 0; s.onchange = () => changes++</script>";
        let ada = at("options", page).await;
        let choose = async |arguments: Value| ada.data("select_option", arguments).await;
        let told = choose(json!({"selector": "#s", "values": ["Beta"], "timeout": 30_000})).await;
        assert!(told["did"].as_str().unwrap().starts_with("chose \"Beta\" in combobox"), "{told}");
        choose(json!({"selector": "#s", "values": ["a"]})).await;
        choose(json!({"selector": "#s", "index": 1})).await;
        choose(json!({"selector": "#m", "values": ["1", "3"]})).await;
        let now = ada.value("[s.value, changes, [...m.selectedOptions].map(o => o.value).join()]").await;
        assert_eq!(now, json!(["b", 3, "1,3"]));
        let missing = ada.fails("select_option", json!({"selector": "#s", "values": ["Delta"]})).await;
        assert!(missing.message().contains("Delta; there are: Alpha (a), Beta (b)"), "{missing}");
        for wrong in [
            json!({"selector": "#s", "values": ["a", "b"]}),
            json!({"selector": "#p", "values": ["a"]}),
            json!({"selector": "#s"}),
            json!({"selector": "#s", "values": ["a"], "index": 1}),
        ] {
            assert_eq!(ada.fails("select_option", wrong.clone()).await.kind(), Kind::InvalidInput, "{wrong}");
        }
        assert_eq!(ada.fails("select_option", json!({"selector": "#s", "values": ["c"]})).await.kind(), Kind::NotFound);
    });
}

#[test]
fn the_mouse_hovers_scrolls_and_drags() {
    STAGE.run(async {
        let page = "<style>#h:hover + p {display: block} p {display: none; position: fixed} #box {height: 100px; overflow: auto}</style>\
            <div id=h>over</div><p>shown</p><div id=box><div style='height:1000px'>x</div></div>\
            <div id=from draggable=true>drag</div><div id=to style='height:50px'>drop</div>\
            <div id=knob style='width:50px;height:20px'>k</div><div style='height:3000px'></div><b id=end>end</b>\
            <script>from.ondragstart = e => e.dataTransfer.setData('text', 'cargo'); to.ondragover = e => e.preventDefault(); \
            to.ondrop = e => { e.preventDefault(); to.textContent = e.dataTransfer.getData('text') }; \
            let moves = 0; knob.onmousedown = () => document.onmousemove = () => moves++; \
            document.onmouseup = () => document.onmousemove = null</script>";
        let ada = at("mouse", page).await;
        ada.data("hover_element", json!({"selector": "#h", "timeout": 30_000})).await;
        assert!(ada.see().await.contains("shown"));
        let down = ada.data("scroll_page", json!({"y": 500})).await;
        assert!(down["did"].as_str().unwrap().starts_with("scrolled to 0, 500 of "), "{down}");
        ada.data("scroll_page", json!({})).await;
        assert_eq!(ada.value("scrollY").await, 500 + 648);
        ada.data("scroll_page", json!({"to": "bottom"})).await;
        assert_eq!(ada.value("scrollY + innerHeight >= document.documentElement.scrollHeight - 1").await, true);
        ada.data("scroll_page", json!({"to": "top"})).await;
        ada.data("scroll_page", json!({"selector": "#end"})).await;
        assert_eq!(ada.value("scrollY > 1000").await, true);
        ada.data("scroll_page", json!({"selector": "#box", "y": 300})).await;
        assert_eq!(ada.value("box.scrollTop").await, 300);
        let drag = json!({"sourceSelector": "#from", "targetSelector": "#to", "timeout": 30_000});
        ada.data("drag_and_drop", drag).await;
        assert_eq!(ada.value("to.textContent").await, "cargo");
        ada.data("drag_and_drop", json!({"sourceSelector": "#knob", "targetSelector": "#h"})).await;
        assert_eq!(ada.value("moves > 2").await, true);
        assert_eq!(ada.fails("drag_and_drop", json!({"sourceSelector": "#knob"})).await.kind(), Kind::InvalidInput);
    });
}

#[test]
fn elements_and_texts_are_waited_for() {
    STAGE.run(async {
        let page = "<p id=a>first</p><p id=h style='display:none'>hidden</p><script>setTimeout(() => { \
            a.remove(); document.body.insertAdjacentHTML('beforeend', '<p id=b>second</p>') }, 300)</script>";
        let ada = at("waiting", page).await;
        let wait = async |arguments: Value| ada.data("wait_for_element", arguments).await;
        wait(json!({"selector": "#b", "timeout": 60_000})).await;
        wait(json!({"selector": "#a", "state": "detached"})).await;
        wait(json!({"selector": "#h", "state": "attached"})).await;
        wait(json!({"selector": "#h", "state": "hidden"})).await;
        wait(json!({"text": "second"})).await;
        wait(json!({"textGone": "first"})).await;
        // Also one that stands far down a long page.
        ada.value("document.body.insertAdjacentHTML('beforeend', `<p>${'long '.repeat(60000)}</p><p>the end</p>`); 1").await;
        wait(json!({"text": "the end", "timeout": 60_000})).await;
        let there = json!({"textGone": "the end", "timeout": 200});
        assert_eq!(ada.fails("wait_for_element", there).await.kind(), Kind::Timeout);
        let late = ada.fails("wait_for_element", json!({"selector": "#h", "timeout": 200})).await;
        assert_eq!((late.kind(), late.message()), (Kind::Timeout, "waited 200 ms for `#h` to be visible"));
        for wrong in [json!({}), json!({"text": "a", "selector": "b"}), json!({"selector": "[["})] {
            assert_eq!(
                ada.fails("wait_for_element", wrong.clone()).await.kind(),
                Kind::InvalidInput,
                "{wrong}"
            );
        }
    });
}

#[test]
fn dialogs_are_told_and_answered() {
    STAGE.run(async {
        let page = "<button id=a onclick='alert(\"hi\"); document.title = \"went on\"'>alert</button>\
            <button id=c onclick='document.title = confirm(\"sure?\")'>confirm</button>\
            <button id=p onclick='document.title = prompt(\"name?\", \"nobody\")'>prompt</button>\
            <button id=t onclick='for (const one of [1, 2, 3]) alert(one); document.title = \"three\"'>thrice</button>";
        let ada = at("dialogs", page).await;
        assert_eq!(ada.fails("handle_dialog", json!({"accept": true})).await.message(), "no dialog is open");
        let told = ada.data("click_element", json!({"selector": "#a", "timeout": 60_000})).await;
        assert_eq!(told["dialog"], "alert \"hi\"", "{told}");
        let blocked = ada.fails("get_page_snapshot", json!({})).await;
        assert!(blocked.message().contains("a dialog is open: alert \"hi\""), "{blocked}");
        ada.data("handle_dialog", json!({"accept": true})).await;
        assert_eq!(ada.value("document.title").await, "went on");
        ada.data("click_element", json!({"selector": "#c"})).await;
        ada.data("handle_dialog", json!({"accept": false})).await;
        assert_eq!(ada.value("document.title").await, "false");
        ada.data("click_element", json!({"selector": "#p"})).await;
        let answered = ada.data("handle_dialog", json!({"accept": true, "promptText": "Ada"})).await;
        assert_eq!(answered["did"], "accepted the prompt \"name?\" (default \"nobody\")");
        assert_eq!(ada.value("document.title").await, "Ada");
        ada.data("click_element", json!({"selector": "#t"})).await;
        for next in [json!("alert \"2\""), json!("alert \"3\""), Value::Null] {
            assert_eq!(ada.data("handle_dialog", json!({"accept": true})).await["dialog"], next);
        }
        assert_eq!(ada.value("document.title").await, "three");
        let url = STAGE.site.html("/greets", "<script>alert('welcome')</script>");
        assert_eq!(ada.go(&url).await["dialog"], "alert \"welcome\"");
        ada.data("handle_dialog", json!({"accept": true})).await;
        // Whoever leaves a page wants to leave it.
        let url = STAGE.site.html(
            "/clings",
            "<button onclick='1'>x</button><script>onbeforeunload = e => e.preventDefault()</script>",
        );
        ada.go(&url).await;
        ada.data("click_element", json!({"selector": "button"})).await;
        assert_eq!(ada.go("about:blank").await["url"], "about:blank");
    });
}

#[test]
fn a_dialog_that_is_forgotten_is_dismissed() {
    let (hub, _tasks) = STAGE.other(BrowserConfig { idle_seconds: 12, ..config() });
    STAGE.run(async {
        STAGE.site.put("/forgotten", "200 OK", "", "");
        let page = "<button onclick='fetch(\"/forgotten?\" + confirm(\"still there?\"))'>ask</button>";
        let url = STAGE.site.html("/forgets", page);
        let ada = Seat::take(&hub, "ada", json!({})).await;
        ada.go(&url).await;
        let told = ada.data("click_element", json!({"selector": "button", "timeout": 60_000})).await;
        assert_eq!(told["dialog"], "confirm \"still there?\"", "{told}");
        while STAGE.site.asked("/forgotten?false").is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    });
}

#[test]
fn files_of_the_workspace_are_uploaded_and_no_others() {
    STAGE.run(async {
        std::fs::write(STAGE.workspace().join("cargo.txt"), "precious").unwrap();
        let page = "<input id=f type=file><input id=m type=file multiple style='opacity:0'><p id=p>x</p>\
            <script>f.onchange = async () => document.title = f.files[0].name + ':' + await f.files[0].text()</script>";
        let ada = at("upload", page).await;
        let told = ada.data("upload_file", json!({"selector": "#f", "paths": ["cargo.txt"], "timeout": 30_000})).await;
        assert!(told["did"].as_str().unwrap().starts_with("put cargo.txt into file"), "{told}");
        ada.data("wait_for_element", json!({"selector": "title", "state": "attached"})).await;
        assert_eq!(ada.value("f.files[0].text().then(t => document.title)").await, "cargo.txt:precious");
        ada.data("upload_file", json!({"selector": "#m", "paths": ["cargo.txt", "/workspace/cargo.txt"]})).await;
        assert_eq!(ada.value("m.files.length").await, 2);
        for (path, kind) in [
            ("../data", Kind::InvalidInput),
            ("/etc/passwd", Kind::Denied),
            ("nothing.txt", Kind::FileNotFound),
            (".", Kind::InvalidInput),
        ] {
            let error = ada.fails("upload_file", json!({"selector": "#f", "paths": [path]})).await;
            assert!(error.kind() == kind || error.kind() == Kind::Denied, "{path}: {:?} {error}", error.kind());
        }
        let error = ada.fails("upload_file", json!({"selector": "#p", "paths": ["cargo.txt"]})).await;
        assert_eq!(error.kind(), Kind::InvalidInput, "{error}");
    });
}

#[test]
fn a_password_is_filled_in_and_not_told() {
    STAGE.run(async {
        let ada = at("password", "<input type=password aria-label=Password>").await;
        let fill = json!({"selector": "input", "text": "sesame", "timeout": 60_000});
        let filled = ada.data("fill_text", fill).await;
        assert_eq!(filled["did"], "filled textbox \"Password\" with \"••••••\"");
        assert_eq!(ada.value("document.querySelector('input').value").await, "sesame");
    });
}
