//! Randomness that a seed repeats.

/// A generator of numbers that look random.
#[derive(Clone)]
pub(super) struct Dice(u64);

impl Dice {
    /// One of many that come of one seed, and do not go in step.
    pub(super) fn new(seed: u64, which: u64) -> Self {
        Self(seed ^ (which + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below another.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Whether something happens that happens so often of a hundred times.
    pub(super) fn percent(&mut self, often: u64) -> bool {
        self.below(100) < often
    }

    pub(super) fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        let place = usize::try_from(self.below(among.len() as u64)).unwrap();
        &among[place]
    }
}
