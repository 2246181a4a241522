//! Hinoki.
use super::library::Library;
use super::node::Node;
/// x
pub fn library(remote: bool) -> Library {
    Library::new("Hinoki", remote)
}
/// x
pub fn foundations(_: &Library) -> (String, Vec<Node>) {
    ("Foundations".into(), vec![])
}
