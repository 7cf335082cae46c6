//! Scripts and what becomes of them, without a child.
use std::cell::RefCell;

use super::*;
use crate::talk::Ask;

/// An outside that answers each question with the first answer left, and remembers what was asked.
struct Scripted {
    answers: RefCell<Vec<Result<Raw, String>>>,
    asked: RefCell<Vec<Ask>>,
}

impl Outside for Scripted {
    fn ask(&self, ask: Ask) -> Result<Raw, String> {
        self.asked.borrow_mut().push(ask);
        if self.answers.borrow().is_empty() {
            Err("nobody is there".into())
        } else {
            self.answers.borrow_mut().remove(0)
        }
    }
}

fn order(source: &str) -> Order {
    let limits = RunLimits { steps: 100_000, output: 10_000 };
    Order { name: "test.star".into(), source: source.into(), function: None, args: None, limits }
}

fn run_with(order: &Order, answers: Vec<Result<Raw, String>>) -> (Finished, Vec<Ask>) {
    let outside = Scripted { answers: RefCell::new(answers), asked: RefCell::default() };
    let finished = Language::new().run(order, &outside);
    (finished, outside.asked.into_inner())
}

#[track_caller]
fn check(source: &str, expect: &str) {
    let (finished, _) = run_with(&order(source), Vec::new());
    match finished.outcome {
        Ok(result) => assert_eq!(result.as_str(), expect),
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
fn check_fails(source: &str, expect: &[&str]) {
    let (finished, _) = run_with(&order(source), Vec::new());
    let error = finished.outcome.map(|raw| raw.as_str().to_owned()).unwrap_err();
    for part in expect {
        assert!(error.contains(part), "`{part}` is not in:\n{error}");
    }
}

#[test]
fn the_result_is_main_else_result_else_the_public_values() {
    check("def main():\n    return 1\nresult = 2\nx = 3", "1");
    check("result = [1, 'a', None, True, 1.5]\nx = 3", r#"[1,"a",null,true,1.5]"#);
    check("x = 1\n_y = 2\ndef f():\n    pass\nz = {'a': (1, 2)}", r#"{"x":1,"z":{"a":[1,2]}}"#);
    check("", "{}");
    check("main = 7", r#"{"main":7}"#);
    check("total = 0\nfor i in range(4):\n    total += i", r#"{"total":6,"i":3}"#);
}

#[test]
fn numbers_stay_what_they_are() {
    check("result = 9007199254740993 * 1000000000000", "9007199254740993000000000000");
    check("result = json.decode('[1, 2.0, 12345678901234567890]')", "[1,2.0,12345678901234567890]");
    check("result = json.encode({'a': [1, 2.5, None]})", r#""{\"a\":[1,2.5,null]}""#);
    check("result = type(json.decode('3'))", r#""int""#);
}

#[test]
fn text_is_formatted_as_in_the_language_people_know() {
    check(r#"result = format("%s has %d of %v%%", "Ada", 42, [1])"#, r#""Ada has 42 of [1]%""#);
    check(
        r#"result = format("%5d|%-5s|%05d|%.2f|%x|%q|%t", 7, "a", -42, 1.5, 255, "b", True)"#,
        r#""    7|a    |-0042|1.50|ff|\"b\"|true""#,
    );
    check(r#"result = format("%j", {"a": 1})"#, r#""{\"a\":1}""#);
    check_fails(r#"format("%d", "x")"#, &["`%d` takes an int", "`string`"]);
    check_fails(r#"format("%s")"#, &["needs more values"]);
    check_fails(r#"format("a", 1)"#, &["1 values fewer"]);
    check_fails(r#"format("%99999s", 1)"#, &["wider than"]);
    check_fails(r#"format("%y", 1)"#, &["`%y` means nothing"]);
    check_fails(r#"format("50%")"#, &["ends behind"]);
}

#[test]
fn what_it_prints_is_kept_and_cut() {
    let (finished, _) = run_with(&order("print('a', 1)\nprint('b')\nfail('no')"), Vec::new());
    assert_eq!(finished.printed, Printed { text: "a 1\nb\n".into(), cut: false });
    assert!(finished.outcome.is_err());
    let (finished, _) = run_with(&order("for i in range(100):\n    print('é' * 1000)"), Vec::new());
    assert!(finished.printed.cut && finished.printed.text.len() <= 64 * 1024);
}

#[test]
fn errors_name_the_place() {
    check_fails("x = 1\ny = = 2", &["test.star:2:5"]);
    check_fails(
        "def f():\n    return 1 // 0\ndef main():\n    return f()",
        &["Traceback", "test.star:2", "test.star:4"],
    );
    check_fails("result = undefined", &["undefined", "test.star:1:10"]);
    check_fails("result = print", &["no data"]);
    check_fails("def f(x):\n    return f(x)\nf(1)", &["stack overflow"]);
    check_fails(&format!("x = {}", "(".repeat(10_000)), &["test.star:1:254: the source nests"]);
}

#[test]
fn steps_memory_and_output_have_limits() {
    check_fails("def main():\n    for i in range(1000000000):\n        x = i", &["more than 100000 steps"]);
    // What is loaded counts with what loads it.
    let loaded = "def f():\n    for i in range(60000):\n        x = i\nf()";
    let text = || Ok(Raw::string(loaded));
    let (finished, _) = run_with(&order("load('a.star', 'f')\nresult = 1"), vec![text()]);
    assert_eq!(finished.outcome.unwrap().as_str(), "1");
    let both = order("load('a.star', 'f')\nload('b.star', g = 'f')\nresult = 1");
    let (finished, _) = run_with(&both, vec![text(), text()]);
    assert!(finished.outcome.map(|_| ()).unwrap_err().contains("more than 100000 steps"));
    check_fails("result = 'a' * 20000", &["10000 bytes"]);
    check_fails("x = []\nfor i in range(200):\n    x = [x]\nresult = x", &["levels deep"]);
    check_fails("x = []\nx.append(x)\nresult = x", &["levels deep"]);
}

#[test]
fn a_function_is_called_with_arguments_or_told_what_it_takes() {
    let source = "def add(a, b = 2):\n    return a + b\n_hidden = 1\ndef _private():\n    pass\nx = 5";
    let called = |function: &str, args: Option<&'static str>| {
        let order = Order { function: Some(function.into()), args: args.map(Raw::literal), ..order(source) };
        run_with(&order, Vec::new()).0.outcome.map(|raw| raw.as_str().to_owned())
    };
    assert_eq!(called("add", Some("[1, 5]")).unwrap(), "6");
    assert_eq!(called("add", Some(r#"{"a": 1}"#)).unwrap(), "3");
    let said = called("add", None).unwrap_err();
    assert!(said.contains("`add(a, b = ...)`"), "{said}");
    assert!(called("add", Some("[1, 2, 3]")).unwrap_err().contains("do not fit"));
    assert!(called("add", Some(r#"{"a": 1, "c": 2}"#)).unwrap_err().contains("do not fit"));
    assert!(called("sub", None).unwrap_err().contains("there is `add`"));
    assert!(called("_private", None).unwrap_err().contains("there is no function"));
    assert!(called("x", None).unwrap_err().contains("no function but"));
}

#[test]
fn what_it_needs_is_asked_for_outside() {
    let source = r#"
names = secrets.list()
key = secrets.get("API_KEY")
page = http.post("https://api.example.com/x", {"a": 1}, headers = {"X-Key": key})
found = tools.call("workspace_read", {"path": "a.md"})
lost = tools.try_call("web_fetch")
result = [names, page["status"], found, lost, tools.list()]
"#;
    let answers = vec![
        Ok(Raw::literal(r#"["API_KEY"]"#)),
        Ok(Raw::literal(r#""sesame""#)),
        Ok(Raw::literal(r#"{"status":201,"body":"","headers":{}}"#)),
        Ok(Raw::literal(r#"{"content":"hello"}"#)),
        Err("no such tool".into()),
        Ok(Raw::literal("[]")),
    ];
    let (finished, asked) = run_with(&order(source), answers);
    assert_eq!(
        finished.outcome.unwrap().as_str(),
        r#"[["API_KEY"],201,{"content":"hello"},{"ok":false,"error":"no such tool"},[]]"#
    );
    let Ask::Http(http) = &asked[2] else { panic!("{asked:?}") };
    assert_eq!((http.method.as_str(), http.body.as_str()), ("POST", r#"{"a":1}"#));
    let headers: Vec<(&str, &str)> =
        http.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(headers, [("content-type", "application/json"), ("x-key", "sesame")]);
    let Ask::Tool { name, arguments } = &asked[4] else { panic!("{asked:?}") };
    assert_eq!((name.as_str(), arguments.as_str()), ("web_fetch", "{}"));
}

#[test]
fn scripts_load_others_once_and_never_themselves() {
    let text = |text: &str| Ok(Raw::string(text));
    let source = "load('a.star', 'one')\nload('b.star', 'two')\nresult = [one(), two]";
    let a = "load('b.star', 'two')\ndef one():\n    return two - 1";
    let (finished, asked) = run_with(&order(source), vec![text(a), text("two = 2\n_three = 3")]);
    assert_eq!(finished.outcome.unwrap().as_str(), "[1,2]");
    assert_eq!(asked.len(), 2);

    let (finished, _) = run_with(&order("load('a.star', 'x')"), vec![text("load('a.star', 'x')\nx = 1")]);
    assert!(finished.outcome.unwrap_err().contains("loads itself"));
    let (finished, _) = run_with(&order("load('a.star', '_x')"), vec![text("_x = 1")]);
    assert!(finished.outcome.is_err());
    let (finished, _) = run_with(&order("load('gone.star', 'x')"), Vec::new());
    assert_eq!(finished.outcome.unwrap_err(), "nobody is there");
    let (finished, _) = run_with(&order("load('a.star', 'x')\nresult = x"), vec![text("x = = 1")]);
    assert!(finished.outcome.unwrap_err().contains("a.star:1:5"));
}
