//! A tab, tried against a browser of our own.

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex};
use toolgate_host::Tasks;

use super::*;

#[tokio::test]
async fn a_dialog_that_opens_while_one_is_answered_is_not_forgotten() {
    let (ours, mut writes) = duplex(1 << 20);
    let (reads, theirs) = duplex(1 << 20);
    let devtools = Devtools::over((ours, theirs), &Tasks::new(), |_, _| {});
    let target = json!({"targetId": "main", "url": "about:blank"});
    let tab = Tab::open("t1".into(), &devtools, ("s1", &target), &Options::default());
    let opens = |words: &str| {
        let dialog = json!({"type": "alert", "message": words});
        tab.change(|state| state.apply("s1", "Page.javascriptDialogOpening", &dialog));
    };
    opens("first");
    let browser = async {
        let mut messages = BufReader::new(reads).split(0);
        while let Some(message) = messages.next_segment().await.unwrap() {
            let message: Value = serde_json::from_slice(&message).unwrap();
            if message["method"] == "Page.handleJavaScriptDialog" {
                tab.change(|state| state.apply("s1", "Page.javascriptDialogClosed", &json!({})));
                opens("second");
                let answer = json!({"id": message["id"], "result": {}}).to_string();
                return writes.write_all(format!("{answer}\0").as_bytes()).await.unwrap();
            }
        }
    };
    let (answered, ()) = tokio::join!(tab.answer_dialog(true, None), browser);
    answered.unwrap();
    let open = tab.state().dialog.clone();
    assert_eq!(open.unwrap().message, "second");
}
