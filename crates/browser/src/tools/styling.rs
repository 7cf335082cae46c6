//! The styles that are declared for an element, in the order in which they count.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use toolgate_core::Result;

use crate::acting::What;
use crate::pool::Page;
use crate::tab::Halt;
use crate::text::{brief, harmless};

/// How long a look at styles may take.
pub(super) const LOOK: Duration = Duration::from_secs(20);

/// How much is told of a value.
pub(super) const LONG: usize = 1000;

/// A declaration that is about an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Declared {
    /// The property.
    pub(super) property: String,
    /// The value that is declared.
    pub(super) value: String,
    /// Whether it is marked as important.
    pub(super) important: bool,
    /// The selector of its rule, or `style` where it is on the element itself.
    pub(super) selector: String,
    /// How strong the selector is: ids, classes, names.
    pub(super) specificity: [u64; 3],
    /// Whose it is, such as `regular` or `user-agent`.
    pub(super) origin: String,
    /// Whether Chromium understands it.
    pub(super) valid: bool,
    /// Its place in the order of rules: what is later counts more.
    pub(super) order: usize,
}

impl Declared {
    /// What counts more is larger.
    pub(super) fn strength(&self) -> (bool, bool, usize) {
        (self.valid, self.important, self.order)
    }

    /// Whether it says something of a property, be it as a part of a shorthand.
    pub(super) fn is_about(&self, property: &str) -> bool {
        self.property == property
            || property.strip_prefix(self.property.as_str()).is_some_and(|rest| rest.starts_with('-'))
    }

    pub(super) fn shown(&self) -> String {
        let important = if self.important { " !important" } else { "" };
        let [ids, classes, names] = self.specificity;
        format!(
            "{}: {}{important} by `{}` ({ids},{classes},{names})",
            self.property,
            self.value,
            brief(&self.selector, 100)
        )
    }
}

/// What is declared for an element, the weakest first.
pub(super) async fn declared(page: &Page, what: &What) -> Result<Vec<Declared>> {
    let (spot, _) = page.tab.on(what, ("state", json!({})), LOOK).await?;
    let session = spot.session.clone();
    let call = async |method: &'static str, params: Value| -> Result<Value, Halt> {
        page.tab.call_in(&session, (method, params), LOOK).await
    };
    let matched = async {
        call("DOM.enable", json!({})).await?;
        call("CSS.enable", json!({})).await?;
        call("DOM.getDocument", json!({"depth": 0})).await?;
        let object = page.tab.object(&spot, what.json(), LOOK).await?;
        let node = call("DOM.requestNode", json!({"objectId": object})).await;
        page.tab.release(&session, &object);
        call("CSS.getMatchedStylesForNode", json!({"nodeId": node?["nodeId"]})).await
    };
    let matched = matched.await;
    page.tab.tell_in(&session, "CSS.disable", json!({}));
    page.tab.tell_in(&session, "DOM.disable", json!({}));
    Ok(gathered(&matched?))
}

fn gathered(matched: &Value) -> Vec<Declared> {
    let mut all = Vec::new();
    for found in matched["matchedCSSRules"].as_array().into_iter().flatten() {
        let rule = &found["rule"];
        let selectors = rule["selectorList"]["selectors"].as_array().map(Vec::as_slice).unwrap_or_default();
        let fitting = found["matchingSelectors"].as_array().into_iter().flatten().filter_map(Value::as_u64);
        let fitting = fitting.filter_map(|at| selectors.get(usize::try_from(at).ok()?));
        let strongest =
            fitting.map(|selector| (strength_of(&selector["specificity"]), text(&selector["text"]))).max();
        let (specificity, selector) = strongest.unwrap_or_default();
        add(&mut all, &rule["style"], (&selector, specificity, &text(&rule["origin"])));
    }
    add(&mut all, &matched["inlineStyle"], ("style", [0; 3], "inline"));
    all
}

fn add(all: &mut Vec<Declared>, style: &Value, (selector, specificity, origin): (&str, [u64; 3], &str)) {
    for property in style["cssProperties"].as_array().into_iter().flatten() {
        if property["disabled"] == true || property["implicit"] == true {
            continue;
        }
        // What stands in a shorthand is told with that; Chromium repeats it without a place in the text.
        if origin != "user-agent" && property["range"].is_null() {
            continue;
        }
        all.push(Declared {
            property: brief(&text(&property["name"]), 100),
            value: brief(text(&property["value"]).trim_end_matches("!important").trim(), 300),
            important: property["important"] == true,
            selector: brief(selector, 300),
            specificity,
            origin: origin.to_owned(),
            valid: property["parsedOk"] != false,
            order: all.len(),
        });
    }
}

fn strength_of(specificity: &Value) -> [u64; 3] {
    ["a", "b", "c"].map(|key| specificity[key].as_u64().unwrap_or_default())
}

/// The value that counts in the end.
pub(super) async fn computed(
    page: &Page,
    what: &What,
    properties: &[String],
) -> Result<Vec<(String, String)>> {
    let (_, told) = page.tab.on(what, ("styles", json!({"properties": properties})), LOOK).await?;
    Ok(pairs(&told))
}

/// What differs from an element that no rule of the page is about.
pub(super) async fn own(page: &Page, what: &What, properties: &[String]) -> Result<Vec<(String, String)>> {
    let (_, told) = page.tab.on(what, ("styled", json!({"properties": properties})), LOOK).await?;
    Ok(pairs(&told))
}

fn pairs(told: &Value) -> Vec<(String, String)> {
    let styles = told["styles"].as_object().into_iter().flatten();
    styles.map(|(name, value)| (name.clone(), harmless(&text(value)))).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
