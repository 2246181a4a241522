//! Every statement, named, one file per table. A dialect's statements stand in a module of its name beside the
//! others'.

pub(crate) mod outbox;
pub(crate) mod tenant;
pub(crate) mod wf2des;
