//! What only the whole shows: where the edges lead.

use std::collections::BTreeSet;

use super::{Delay, Length, Node, NodeKind};

/// The nodes that can be reached from `start`.
pub(super) fn reachable(nodes: &[Node], start: usize) -> BTreeSet<usize> {
    spread(start, |from| successors(nodes, from))
}

/// The nodes from which an end can be reached.
pub(super) fn leads_to_an_end(nodes: &[Node]) -> BTreeSet<usize> {
    let mut before = vec![Vec::new(); nodes.len()];
    for from in 0..nodes.len() {
        for to in successors(nodes, from) {
            before[to].push(from);
        }
    }
    let ends = (0..nodes.len()).filter(|node| matches!(nodes[*node].kind, NodeKind::End(_)));
    ends.fold(BTreeSet::new(), |mut leading, end| {
        if !leading.contains(&end) {
            leading.extend(spread(end, |node| before[node].clone()));
        }
        leading
    })
}

fn spread(start: usize, next: impl Fn(usize) -> Vec<usize>) -> BTreeSet<usize> {
    let mut seen = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        open.extend(next(node).into_iter().filter(|node| seen.insert(*node)));
    }
    seen
}

/// A node of each loop that goes round without waiting: the loops that are left when waiting nodes are taken out.
pub(super) fn busy_loops(nodes: &[Node]) -> Vec<usize> {
    // Whoever can't be taken off from the front (nothing before it) or the back (nothing after it) is in a loop or
    // between two.
    let mut left: BTreeSet<usize> = (0..nodes.len()).filter(|node| !waits(&nodes[*node].kind)).collect();
    loop {
        let has_next = |node: usize, left: &BTreeSet<usize>| {
            successors(nodes, node).into_iter().any(|next| left.contains(&next))
        };
        let entered: BTreeSet<usize> = left.iter().flat_map(|node| successors(nodes, *node)).collect();
        let kept: BTreeSet<usize> =
            left.iter().copied().filter(|node| has_next(*node, &left) && entered.contains(node)).collect();
        if kept.len() == left.len() {
            break;
        }
        left = kept;
    }
    let mut loops = Vec::new();
    while let Some(first) = left.first().copied() {
        let reached = spread(first, |node| {
            successors(nodes, node).into_iter().filter(|next| left.contains(next)).collect()
        });
        loops.push(first);
        left.retain(|node| !reached.contains(node));
    }
    loops
}

/// Whether an instance always stops for a while here. A time that is worked out could have passed.
fn waits(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Delay(Delay::For(Length::Fixed(_) | Length::Given(_))) | NodeKind::WaitEvent(_))
}

fn successors(nodes: &[Node], from: usize) -> Vec<usize> {
    nodes[from].edges.values().map(|to| usize::from(to.0)).collect()
}
