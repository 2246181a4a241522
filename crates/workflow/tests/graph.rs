//! What is said of graphs.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, clippy::too_many_lines, reason = "tests")]

use heddle_workflow::{
    Catalog, Chance, Checked, Finding, HandlerSpec, MAX_FINDINGS, NodeKind, SCHEMA_VERSION, Severity,
    StartRate, check, columns,
};
use jiff::SignedDuration;
use proptest::prelude::*;
use serde_json::{Value, json};

fn document(nodes: Value, edges: &[(&str, &str, &str)]) -> Value {
    let edges: Vec<Value> =
        edges.iter().map(|(from, outcome, to)| json!({"from": from, "outcome": outcome, "to": to})).collect();
    json!({"schema_version": SCHEMA_VERSION, "nodes": nodes, "edges": edges})
}

fn sound() -> Value {
    let mut document = document(
        json!([
            {"id": "start", "type": "trigger", "config": {"kind": "event", "key": "order.paid"},
             "position": {"x": 1.5, "y": 2}},
            {"id": "charge", "type": "action",
             "config": {"handler": "charge", "input": {"amount": "{{ trigger.amount }}"}},
             "retry": {"max_attempts": 3, "backoff": "linear", "delay": "2s", "jitter": 0.5}, "timeout": "30s"},
            {"id": "large", "type": "condition", "config": {"expression": "steps.charge.output.amount > 100"}},
            {"id": "kind", "type": "switch",
             "config": {"cases": [{"outcome": "gift", "when": "trigger.gift == true"}]}},
            {"id": "note", "type": "set", "config": {"values": {"n": "{{ vars.n + 1 }}"}}},
            {"id": "pause", "type": "delay", "config": {"duration": "30 days"}},
            {"id": "reply", "type": "wait_event",
             "config": {"event": "reply.{{ subject.id }}", "match": "event.ok == true", "timeout": "1d"}},
            {"id": "done", "type": "end", "config": {"output": {"n": "{{ vars.n }}"}}},
            {"id": "lost", "type": "end", "config": {"status": "failed", "code": "no_reply"}},
        ]),
        &[
            ("start", "default", "charge"),
            ("charge", "default", "large"),
            ("charge", "error", "lost"),
            ("large", "true", "kind"),
            ("large", "false", "done"),
            ("kind", "gift", "note"),
            ("kind", "default", "pause"),
            ("note", "default", "pause"),
            ("pause", "default", "reply"),
            ("reply", "event", "done"),
            ("reply", "timeout", "lost"),
        ],
    );
    document["settings"] =
        json!({"timeout": "90 days", "limits": {"max_steps": 50}, "actor_mode": "starter"});
    document
}

fn catalog() -> Catalog {
    Catalog::of([("charge".to_owned(), HandlerSpec::default())])
}

fn short(findings: &[Finding]) -> Vec<(&'static str, &str, Option<&str>)> {
    findings
        .iter()
        .map(|finding| {
            let node = finding.node.as_ref().map(heddle_workflow::NodeId::as_str);
            (finding.code.name(), finding.pointer.as_str(), node)
        })
        .collect()
}

/// The findings of the sound document after a change.
fn after(change: impl FnOnce(&mut Value)) -> Checked {
    let mut document = sound();
    change(&mut document);
    check(&document, &catalog())
}

/// proves W12, W13: a document becomes a graph in which every edge is a place.
#[test]
fn a_sound_document_is_a_graph() {
    let Checked { graph, findings } = check(&sound(), &catalog());
    // Nothing starts instances by an event yet, and that is said.
    assert_eq!(short(&findings), [("idle_trigger", "/nodes/0/config/kind", Some("start"))]);
    assert_eq!(findings[0].severity, Severity::Warning);
    let graph = graph.unwrap();
    let start = graph.node(graph.start());
    assert_eq!(
        (start.id.as_str(), graph.trigger().name(), graph.trigger().key()),
        ("start", "event", Some("order.paid"))
    );
    let charge = graph.node(start.edge("default").unwrap());
    assert!(matches!(&charge.kind, NodeKind::Action { handler, .. } if handler == "charge"));
    assert_eq!(charge.timeout, Some(SignedDuration::from_secs(30)));
    assert_eq!((graph.settings().max_steps, graph.settings().start_rate), (50, None));
    let rated = after(|it| it["settings"]["start_rate"] = json!({"count": 10_000, "per": "31 days"}));
    let per = SignedDuration::from_hours(24 * 31);
    let rate = Some(StartRate { count: 10_000, per });
    assert_eq!(rated.graph.unwrap().settings().start_rate, rate);
    assert_eq!(graph.node(graph.find("lost").unwrap()).edge("default"), None);
    let (trigger, settings) = columns(&sound());
    assert_eq!(
        (trigger["key"].as_str(), settings["actor_mode"].as_str()),
        (Some("order.paid"), Some("starter"))
    );
}

/// proves W12: each thing that can be wrong has its code, its node and its place.
#[test]
fn every_fault_is_found_where_it_is() {
    let cases: Vec<(Checked, &str, &str, Option<&str>)> = vec![
        (after(|it| it["extra"] = json!(1)), "bad_document", "/extra", None),
        (after(|it| it["nodes"] = json!({})), "bad_document", "/nodes", None),
        (after(|it| it["schema_version"] = json!("v9")), "unknown_schema", "/schema_version", None),
        (after(|it| it["nodes"] = json!(vec![json!({}); 501])), "too_large", "/nodes", None),
        (after(|it| it["nodes"][0]["config"]["key"] = json!("x".repeat(1_100_000))), "too_large", "", None),
        (
            after(|it| it["settings"] = (0..64).fold(json!({}), |inner, _| json!({"more": inner}))),
            "too_large",
            "",
            None,
        ),
        (after(|it| it["nodes"][5]["id"] = json!("a b")), "bad_id", "/nodes/5/id", None),
        (after(|it| it["nodes"][8]["id"] = json!("done")), "duplicate_id", "/nodes/8/id", Some("done")),
        (
            after(|it| it["nodes"][5]["type"] = json!("approval")),
            "unknown_type",
            "/nodes/5/type",
            Some("pause"),
        ),
        (after(|it| it["nodes"][5]["colour"] = json!(1)), "bad_config", "/nodes/5/colour", Some("pause")),
        (after(|it| it["nodes"][5]["config"] = json!({})), "bad_config", "/nodes/5/config", Some("pause")),
        (
            after(|it| it["nodes"][5]["config"] = json!({"duration": "soon"})),
            "bad_config",
            "/nodes/5/config/duration",
            Some("pause"),
        ),
        (
            after(|it| it["nodes"][5]["config"] = json!({"until": "tomorrow"})),
            "bad_config",
            "/nodes/5/config/until",
            Some("pause"),
        ),
        (
            after(|it| it["nodes"][5]["timeout"] = json!("3s")),
            "bad_config",
            "/nodes/5/timeout",
            Some("pause"),
        ),
        (
            after(|it| it["nodes"][1]["retry"]["max_attempts"] = json!(0)),
            "bad_config",
            "/nodes/1/retry/max_attempts",
            Some("charge"),
        ),
        (
            after(|it| it["nodes"][1]["config"]["handler"] = json!("pay")),
            "unknown_handler",
            "/nodes/1/config/handler",
            Some("charge"),
        ),
        (
            after(|it| it["nodes"][1]["config"]["input"]["amount"] = json!("{{ order.amount }}")),
            "bad_expression",
            "/nodes/1/config/input/amount",
            Some("charge"),
        ),
        (
            after(|it| it["nodes"][2]["config"]["expression"] = json!("1 + 1")),
            "bad_expression",
            "/nodes/2/config/expression",
            Some("large"),
        ),
        (
            after(|it| it["nodes"][3]["config"]["cases"][0]["when"] = json!("trigger.gift ==")),
            "bad_expression",
            "/nodes/3/config/cases/0/when",
            Some("kind"),
        ),
        (after(|it| it["edges"][3]["to"] = json!("nowhere")), "unknown_node", "/edges/3/to", None),
        (
            after(|it| it["edges"][2]["outcome"] = json!("oops")),
            "unknown_outcome",
            "/edges/2/outcome",
            Some("charge"),
        ),
        (after(|it| it["edges"][4]["outcome"] = json!("true")), "duplicate_edge", "/edges/4", Some("large")),
        (
            after(|it| it["edges"][4]["to"] = json!("start")),
            "edge_into_trigger",
            "/edges/4/to",
            Some("start"),
        ),
        (
            after(|it| drop(it["edges"].as_array_mut().unwrap().remove(4))),
            "missing_outcome",
            "/nodes/2",
            Some("large"),
        ),
        (after(|it| it["settings"]["timeout"] = json!("1 month")), "bad_config", "/settings/timeout", None),
        (
            after(|it| it["settings"]["limits"]["max_steps"] = json!(10_001)),
            "bad_config",
            "/settings/limits/max_steps",
            None,
        ),
        (
            after(|it| it["settings"]["start_rate"] = json!({"count": 0, "per": "1m"})),
            "bad_start_rate",
            "/settings/start_rate/count",
            None,
        ),
        (
            after(|it| it["settings"]["start_rate"] = json!({"count": 5, "per": "32 days"})),
            "bad_start_rate",
            "/settings/start_rate/per",
            None,
        ),
        (
            after(|it| it["settings"]["start_rate"] = json!({"count": 5, "per": "often"})),
            "bad_start_rate",
            "/settings/start_rate/per",
            None,
        ),
        (
            after(|it| it["settings"]["start_rate"] = json!({"count": 5})),
            "bad_config",
            "/settings/start_rate",
            None,
        ),
        (
            after(|it| it["nodes"][0]["config"]["key"] = json!("order\u{0}paid")),
            "bad_config",
            "/nodes/0/config/key",
            Some("start"),
        ),
        (
            after(|it| it["nodes"][6]["config"]["event"] = json!("reply\n")),
            "bad_config",
            "/nodes/6/config/event",
            Some("reply"),
        ),
        (
            after(|it| it["nodes"][1]["config"]["handler"] = json!("\u{0}")),
            "bad_config",
            "/nodes/1/config/handler",
            Some("charge"),
        ),
        (
            after(|it| it["nodes"][6]["type"] = json!("trigger")),
            "bad_config",
            "/nodes/6/config/event",
            Some("reply"),
        ),
    ];
    for (checked, code, pointer, node) in &cases {
        assert!(checked.graph.is_none(), "{code} {pointer}");
        assert!(short(&checked.findings).contains(&(code, pointer, *node)), "{code}: {:?}", checked.findings);
    }
}

fn codes(nodes: Value, edges: &[(&str, &str, &str)]) -> Vec<(&'static str, Option<String>)> {
    check(&document(nodes, edges), &Catalog::open())
        .findings
        .into_iter()
        .map(|finding| (finding.code.name(), finding.node.map(|node| node.to_string())))
        .collect()
}

/// proves W12: what only the whole shows.
#[test]
fn the_shape_is_looked_at() {
    let start = json!({"id": "start", "type": "trigger"});
    let end = json!({"id": "end", "type": "end"});
    let act = |id: &str| json!({"id": id, "type": "action", "config": {"handler": "h"}});
    let named = |code: &'static str, node: &str| (code, Some(node.to_owned()));
    assert_eq!(codes(json!([end]), &[]), [("no_trigger", None)]);
    assert_eq!(
        codes(json!([start, act("a")]), &[("start", "default", "a"), ("a", "default", "a")]),
        [("no_end", None), named("no_way_out", "start"), named("no_way_out", "a"), named("busy_loop", "a")]
    );
    assert_eq!(
        codes(
            json!([start, act("a"), act("b"), end]),
            &[("start", "default", "end"), ("a", "default", "end")]
        ),
        [named("unreachable", "a"), named("unreachable", "b")]
    );
    let second = json!({"id": "second", "type": "trigger"});
    assert!(
        codes(json!([start, second, end]), &[("start", "default", "end"), ("second", "default", "end")])
            .contains(&named("several_triggers", "second"))
    );
}

/// proves W12: a loop is fine if it waits, or says how long it may go on.
#[test]
fn loops_wait_or_are_bounded() {
    let graph = |between: Value, settings: Value| {
        let mut document = document(
            json!([
                {"id": "start", "type": "trigger"}, between,
                {"id": "again", "type": "condition", "config": {"expression": "vars.n < 3"}},
                {"id": "end", "type": "end"},
            ]),
            &[
                ("start", "default", "between"),
                ("between", "default", "again"),
                ("again", "true", "between"),
                ("again", "false", "end"),
            ],
        );
        document["settings"] = settings;
        check(&document, &Catalog::open())
    };
    let set = json!({"id": "between", "type": "set", "config": {"values": {"n": 1}}});
    let wait = json!({"id": "between", "type": "delay", "config": {"duration": "1s"}});
    let until = json!({"id": "between", "type": "delay", "config": {"until": "2026-01-01T00:00:00Z"}});
    let bounded = json!({"limits": {"max_steps": 10}});
    for busy in [&set, &until] {
        let findings = graph(busy.clone(), json!({})).findings;
        assert_eq!(short(&findings), [("busy_loop", "/nodes/1", Some("between"))]);
        assert_eq!(findings[0].severity, Severity::Error);
    }
    let warned = graph(set, bounded);
    assert_eq!(warned.findings.iter().map(|it| it.severity).collect::<Vec<_>>(), [Severity::Warning]);
    assert!(warned.graph.is_some());
    assert_eq!(graph(wait, json!({})).findings, []);
}

/// proves W12: a wait without end is a warning, and the graph stands.
#[test]
fn an_unbounded_wait_is_a_warning() {
    let checked = after(|it| {
        it["nodes"][6]["config"].as_object_mut().unwrap().remove("timeout");
        it["edges"].as_array_mut().unwrap().pop();
    });
    assert_eq!(short(&checked.findings)[1..], [("unbounded_wait", "/nodes/6/config", Some("reply"))]);
    assert!(checked.graph.is_some());
}

/// proves W18: pauses grow as they should, up to their bound, and chance takes no more than its part.
#[test]
fn pauses_between_attempts() {
    let pauses = |retry: Value, chance: u32| {
        let checked = after(|it| it["nodes"][1]["retry"] = retry);
        let graph = checked.graph.unwrap();
        let retry = &graph.node(graph.find("charge").unwrap()).retry;
        [1, 2, 3, 4, 40].map(|failures| retry.pause(failures, Chance(chance)).as_millis())
    };
    let retry = |backoff: &str, jitter: f64| json!({"max_attempts": 9, "backoff": backoff, "delay": "2s", "max_delay": "11s", "jitter": jitter});
    assert_eq!(pauses(retry("fixed", 0.0), u32::MAX), [2_000; 5]);
    assert_eq!(pauses(retry("linear", 0.0), 0), [2_000, 4_000, 6_000, 8_000, 11_000]);
    assert_eq!(pauses(retry("exponential", 0.0), 0), [2_000, 4_000, 8_000, 11_000, 11_000]);
    assert_eq!(pauses(retry("exponential", 0.5), 0), [2_000, 4_000, 8_000, 11_000, 11_000]);
    assert_eq!(pauses(retry("exponential", 0.5), u32::MAX), [1_000, 2_000, 4_000, 5_500, 5_500]);
}

/// proves W12, W30: what is said of a graph is bounded, whatever is wrong with it. Wrong elsewhere: twenty thousand bad
/// expressions are six megabytes of findings, and a name as long as the document is repeated in each of them.
#[test]
fn findings_are_bounded() {
    let set = |values: Value| {
        document(
            json!([{"id": "start", "type": "trigger"}, {"id": "set", "type": "set", "config": {"values": values}},
                   {"id": "end", "type": "end"}]),
            &[("start", "default", "set"), ("set", "default", "end")],
        )
    };
    let bad = "{{ nope }}";
    let each: serde_json::Map<_, _> = (0..20_000).map(|place| (format!("v{place}"), json!(bad))).collect();
    let long = "n".repeat(400_000);
    let mut edges = set(json!({}));
    edges["edges"] = json!(vec![json!({"from": "x".repeat(500), "to": "start"}); 1_500]);
    let mut errors = Vec::new();
    for bad in [
        set(Value::Object(each)),
        set(json!({"v": vec![bad; 20_000]})),
        set(json!({"v": {&long: vec![bad; 20_000]}})),
        set(json!({long: vec![bad; 20_000]})),
        edges,
    ] {
        let checked = check(&bad, &catalog());
        assert_eq!((checked.graph, checked.findings.len()), (None, MAX_FINDINGS + 1));
        let bytes: usize = checked.findings.iter().map(|it| it.pointer.len() + it.message.len()).sum();
        assert!(bytes < MAX_FINDINGS * 2_000, "{bytes}");
        let last = checked.findings.last().unwrap();
        assert_eq!((last.code.name(), last.severity), ("more_findings", Severity::Warning));
        errors.push(checked.findings.iter().filter(|it| it.severity == Severity::Error).count());
    }
    assert_eq!(errors, [MAX_FINDINGS; 5]);
    // Warnings make room for errors, and forbid nothing however many they are.
    let waits = |last: Value| {
        let mut nodes = vec![json!({"id": "start", "type": "trigger"})];
        let mut edges = vec![json!({"from": "start", "to": "w0"})];
        for place in 0..400 {
            nodes.push(json!({"id": format!("w{place}"), "type": "wait_event", "config": {"event": "go"}}));
            let next = if place == 399 { "end".to_owned() } else { format!("w{}", place + 1) };
            edges.push(json!({"from": format!("w{place}"), "outcome": "event", "to": next}));
        }
        nodes.extend([json!({"id": "end", "type": "end"}), last]);
        json!({"schema_version": SCHEMA_VERSION, "nodes": nodes, "edges": edges})
    };
    let mut warned = waits(Value::Null);
    warned["nodes"].as_array_mut().unwrap().pop();
    let warned = check(&warned, &catalog());
    assert_eq!((warned.graph.is_some(), warned.findings.len()), (true, MAX_FINDINGS + 1));
    let lost = check(&waits(json!({"id": "lost", "type": "end"})), &catalog());
    assert_eq!((lost.graph.is_none(), lost.findings.len()), (true, MAX_FINDINGS + 1));
    assert!(lost.findings.iter().any(|it| it.code.name() == "unreachable"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        "[a-z{} .]{0,12}".prop_map(Value::from),
        Just(json!("default")),
        Just(json!("start"))
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(
                (prop::sample::select(vec!["id", "type", "config", "from", "to", "event", "values"]), inner),
                0..4
            )
            .prop_map(|entries| entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    /// proves W12: no document is too strange to be told what is wrong with it, and what is told has a place in it.
    #[test]
    fn any_document_is_checked(part in any_json(), place in 0..9_usize, field in 0..6_usize) {
        let checked = after(|it| match field {
            0 => it["nodes"][place] = part,
            1 => it["nodes"][place]["config"] = part,
            2 => it["edges"][place] = part,
            3 => it["settings"] = part,
            4 => it["nodes"][place]["type"] = part,
            _ => *it = part,
        });
        prop_assert_eq!(
            checked.graph.is_none(),
            checked.findings.iter().any(|finding| finding.severity == Severity::Error)
        );
        prop_assert!(checked.findings.iter().all(|it| it.pointer.is_empty() || it.pointer.starts_with('/')));
    }
}
