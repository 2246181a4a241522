//! Screens.
use super::library::Library;
use super::node::Node;
/// x
pub fn pages(_: &Library) -> Vec<(String, Vec<Node>)> {
    vec![]
}
