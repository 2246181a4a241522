//! From a document to a graph, with everything that is wrong with it at once (W12).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::config::{self, Wrong};
use super::document::{Document, Edge, Node as NodeDocument, SCHEMA_VERSION};
use super::{
    Finding, FindingCode, Graph, MAX_DOCUMENT_BYTES, MAX_EDGES, MAX_FINDINGS, MAX_NODES, Node, NodeIndex,
    NodeKind, Retry, Severity, Trigger, shape,
};
use crate::{
    CONDITION, DEFAULT, ERROR, EVENT, MAX_JSON_DEPTH, NodeId, Outcome, TIMEOUT, json_bytes,
    nests_deeper_than, parse_length, short_pointer,
};

/// Longest message of a finding, in characters.
const MAX_MESSAGE_CHARS: usize = 500;

/// The handlers that the host has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    handlers: Option<BTreeMap<String, HandlerSpec>>,
}

/// What is known of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerSpec {
    /// How it can end well. `error` and `timeout` are there for every handler.
    pub outcomes: BTreeSet<String>,
}

impl Default for HandlerSpec {
    fn default() -> Self {
        Self { outcomes: BTreeSet::from([DEFAULT.to_owned()]) }
    }
}

impl Catalog {
    /// Where nobody knows which handlers there are: any name and any outcome of one will do.
    pub const fn open() -> Self {
        Self { handlers: None }
    }

    /// These handlers and no others.
    pub fn of(handlers: impl IntoIterator<Item = (String, HandlerSpec)>) -> Self {
        Self { handlers: Some(handlers.into_iter().collect()) }
    }
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The graph; there is none where there are errors.
    pub graph: Option<Graph>,
    /// All that is to be said, in the document's order.
    pub findings: Vec<Finding>,
}

/// Checks a document. Never fails: what is wrong is in the findings.
pub fn check(document: &Json, catalog: &Catalog) -> Checked {
    let mut checker = Checker { catalog, findings: Vec::new(), errors: 0, warnings: 0 };
    let graph = checker.graph(document);
    let sound = checker.errors == 0;
    Checked { graph: graph.filter(|_| sound), findings: checker.said() }
}

struct Checker<'a> {
    catalog: &'a Catalog,
    /// The first of each severity, [`MAX_FINDINGS`] of each at most.
    findings: Vec<Finding>,
    /// How many errors there are.
    errors: usize,
    /// How many warnings.
    warnings: usize,
}

impl Checker<'_> {
    /// What is said in the end: errors before warnings, where there isn't room for all.
    fn said(self) -> Vec<Finding> {
        let mut findings = self.findings;
        let mut warnings = MAX_FINDINGS.saturating_sub(self.errors);
        findings.retain(|finding| {
            let stays = finding.severity == Severity::Error || warnings > 0;
            warnings -= usize::from(stays && finding.severity == Severity::Warning);
            stays
        });
        if self.errors + self.warnings > MAX_FINDINGS {
            findings.push(Finding {
                code: FindingCode::MoreFindings,
                severity: Severity::Warning,
                node: None,
                pointer: String::new(),
                message: format!("there is more to be said; these are the first {MAX_FINDINGS} findings"),
            });
        }
        findings
    }

    /// Whether whatever else is wrong would not be said.
    const fn is_full(&self) -> bool {
        self.errors > MAX_FINDINGS
    }

    fn graph(&mut self, json: &Json) -> Option<Graph> {
        if nests_deeper_than(json, MAX_JSON_DEPTH) || json_bytes(json) > MAX_DOCUMENT_BYTES {
            let message =
                format!("a document has {MAX_DOCUMENT_BYTES} bytes and {MAX_JSON_DEPTH} levels at most");
            self.error(FindingCode::TooLarge, None, "", message);
            return None;
        }
        let document: Document = match config::shaped(json) {
            Ok(document) => document,
            Err(wrong) => {
                self.wrong(
                    None,
                    "",
                    wrong.into_iter().map(|(_, at, why)| (FindingCode::BadDocument, at, why)),
                );
                return None;
            }
        };
        if document.schema_version != SCHEMA_VERSION {
            self.error(
                FindingCode::UnknownSchema,
                None,
                "/schema_version",
                format!("the schema is {SCHEMA_VERSION}"),
            );
        }
        for (at, count, most) in
            [("/nodes", document.nodes.len(), MAX_NODES), ("/edges", document.edges.len(), MAX_EDGES)]
        {
            if count > most {
                self.error(
                    FindingCode::TooLarge,
                    None,
                    at,
                    format!("there are {count}; {most} are the most"),
                );
                return None;
            }
        }
        let settings = config::settings(document.settings.as_ref())
            .map_err(|wrong| self.wrong(None, "/settings", wrong.into_iter()))
            .ok();
        let mut trigger = None;
        let mut pointers = Vec::new();
        let mut nodes: Vec<Node> = Vec::new();
        let mut places = BTreeMap::new();
        // A node whose inside is wrong is still somewhere that edges may lead.
        let mut broken = BTreeSet::new();
        for (place, json) in document.nodes.iter().enumerate() {
            if self.is_full() {
                return None;
            }
            let at = format!("/nodes/{place}");
            let Some((id, node)) = self.node(&at, json, &mut trigger) else { continue };
            if places.contains_key(&id) || broken.contains(&id) {
                let message = format!("there are two nodes {id}");
                self.error(FindingCode::DuplicateId, Some(&id), &format!("{at}/id"), message);
                continue;
            }
            let Some(node) = node else {
                broken.insert(id);
                continue;
            };
            places.insert(id, NodeIndex(nodes.len() as u16));
            nodes.push(node);
            pointers.push(at);
        }
        let edges_are_sound = self.edges(&document.edges, &mut nodes, &places, &broken);
        self.ends(&nodes, broken.is_empty() && edges_are_sound);
        // Without every node and edge the shape is anybody's guess.
        if broken.is_empty() && edges_are_sound {
            self.outcomes(&nodes, &pointers);
            let bounded = settings.as_ref().is_some_and(|(_, bounded)| *bounded);
            self.shape(&nodes, &pointers, bounded);
        }
        let start = nodes.iter().position(|node| matches!(node.kind, NodeKind::Trigger))?;
        let (settings, _) = settings?;
        Some(Graph { nodes, places, start: NodeIndex(start as u16), trigger: trigger?, settings })
    }

    /// A node's id, and the node if all of it is sound.
    fn node(
        &mut self,
        at: &str,
        json: &Json,
        trigger: &mut Option<Trigger>,
    ) -> Option<(NodeId, Option<Node>)> {
        let document: NodeDocument = match config::shaped(json) {
            Ok(document) => document,
            Err(wrong) => {
                let id = json.get("id").and_then(Json::as_str).and_then(|id| NodeId::new(id).ok());
                self.wrong(id.as_ref(), at, wrong.into_iter());
                return id.map(|id| (id, None));
            }
        };
        let id = match NodeId::new(document.id) {
            Ok(id) => id,
            Err(error) => {
                self.error(FindingCode::BadId, None, &format!("{at}/id"), error.to_string());
                return None;
            }
        };
        let empty = Json::Object(serde_json::Map::new());
        let given = document.config.as_ref().unwrap_or(&empty);
        let kind = config::kind(&document.type_name, given);
        let kind = match kind {
            Ok(kind) => Some(kind),
            Err(wrong) => {
                let at_type = wrong.first().is_some_and(|wrong| wrong.0 == FindingCode::UnknownType);
                if at_type {
                    self.wrong(
                        Some(&id),
                        &format!("{at}/type"),
                        wrong.into_iter().map(|it| (it.0, String::new(), it.2)),
                    );
                } else {
                    self.wrong(Some(&id), &format!("{at}/config"), wrong.into_iter());
                }
                None
            }
        };
        if let Some(NodeKind::Action { handler, .. }) = &kind
            && let Some(known) = self.catalog.handlers.as_ref()
            && !known.contains_key(handler)
        {
            let others = if known.is_empty() { "; this server has none" } else { "" };
            let message = format!("there is no handler {handler:?}{others}");
            self.error(FindingCode::UnknownHandler, Some(&id), &format!("{at}/config/handler"), message);
        }
        if matches!(kind, Some(NodeKind::Trigger)) && trigger.is_none() {
            *trigger = config::trigger(given).ok();
            if let Some(Trigger::Event { .. }) = trigger {
                let message = "nothing starts instances by a trigger of this kind yet".to_owned();
                self.warning(FindingCode::IdleTrigger, &id, &format!("{at}/config/kind"), message);
            }
        }
        let retry = match document.retry.as_ref().map(config::retry) {
            None => Some(Retry::default()),
            Some(Ok(retry)) => Some(retry),
            Some(Err(wrong)) => {
                self.wrong(Some(&id), &format!("{at}/retry"), wrong.into_iter());
                None
            }
        };
        let timeout = match document.timeout.as_deref().map(parse_length) {
            None => Some(None),
            Some(Ok(timeout)) => Some(Some(timeout)),
            Some(Err(error)) => {
                self.error(FindingCode::BadConfig, Some(&id), &format!("{at}/timeout"), error.to_string());
                None
            }
        };
        let attempts = matches!(kind, Some(NodeKind::Action { .. }) | None);
        for (part, is_there) in [("retry", document.retry.is_some()), ("timeout", document.timeout.is_some())]
        {
            if is_there && !attempts {
                let message = format!("only an action has a {part} of its own");
                self.error(FindingCode::BadConfig, Some(&id), &format!("{at}/{part}"), message);
            }
        }
        let node = kind.zip(retry).zip(timeout).map(|((kind, retry), timeout)| Node {
            id: id.clone(),
            node_type: document.type_name,
            kind,
            retry,
            timeout,
            edges: BTreeMap::new(),
        });
        Some((id, node))
    }

    /// Lays the edges; whether all of them are sound.
    fn edges(
        &mut self,
        documents: &[Json],
        nodes: &mut [Node],
        places: &BTreeMap<NodeId, NodeIndex>,
        broken: &BTreeSet<NodeId>,
    ) -> bool {
        let before = self.errors;
        for (place, json) in documents.iter().enumerate() {
            if self.is_full() {
                return false;
            }
            let at = format!("/edges/{place}");
            let Edge { from, outcome, to } = match config::shaped(json) {
                Ok(edge) => edge,
                Err(wrong) => {
                    self.wrong(None, &at, wrong.into_iter());
                    continue;
                }
            };
            let mut ends = Vec::new();
            for (part, id) in [("from", &from), ("to", &to)] {
                match places.get(id.as_str()) {
                    Some(index) => ends.push(*index),
                    None if broken.contains(id.as_str()) => {}
                    None => {
                        let message = format!("there is no node {id:?}");
                        self.error(FindingCode::UnknownNode, None, &format!("{at}/{part}"), message);
                    }
                }
            }
            let outcome = match Outcome::new(outcome) {
                Ok(outcome) => outcome,
                Err(error) => {
                    self.error(FindingCode::BadConfig, None, &format!("{at}/outcome"), error.to_string());
                    continue;
                }
            };
            let [from, to] = ends[..] else { continue };
            if matches!(nodes[usize::from(to.0)].kind, NodeKind::Trigger) {
                let message = "nothing leads into the trigger".to_owned();
                let id = nodes[usize::from(to.0)].id.clone();
                self.error(FindingCode::EdgeIntoTrigger, Some(&id), &format!("{at}/to"), message);
            }
            let node = &mut nodes[usize::from(from.0)];
            let (needed, allowed) = outcomes(&node.kind, self.catalog);
            let known = allowed.is_none_or(|more| more.iter().any(|it| outcome == **it))
                || needed.iter().any(|it| outcome == **it);
            let id = node.id.clone();
            if !known {
                let message = format!("a node of this kind never ends with {outcome}");
                self.error(FindingCode::UnknownOutcome, Some(&id), &format!("{at}/outcome"), message);
            } else if node.edges.insert(outcome.clone(), to).is_some() {
                let message = format!("{id} has two edges for {outcome}");
                self.error(FindingCode::DuplicateEdge, Some(&id), &at, message);
            }
        }
        self.errors == before
    }

    /// Whether there is one beginning, and an end.
    fn ends(&mut self, nodes: &[Node], whole: bool) {
        let triggers: Vec<&Node> =
            nodes.iter().filter(|node| matches!(node.kind, NodeKind::Trigger)).collect();
        match triggers.as_slice() {
            [] if whole => {
                self.error(FindingCode::NoTrigger, None, "/nodes", "there is no trigger".to_owned());
            }
            [_, second, ..] => {
                let id = second.id.clone();
                self.error(
                    FindingCode::SeveralTriggers,
                    Some(&id),
                    "/nodes",
                    "there is more than one trigger".to_owned(),
                );
            }
            _ => {}
        }
        if whole && !nodes.iter().any(|node| matches!(node.kind, NodeKind::End(_))) {
            self.error(FindingCode::NoEnd, None, "/nodes", "there is no end".to_owned());
        }
    }

    fn outcomes(&mut self, nodes: &[Node], pointers: &[String]) {
        for (node, at) in nodes.iter().zip(pointers) {
            let (needed, _) = outcomes(&node.kind, self.catalog);
            for outcome in needed {
                if node.edge(&outcome).is_none() {
                    let message = format!("the outcome {outcome} of {} leads nowhere", node.id);
                    self.error(FindingCode::MissingOutcome, Some(&node.id), at, message);
                }
            }
            let endless = matches!(&node.kind, NodeKind::WaitEvent(wait) if wait.timeout.is_none());
            if endless {
                let message = format!("{} may wait for ever: it has no timeout", node.id);
                self.warning(FindingCode::UnboundedWait, &node.id, &format!("{at}/config"), message);
            }
        }
    }

    fn shape(&mut self, nodes: &[Node], pointers: &[String], bounded: bool) {
        let Some(start) = nodes.iter().position(|node| matches!(node.kind, NodeKind::Trigger)) else {
            return;
        };
        let reachable = shape::reachable(nodes, start);
        let leading = shape::leads_to_an_end(nodes);
        for (place, (node, at)) in nodes.iter().zip(pointers).enumerate() {
            if !reachable.contains(&place) {
                let message = format!("no edge leads to {}", node.id);
                self.error(FindingCode::Unreachable, Some(&node.id), at, message);
            } else if !leading.contains(&place) {
                let message = format!("no way leads from {} to an end", node.id);
                self.error(FindingCode::NoWayOut, Some(&node.id), at, message);
            }
        }
        for place in shape::busy_loops(nodes) {
            let node = &nodes[place];
            let message = format!("the loop through {} never waits", node.id);
            if bounded {
                self.warning(FindingCode::BusyLoop, &node.id, &pointers[place], message);
            } else {
                let message =
                    format!("{message}, and settings.limits.max_steps doesn't say how long it may go on");
                self.error(FindingCode::BusyLoop, Some(&node.id), &pointers[place], message);
            }
        }
    }

    fn wrong(&mut self, node: Option<&NodeId>, base: &str, wrong: impl Iterator<Item = Wrong>) {
        for (code, at, message) in wrong {
            self.error(code, node, &format!("{base}{at}"), message);
        }
    }

    fn error(&mut self, code: FindingCode, node: Option<&NodeId>, at: &str, message: String) {
        self.errors += 1;
        if self.errors <= MAX_FINDINGS {
            self.say(Severity::Error, code, node, at, message);
        }
    }

    fn warning(&mut self, code: FindingCode, node: &NodeId, at: &str, message: String) {
        self.warnings += 1;
        if self.warnings <= MAX_FINDINGS {
            self.say(Severity::Warning, code, Some(node), at, message);
        }
    }

    fn say(
        &mut self,
        severity: Severity,
        code: FindingCode,
        node: Option<&NodeId>,
        at: &str,
        mut message: String,
    ) {
        // Messages and pointers quote the document, which may have names as long as itself.
        if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE_CHARS) {
            message.replace_range(end.., "…");
        }
        let (node, pointer) = (node.cloned(), short_pointer(at).to_owned());
        self.findings.push(Finding { code, severity, node, pointer, message });
    }
}

/// The outcomes that a node needs an edge for, and the others it may have one for; `None`: any.
fn outcomes(kind: &NodeKind, catalog: &Catalog) -> (Vec<String>, Option<Vec<String>>) {
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    match kind {
        NodeKind::Trigger => (texts(&[DEFAULT]), Some(Vec::new())),
        NodeKind::Action { handler, .. } => match &catalog.handlers {
            None => (Vec::new(), None),
            Some(handlers) => {
                let spec = handlers.get(handler).cloned().unwrap_or_default();
                (spec.outcomes.into_iter().collect(), Some(texts(&[ERROR, TIMEOUT])))
            }
        },
        NodeKind::Condition { .. } => (texts(&["true", "false"]), Some(texts(&[ERROR]))),
        NodeKind::Switch { cases } => {
            let cases = cases.iter().map(|(outcome, _)| outcome.to_string());
            (cases.chain([DEFAULT.to_owned()]).collect(), Some(texts(&[ERROR])))
        }
        NodeKind::Set { .. } | NodeKind::Delay(_) => (texts(&[DEFAULT]), Some(texts(&[ERROR]))),
        NodeKind::WaitEvent(wait) => {
            let mut needed = Vec::new();
            needed.extend(wait.event.as_ref().map(|_| EVENT.to_owned()));
            needed.extend(wait.condition.as_ref().map(|_| CONDITION.to_owned()));
            needed.extend(wait.timeout.as_ref().map(|_| wait.timeout_outcome.to_string()));
            (needed, Some(texts(&[ERROR])))
        }
        NodeKind::End(_) => (Vec::new(), Some(Vec::new())),
    }
}
