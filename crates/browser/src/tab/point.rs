//! Where a point of a frame is in the window.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Halt, Spot, Tab};

impl Tab {
    /// A point of a frame as one of the window, and whether nothing lies over the frame there.
    pub(crate) async fn in_window(
        &self,
        spot: &Spot,
        (mut x, mut y): (f64, f64),
        limit: Duration,
    ) -> Result<(f64, f64, bool), Halt> {
        let spots = self.spots();
        let mut below = spot.clone();
        let mut reached = true;
        while let Some(above) =
            below.parent.as_ref().and_then(|id| spots.iter().find(|spot| spot.frame == *id))
        {
            let object = self.owner(above, &below.frame, limit).await?;
            let call = json!({
                "objectId": object,
                "functionDeclaration": crate::library::FRAME_AT,
                "arguments": [{"value": x}, {"value": y}],
                "returnByValue": true,
            });
            let told: Result<Value, Halt> =
                self.call_in(&above.session, ("Runtime.callFunctionOn", call), limit).await;
            self.release(&above.session, &object);
            let at = &told?["result"]["value"];
            let (Some(left), Some(top)) = (at["x"].as_f64(), at["y"].as_f64()) else {
                return Err(Halt::Left);
            };
            (x, y) = (left, top);
            reached &= at["reached"] == true;
            below = above.clone();
        }
        Ok((x, y, reached))
    }
}
