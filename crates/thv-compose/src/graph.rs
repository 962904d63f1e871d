//! Which step waits for which.

use crate::limits::MAX_STEPS;

/// A set of steps, by their numbers.
type Steps = u128;
const _: () = assert!(MAX_STEPS <= Steps::BITS as usize);

/// What each step waits for. There is no cycle in it at any time.
#[derive(Debug)]
pub(crate) struct Graph {
    /// What each step waits for itself.
    direct: Vec<Steps>,
    /// And what those wait for, and so on.
    reached: Vec<Steps>,
}

/// That a step would wait for itself: the steps on the way, from the one that is waited for back to the one that waits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cycle(pub(crate) Vec<usize>);

impl Graph {
    /// Steps that wait for nothing. There are [`MAX_STEPS`] at most.
    pub(crate) fn new(steps: usize) -> Self {
        let steps = steps.min(MAX_STEPS);
        Self { direct: vec![0; steps], reached: vec![0; steps] }
    }

    /// Has one step wait for another, unless that closes a cycle.
    pub(crate) fn add(&mut self, step: usize, needed: usize) -> Result<(), Cycle> {
        if step == needed || has(of(&self.reached, needed), step) {
            return Err(Cycle(self.way(needed, step)));
        }
        let gained = of(&self.reached, needed) | bit(needed);
        if let Some(direct) = self.direct.get_mut(step) {
            *direct |= bit(needed);
        }
        for (other, reached) in self.reached.iter_mut().enumerate() {
            if other == step || has(*reached, step) {
                *reached |= gained;
            }
        }
        Ok(())
    }

    /// What a step waits for itself, in the order of the definition.
    pub(crate) fn needed(&self, step: usize) -> Vec<usize> {
        let direct = of(&self.direct, step);
        (0..self.direct.len()).filter(|other| has(direct, *other)).collect()
    }

    /// All steps, each after what it waits for, and otherwise in the order of the definition.
    pub(crate) fn order(&self) -> Vec<usize> {
        let (mut order, mut done) = (Vec::new(), 0);
        while let Some(next) = self.next(done) {
            order.push(next);
            done |= bit(next);
        }
        order
    }

    /// The first step that is not done and waits for nothing else.
    fn next(&self, done: Steps) -> Option<usize> {
        let mut steps = self.direct.iter().enumerate();
        steps.find(|(step, direct)| !has(done, *step) && *direct & !done == 0).map(|(step, _)| step)
    }

    /// The steps from one to another that it waits for, both included. There is a way.
    fn way(&self, from: usize, to: usize) -> Vec<usize> {
        let mut way = vec![from];
        let mut here = from;
        while here != to {
            let leads = |next: &usize| *next == to || has(of(&self.reached, *next), to);
            match self.needed(here).into_iter().find(leads) {
                Some(next) => here = next,
                None => break,
            }
            way.push(here);
        }
        way
    }
}

fn of(sets: &[Steps], step: usize) -> Steps {
    sets.get(step).copied().unwrap_or_default()
}

fn bit(step: usize) -> Steps {
    u32::try_from(step).ok().and_then(|step| Steps::checked_shl(1, step)).unwrap_or_default()
}

fn has(set: Steps, step: usize) -> bool {
    set & bit(step) != 0
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_edge_that_closes_a_cycle_is_refused_with_the_way_around() {
        let mut graph = Graph::new(4);
        graph.add(0, 1).unwrap();
        graph.add(1, 2).unwrap();
        assert_eq!(graph.add(2, 0), Err(Cycle(vec![0, 1, 2])));
        assert_eq!(graph.add(3, 3), Err(Cycle(vec![3])));
        assert_eq!(graph.order(), [2, 1, 0, 3]);
        assert_eq!(graph.needed(0), [1]);
    }

    proptest! {
        #[test]
        fn every_step_comes_once_and_after_what_it_waits_for(
            edges in vec((0..MAX_STEPS, 0..MAX_STEPS), 0..400),
            steps in 1..=MAX_STEPS,
        ) {
            let mut graph = Graph::new(steps);
            let mut kept = Vec::new();
            for (step, needed) in edges.into_iter().filter(|(step, needed)| *step < steps && *needed < steps) {
                match graph.add(step, needed) {
                    Ok(()) => kept.push((step, needed)),
                    Err(Cycle(way)) => {
                        prop_assert_eq!((way.first(), way.last()), (Some(&needed), Some(&step)));
                        prop_assert!(way.windows(2).all(|pair| kept.contains(&(pair[0], pair[1]))));
                    }
                }
            }
            let order = graph.order();
            let place = |step: usize| order.iter().position(|other| *other == step);
            prop_assert_eq!(order.len(), steps);
            prop_assert!((0..steps).all(|step| place(step).is_some()));
            prop_assert!(kept.iter().all(|(step, needed)| place(*needed) < place(*step)));
        }
    }
}
