//! Decisions made by a list of numbers, so that proptest can shrink whatever is built from them: a shorter list
//! or smaller numbers make a simpler document.

/// Decisions yet to be made. When there are no more numbers, all are 0.
pub(super) struct Choices(std::vec::IntoIter<u16>);

impl Choices {
    pub(super) fn new(numbers: Vec<u16>) -> Self {
        Self(numbers.into_iter())
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.0.next().unwrap_or_default()) % limit.max(1)
    }

    /// Whether something happens that happens so often of a hundred times.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    pub(super) fn one_of<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())]
    }

    /// Some items of a list, in any order, each at most once.
    pub(super) fn some_of<T: Clone>(&mut self, options: &[T], most: usize) -> Vec<T> {
        let mut options = options.to_vec();
        let count = self.below(most.min(options.len()) + 1);
        (0..count).map(|_| options.swap_remove(self.below(options.len()))).collect()
    }
}
