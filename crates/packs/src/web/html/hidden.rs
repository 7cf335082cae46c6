//! Takes out of a page what people who look at it do not see: it is often meant for the model alone.

use dom_query::{Document, NodeRef};

/// Elements that show nothing, or nothing that can be read.
const UNSHOWN: [&str; 20] = [
    "script", "style", "template", "noscript", "noembed", "noframes", "iframe", "frameset", "object",
    "embed", "applet", "canvas", "svg", "audio", "video", "map", "datalist", "title", "input", "param",
];

/// Takes out all that is not shown, comments included.
pub(super) fn remove(document: &Document) {
    let unshown = |node: &NodeRef<'_>| node.is_comment() || (node.is_element() && is_hidden(node));
    let found: Vec<NodeRef<'_>> = document.root().descendants_it().filter(unshown).collect();
    found.iter().for_each(NodeRef::remove_from_parent);
}

fn is_hidden(node: &NodeRef<'_>) -> bool {
    let is = |attribute: &str, value: &str| {
        node.attr(attribute).is_some_and(|written| written.trim().eq_ignore_ascii_case(value))
    };
    UNSHOWN.iter().any(|name| node.has_name(name))
        || node.has_attr("hidden")
        || is("aria-hidden", "true")
        || (node.has_name("dialog") && !node.has_attr("open"))
        || (is("width", "0") && is("height", "0"))
        || node.attr("style").is_some_and(|style| hides(&style))
}

/// Whether a style makes invisible what it is for.
fn hides(style: &str) -> bool {
    // Nobody needs an escape in the style of one element, except to say in a hidden way that it is hidden.
    if style.contains('\\') {
        return true;
    }
    let style = without_comments(style).to_ascii_lowercase();
    let said: Vec<(&str, &str)> = style.split(';').filter_map(said).collect();
    let is_nothing = |name: &str| said.iter().any(|(known, value)| *known == name && is_zero(value));
    let cuts = said.iter().any(|(name, value)| name.starts_with("overflow") && *value != "visible");
    said.iter().any(|said| hides_alone(*said))
        || (is_nothing("width") && is_nothing("height"))
        || (cuts && ["width", "height", "max-width", "max-height"].into_iter().any(is_nothing))
}

/// One declaration: what it is about, and how that is.
fn said(declaration: &str) -> Option<(&str, &str)> {
    let (name, value) = declaration.split_once(':')?;
    let value = value.split('!').next().unwrap_or_default();
    Some((name.trim(), value.trim()))
}

fn hides_alone((name, value): (&str, &str)) -> bool {
    match name {
        "display" => value == "none",
        "visibility" => matches!(value, "hidden" | "collapse"),
        "content-visibility" => value == "hidden",
        "opacity" | "font-size" | "zoom" => is_zero(value),
        "font" => value.split([' ', '/']).any(|part| part != "0" && is_zero(part)),
        "color" | "-webkit-text-fill-color" => value == "transparent",
        "text-indent" | "left" | "top" | "right" | "bottom" | "margin-left" | "margin-top" => {
            is_far_off(value)
        }
        "clip" => value.starts_with("rect(") && !value.contains(|c: char| ('2'..='9').contains(&c)),
        "clip-path" => matches!(value, "inset(50%)" | "inset(100%)" | "circle(0)" | "circle(0px)"),
        "transform" => value.contains("scale(0)") || value.contains("scale(0,"),
        _ => false,
    }
}

/// Whether a size is nothing: `0`, `0px`, `0.0em`, `.0`, but not `auto`.
fn is_zero(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    number.parse::<f64>().is_ok_and(|number| number.abs() < 0.01)
}

/// Whether a place is beyond the edge of any screen.
fn is_far_off(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let far = if value.ends_with("px") { -999.0 } else { -99.0 };
    number.parse::<f64>().is_ok_and(|number| number <= far)
}

fn without_comments(style: &str) -> String {
    let mut kept = String::with_capacity(style.len());
    let mut rest = style;
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, behind)| behind);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_that_hides_is_known_as_one() {
        #[track_caller]
        fn check(style: &str, expect: bool) {
            assert_eq!(hides(style), expect, "{style}");
        }
        for hiding in [
            "display:none",
            "color: red; DISPLAY : None !important",
            "/* x */display:none",
            "display:/**/none",
            "d\\69splay:none",
            "visibility: hidden",
            "visibility:collapse",
            "opacity:0",
            "opacity: 0.0",
            "opacity:.001",
            "font-size:0",
            "font-size: 0px",
            "font:0px sans-serif",
            "width:0;height:0",
            "height:0;overflow:hidden",
            "max-height:0px; overflow-y: clip",
            "position:absolute;left:-9999px",
            "text-indent:-999em",
            "clip: rect(0 0 0 0)",
            "clip:rect(1px, 1px, 1px, 1px)",
            "clip-path:inset(50%)",
            "transform: scale(0)",
            "color:transparent",
        ] {
            check(hiding, true);
        }
        for showing in [
            "",
            "color:red",
            "display:block",
            "opacity:0.5",
            "font-size:10px",
            "width:0",
            "height:0;width:100px",
            "margin-left:-10px",
            "font: 12px/1.5 serif",
            "left:0",
            "background:url(a;b)",
            "clip:rect(0 200px 30px 0)",
            "display",
            "overflow:hidden;height:100px",
        ] {
            check(showing, false);
        }
    }
}
