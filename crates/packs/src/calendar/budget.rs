//! How much work what is read may cause: a rule of one line can stand for more dates than anyone can list.

/// Steps that are left.
#[derive(Debug)]
pub(super) struct Budget {
    left: u64,
}

/// There are no steps left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spent;

impl Budget {
    pub(super) const fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    /// Takes steps.
    pub(super) fn spend(&mut self, steps: u64) -> Result<(), Spent> {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        left.map(drop).ok_or(Spent)
    }

    /// Does something for at most `steps` of what is left.
    pub(super) fn within<T>(&mut self, steps: u64, act: impl FnOnce(&mut Self) -> T) -> T {
        let mut part = Self::new(self.left.min(steps));
        let before = part.left;
        let done = act(&mut part);
        self.left -= before - part.left;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_takes_no_more_than_its_share() {
        let mut budget = Budget::new(10);
        assert_eq!(budget.within(4, |part| part.spend(5)), Err(Spent));
        assert_eq!(budget.within(100, |part| part.spend(6)), Ok(()));
        assert_eq!(budget.spend(1), Err(Spent));
    }
}
