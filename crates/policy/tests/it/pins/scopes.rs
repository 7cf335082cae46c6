//! Principals who are shown lists of their own: each is looked at once.

use super::*;

/// What one principal is shown.
fn shown(tools: &[Value]) -> Arc<Listing> {
    let tools = tools.iter().map(|tool| Arc::new(item(tool))).collect();
    Arc::new(Listing { tools, ..Listing::default() })
}

impl World {
    /// One of the principals has the tools listed; tells how often the store was read for that.
    async fn looks(&self, listing: &Arc<Listing>) -> usize {
        let before = self.store.lists();
        let _otherwise = self.pins.look(&[(self.source.clone() as Arc<dyn Source>, listing.clone())]).await;
        self.store.lists() - before
    }

    /// The tools of a list that the gate shows.
    fn shows(&self, listing: &Listing) -> String {
        let gate = self.pins.gate();
        let principal = Principal::local();
        let viewer = toolgate_core::Viewer { principal: &principal, profile: None };
        let is_shown = |tool: &&Arc<ToolItem>| {
            let listed = toolgate_core::Listed::Tool(tool);
            toolgate_core::Gate::shows(&gate, viewer, listed, Origin::of(&*self.source))
        };
        let names = listing.tools.iter().filter(is_shown).map(|tool| tool.name.as_str());
        names.collect::<Vec<_>>().join(" ")
    }
}

#[tokio::test]
async fn lists_of_two_principals_are_each_looked_at_once_however_often_they_take_turns() {
    let world = World::new("", &[]);
    let (ada, bob) = (shown(&[tool("a", "A.")]), shown(&[tool("a", "A."), tool("b", "B.")]));
    world.looks(&ada).await;
    world.looks(&bob).await;
    // What was noted of the second may matter for the first.
    world.looks(&ada).await;
    for _ in 0..3 {
        assert_eq!((world.looks(&ada).await, world.looks(&bob).await), (0, 0), "nothing is read again");
    }
    assert_eq!((&*world.shows(&ada), &*world.shows(&bob)), ("a", "a b"));
    let another = shown(&[tool("a", "A.")]);
    assert_eq!(world.looks(&another).await, 1, "a list that is new is read for, and nothing has to be noted");
}

#[tokio::test]
async fn a_list_that_is_gone_is_not_taken_for_another_in_its_place() {
    let world = World::new("", &[tool("a", "A.")]);
    world.observe().await;
    for round in 0..100 {
        let listing = shown(&[tool("a", &format!("A, {round}."))]);
        world.looks(&listing).await;
        assert_eq!(world.parts("a").await.0, Standing::Held, "{round}");
        drop(listing);
        let mended = shown(&[tool("a", "A.")]);
        world.looks(&mended).await;
        assert_eq!(world.parts("a").await.0, Standing::Trusted, "{round}");
    }
}

#[tokio::test]
async fn lists_that_contradict_each_other_are_looked_at_each_time() {
    let world = World::new("", &[]);
    let (ada, bob) = (shown(&[tool("a", "A.")]), shown(&[tool("a", "Evil.")]));
    world.looks(&ada).await;
    for _ in 0..2 {
        world.looks(&bob).await;
        assert_eq!((world.parts("a").await.0, &*world.shows(&bob)), (Standing::Held, ""));
        world.looks(&ada).await;
        assert_eq!(world.shows(&ada), "a");
    }
    // What someone is shown can be accepted once they have looked.
    world.looks(&bob).await;
    world.pins.accept("github", "a", "olga").await.unwrap();
    assert_eq!(world.shows(&bob), "a");
    // One that has a name twice is held also after others were looked at that do not.
    let twice = shown(&[tool("a", "A."), tool("a", "Evil.")]);
    for _ in 0..2 {
        world.looks(&ada).await;
        assert_eq!(world.shows(&ada), "a");
        world.looks(&twice).await;
        assert_eq!(world.shows(&twice), "");
    }
}
