//! The mouse and the keys.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_core::Kind;

use crate::keys::Press;
use crate::tab::{Halt, SETTLE, Tab};

/// How long a page may take over an event. One that opens many windows takes long on a busy machine.
const EVENT: Duration = Duration::from_secs(30);

/// How long a drag may take to begin.
const DRAG: Duration = Duration::from_millis(500);

/// A click.
#[derive(Debug, Clone)]
pub(crate) struct Click {
    pub(crate) button: &'static str,
    pub(crate) count: u32,
    pub(crate) modifiers: u32,
}

impl Tab {
    /// Moves the mouse to a place.
    pub(crate) async fn move_to(&self, (x, y): (f64, f64)) -> Result<(), Halt> {
        self.mouse("mouseMoved", (x, y), json!({})).await
    }

    /// Clicks at a place.
    pub(crate) async fn click_at(&self, at: (f64, f64), click: &Click) -> Result<(), Halt> {
        self.mouse("mouseMoved", at, json!({"modifiers": click.modifiers})).await?;
        for count in 1..=click.count {
            let more = json!({"button": click.button, "clickCount": count, "modifiers": click.modifiers});
            self.mouse("mousePressed", at, more.clone()).await?;
            self.mouse("mouseReleased", at, more).await?;
        }
        Ok(())
    }

    /// Drags from one place to another, whether the page listens to the mouse or to drags.
    pub(crate) async fn drag(&self, from: (f64, f64), to: (f64, f64)) -> Result<(), Halt> {
        self.state().dragged = None;
        let _: Value = self.call(("Input.setInterceptDrags", json!({"enabled": true})), EVENT).await?;
        let done = self.dragging(from, to).await;
        self.tell("Input.setInterceptDrags", json!({"enabled": false}));
        done
    }

    async fn dragging(&self, from: (f64, f64), to: (f64, f64)) -> Result<(), Halt> {
        let held = json!({"button": "left", "buttons": 1, "clickCount": 1});
        self.mouse("mouseMoved", from, json!({})).await?;
        self.mouse("mousePressed", from, held.clone()).await?;
        // A drag begins once the mouse has gone a little way.
        for step in 1..=4 {
            let part = f64::from(step) / 4.0;
            let between = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            self.mouse("mouseMoved", between, held.clone()).await?;
        }
        let data = self.until(Instant::now() + DRAG, |state| state.dragged.clone()).await;
        if let Some(data) = data {
            for kind in ["dragEnter", "dragOver", "drop"] {
                let event = json!({"type": kind, "x": to.0, "y": to.1, "data": data});
                let _: Value = self.call(("Input.dispatchDragEvent", event), EVENT).await?;
            }
        }
        self.mouse("mouseReleased", to, json!({"button": "left", "clickCount": 1})).await
    }

    /// Presses and releases a key.
    pub(crate) async fn press(&self, press: &Press) -> Result<(), Halt> {
        for event in press.events() {
            let _: Value = self.call(("Input.dispatchKeyEvent", event), EVENT).await?;
        }
        Ok(())
    }

    /// Types a text into what has the focus.
    pub(crate) async fn insert(&self, text: &str) -> Result<(), Halt> {
        let _: Value = self.call(("Input.insertText", json!({"text": text})), EVENT).await?;
        Ok(())
    }

    /// Waits until what an act began has come to an end, or at least to its page.
    pub(crate) async fn settle(&self, limit: Duration) -> Result<(), Halt> {
        let end = Instant::now() + limit;
        let spot = self.main_spot();
        match self.run(&spot, (SETTLE, json!({})), limit.max(Duration::from_secs(2))).await {
            Ok(_) | Err(Halt::Left) => {}
            // What was done is done: it must not look as if it were to be done again.
            Err(Halt::Failed(error)) if error.kind() == Kind::Timeout => return Ok(()),
            // A tab that closes itself is what came of the act.
            Err(Halt::Closed) => return Ok(()),
            Err(other) => return Err(other),
        }
        let over = |state: &crate::tab::State| {
            (!state.loading || state.closed || state.dialog.is_some()).then_some(())
        };
        // A page that goes on loading is told as it is.
        self.until(end, over).await;
        Ok(())
    }

    async fn mouse(&self, kind: &str, (x, y): (f64, f64), more: Value) -> Result<(), Halt> {
        let mut event = json!({"type": kind, "x": x, "y": y, "pointerType": "mouse"});
        for (key, value) in more.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        let _: Value = self.call(("Input.dispatchMouseEvent", event), EVENT).await?;
        Ok(())
    }
}
