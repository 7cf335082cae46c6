//! Pages, and what they show.

use std::time::Duration;

use super::*;

fn shown(html: &str, style: Style) -> Shown {
    let url = Url::parse("https://example.com/docs/page?x=1").unwrap();
    read(html, &url, style, Bounds::default()).unwrap()
}

#[track_caller]
fn check(html: &str, expect: &str) {
    assert_eq!(shown(html, Style::Markdown).content, expect, "{html}");
}

#[test]
fn a_page_becomes_markdown() {
    check("<h1>One</h1><p>Two <b>three</b> <i>four</i></p>", "# One\n\nTwo **three** *four*");
    check("<ul><li>a<ul><li>b</li></ul></li></ul><ol start=3><li>c</li></ol>", "- a\n    - b\n\n3. c");
    check(
        "<pre><code class='language-rust'>fn main() {\n    1 &lt; 2;\n}</code></pre>",
        "```rust\nfn main() {\n    1 < 2;\n}\n```",
    );
    check(
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
        "| a | b |\n| - | - |\n| 1 | 2 |",
    );
    check("<blockquote><p>said</p></blockquote>", "> said");
    check("", "");
}

#[test]
fn links_are_whole_and_lead_to_pages() {
    check("<a href='other'>x</a>", "[x](https://example.com/docs/other)");
    check("<a href='/top#a'>x</a>", "[x](https://example.com/top#a)");
    check("<a href='//b.example/'>x</a>", "[x](https://b.example/)");
    check("<base href='https://b.example/sub/'><a href='y'>x</a>", "[x](https://b.example/sub/y)");
    check("<base href='javascript:1'><a href='y'>x</a>", "[x](https://example.com/docs/y)");
    check("<a href='javascript:alert(1)'>x</a>", "x");
    check("<a href=' JaVa\tScript:alert(1)'>x</a>", "x");
    check("<a href='data:text/html,x'>x</a>", "x");
    check("<img src='a.png' alt='A'>", "![A](https://example.com/docs/a.png)");
    check("<p>t</p><img src='data:image/png;base64,AAAA' alt='A'>", "t");
}

#[test]
fn what_is_not_shown_to_people_is_dropped() {
    for hidden in [
        "<p style='display:none'>BAD</p>",
        "<p hidden>BAD</p>",
        "<p aria-hidden='true'>BAD</p>",
        "<div style='font-size:0'><p>BAD</p></div>",
        "<!-- BAD -->",
        "<script>BAD</script>",
        "<script>var a = '</p><p>'; BAD",
        "<style>BAD</style>",
        "<template><p>BAD</p></template>",
        "<noscript><p>BAD</p></noscript>",
        "<svg><title>BAD</title><text>BAD</text></svg>",
        "<iframe>BAD</iframe>",
        "<dialog>BAD</dialog>",
        "<textarea hidden>BAD</textarea>",
        "<input type=hidden value=BAD>",
        "<div width=0 height=0>BAD</div>",
    ] {
        for style in [Style::Markdown, Style::Text] {
            let page = format!("<p>good</p>{hidden}");
            assert_eq!(shown(&page, style).content, "good", "{hidden}");
        }
    }
    check("<dialog open>shown</dialog>", "shown");
}

#[test]
fn entities_are_decoded_once() {
    let text = |html| shown(html, Style::Text).content;
    assert_eq!(text("<p>&amp;lt;b&amp;gt; &lt;i&gt; &eacute;&#x1F980;&nbsp;&copy;"), "&lt;b&gt; <i> é🦀 ©");
    check("<p><code>&amp;lt;b&amp;gt;</code></p>", "`&lt;b&gt;`");
}

#[test]
fn a_title_is_that_of_the_head() {
    let title = |html| shown(html, Style::Text).title;
    assert_eq!(title("<title> A\n  &amp; B </title><p>x"), Some("A & B".into()));
    assert_eq!(title("<p>x<svg><title>no</title></svg>"), None);
    assert_eq!(title("<title></title>"), None);
    assert_eq!(title(&format!("<title>{}</title>", "é".repeat(900))), Some("é".repeat(TITLE)));
}

fn prose(words: &str) -> String {
    format!("<p>{}</p>", format!("{words}, and so on, with more to say. ").repeat(12)).repeat(4)
}

#[test]
fn the_main_content_is_told_from_what_is_beside_it() {
    let around = |main: &str| {
        format!(
            "<html><head><title>T</title></head><body><nav><a href=/>MENU</a></nav>{main}\
             <aside>ADVERT</aside><footer>IMPRINT</footer></body></html>"
        )
    };
    for main in [
        format!("<main><h1>Head</h1>{}</main>", prose("the story")),
        format!("<div role='main'><h1>Head</h1>{}</div>", prose("the story")),
        format!("<div class='article'><h1>Head</h1>{}</div>", prose("the story")),
    ] {
        for style in [Style::Markdown, Style::Text] {
            let content = shown(&around(&main), style).content;
            assert!(content.contains("the story, and so on"), "{content}");
            for beside in ["MENU", "ADVERT", "IMPRINT"] {
                assert!(!content.contains(beside), "{beside} in {content}");
            }
        }
    }
    // A page of nothing but links is shown in whole.
    let content = shown(&around("<ul><li><a href=a>one</a></ul>"), Style::Markdown).content;
    assert!(content.contains("one") && content.contains("MENU"), "{content}");
}

#[test]
fn a_page_that_is_too_much_is_given_up() {
    #[track_caller]
    fn check(html: &str, bounds: Bounds, expect: Result<(), TooMuch>) {
        let url = Url::parse("https://example.com/").unwrap();
        let start: String = html.chars().take(40).collect();
        assert_eq!(read(html, &url, Style::Markdown, bounds).map(drop), expect, "{start}");
    }
    // A busy machine may be slow with anything.
    let usual = Bounds { time: Duration::from_secs(600), ..Bounds::default() };
    let deep = Err(TooMuch::Deep(usual.depth));
    for tag in ["<div>", "<b>", "<i><b>", "<blockquote>", "<ul><li>", "<table><tr><td>", "<font>"] {
        check(&tag.repeat(10_000), usual, deep);
        let fits = usual.depth as usize / tag.matches('<').count() / 2;
        check(&format!("{}x", tag.repeat(fits)), usual, Ok(()));
    }
    // Formatting that is left open is opened again in every paragraph.
    let open: String = (0..400).map(|number| format!("<b id={number}>")).collect();
    let again = format!("<p>{open}</p>{}", "<p>x".repeat(100_000));
    check(&again, Bounds { elements: 50_000, ..usual }, Err(TooMuch::Many(50_000)));
    let lists = format!("{}{}", "<ul><li>x".repeat(200), "<li>y".repeat(15_000));
    check(&lists, usual, Err(TooMuch::Indented));
    let lines = format!("{}<pre>{}", "<blockquote>".repeat(200), "x\n".repeat(15_000));
    check(&lines, usual, Err(TooMuch::Indented));
    let attributes: String = (0..200_000).map(|number| format!(" a{number}")).collect();
    check(
        &format!("<p{attributes}>x"),
        Bounds { time: Duration::from_millis(50), ..usual },
        Err(TooMuch::Slow),
    );
}
