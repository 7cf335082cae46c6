//! `why_style_not_applied`: say why a property of an element does not have a value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::styling::{Declared, LONG, computed, declared};
use crate::acting::What;
use crate::pack::Browser;
use crate::text::{Room, brief};

pub(super) struct WhyStyleNotApplied;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Element ref.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    reference: Option<String>,
    /// CSS selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    selector: Option<String>,
    /// The property, such as `color`.
    property: String,
    /// The value it should have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    desired_value: Option<String>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The value that counts.
    computed: String,
    /// Why it is that.
    reason: String,
    /// All declarations of it, the strongest first, and what became of each.
    declarations: Vec<String>,
}

impl Tool<Browser> for WhyStyleNotApplied {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "why_style_not_applied",
        title: "Why a style is not there",
        description: "Say why a property of an element does not have a value.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let what = What::of(input.reference, input.selector)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let property = input.property.trim().to_ascii_lowercase();
        let value = computed(&page, &what, std::slice::from_ref(&property)).await?;
        let value = value.into_iter().next().map(|(_, value)| brief(&value, LONG)).unwrap_or_default();
        let mut about = declared(&page, &what).await?;
        about.retain(|declared| declared.is_about(&property));
        about.sort_by_key(|declared| std::cmp::Reverse(declared.strength()));
        let reason = reason(&property, &value, input.desired_value.as_deref(), &about);
        let fate = |(at, declared): (usize, &Declared)| {
            format!("{}: {}", declared.shown(), fate(at, declared, &about[0]))
        };
        let mut room = Room::new();
        let fits = |shown: &String| room.takes(&[shown]);
        let declarations = about.iter().enumerate().take(50).map(fate).take_while(fits).collect();
        Ok(Json(Output { computed: value, reason, declarations }))
    }
}

fn reason(property: &str, value: &str, desired: Option<&str>, about: &[Declared]) -> String {
    let Some(winner) = about.first().filter(|declared| declared.valid) else {
        return match about.first() {
            Some(invalid) => format!("the only declaration is not understood: {}", invalid.shown()),
            None if value.is_empty() => format!("`{property}` is no property"),
            None => format!("nothing declares `{property}`: {value} is inherited or the default"),
        };
    };
    let wanted = desired.and_then(|desired| {
        about.iter().find(|declared| declared.value.eq_ignore_ascii_case(desired.trim()))
    });
    match (desired, wanted) {
        (Some(desired), None) => {
            format!("nothing declares {}; what counts is {}", brief(desired, 100), winner.shown())
        }
        (_, Some(wanted)) if !wanted.valid => format!("it is not understood: {}", wanted.shown()),
        (_, Some(wanted)) if wanted != winner => format!("{} {}", wanted.shown(), loss(wanted, winner)),
        (_, _) => format!("what counts is {}", winner.shown()),
    }
}

fn fate(at: usize, declared: &Declared, winner: &Declared) -> String {
    match (at, declared.valid) {
        (_, false) => "not understood".into(),
        (0, true) => "counts".into(),
        (_, true) => loss(declared, winner),
    }
}

fn loss(declared: &Declared, winner: &Declared) -> String {
    let why = if winner.important && !declared.important {
        "is important"
    } else if winner.origin == "inline" {
        "is on the element itself"
    } else if winner.origin != declared.origin {
        "is of the page"
    } else if winner.specificity > declared.specificity {
        "is more specific"
    } else {
        "comes later"
    };
    format!("loses against {}, which {why}", winner.shown())
}
