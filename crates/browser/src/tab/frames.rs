//! The frames of a page, also those in processes of their own.

use std::time::Duration;

use serde_json::{Value, json};

use super::state::Frame;
use super::{Halt, Tab};

/// How many frames of a page are looked into.
const MOST: usize = 20;

/// A frame, and where to reach it.
#[derive(Debug, Clone)]
pub(crate) struct Spot {
    pub(crate) frame: String,
    pub(crate) session: String,
    pub(crate) parent: Option<String>,
    /// What its refs begin with; nothing for the page itself.
    pub(crate) prefix: String,
}

impl Tab {
    /// The page itself.
    pub(crate) fn main_spot(&self) -> Spot {
        let state = self.state();
        let session = state.frames.get(&state.main).map_or(&self.session, |frame| &frame.session);
        Spot { frame: state.main.clone(), session: session.clone(), parent: None, prefix: String::new() }
    }

    /// The page and all its frames, those above before those below.
    pub(crate) fn spots(&self) -> Vec<Spot> {
        let mut state = self.state();
        let mut spots = Vec::new();
        let mut next = vec![state.main.clone()];
        while let Some(id) = next.pop() {
            let Some(Frame { session, parent, .. }) = state.frames.get(&id).cloned() else { continue };
            let below: Vec<String> = state
                .frames
                .iter()
                .filter(|(_, frame)| frame.parent.as_deref() == Some(&id))
                .map(|(id, _)| id.clone())
                .collect();
            let prefix = if id == state.main {
                String::new()
            } else {
                let count = state.numbers.len() as u64;
                format!("f{}", *state.numbers.entry(id.clone()).or_insert(count + 1))
            };
            spots.push(Spot { frame: id, session, parent, prefix });
            next.extend(below.into_iter().rev());
            if spots.len() >= MOST {
                break;
            }
        }
        if spots.is_empty() {
            drop(state);
            spots.push(self.main_spot());
        }
        spots
    }

    /// The frame that a ref belongs to: `f2e7` is of the second, `e7` of the page itself.
    pub(crate) fn spot_of(&self, reference: &str) -> Option<Spot> {
        let prefix = reference.split('e').next().unwrap_or_default().to_owned();
        self.spots().into_iter().find(|spot| spot.prefix == prefix)
    }

    /// The element that a frame is in, as an object of the page around it.
    pub(super) async fn owner(&self, above: &Spot, frame: &str, limit: Duration) -> Result<String, Halt> {
        let world = self.world(above, limit).await?;
        let owner: Value =
            self.call_in(&above.session, ("DOM.getFrameOwner", json!({"frameId": frame})), limit).await?;
        let node = json!({"backendNodeId": owner["backendNodeId"], "executionContextId": world});
        let node: Value = self.call_in(&above.session, ("DOM.resolveNode", node), limit).await?;
        node["object"]["objectId"].as_str().map(Into::into).ok_or(Halt::Left)
    }

    /// The ref of the element that a frame is in.
    pub(crate) async fn owner_ref(&self, above: &Spot, frame: &str, limit: Duration) -> Result<String, Halt> {
        let object = self.owner(above, frame, limit).await?;
        let call =
            json!({"objectId": object, "functionDeclaration": crate::library::REF_OF, "returnByValue": true});
        let told: Result<Value, Halt> =
            self.call_in(&above.session, ("Runtime.callFunctionOn", call), limit).await;
        self.release(&above.session, &object);
        told?["result"]["value"].as_str().map(Into::into).ok_or(Halt::Left)
    }
}
