//! What expressions give, and that they end.

use serde_json::json;

use super::*;

struct Data {
    trigger: Json,
    subject: Json,
    vars: Map<String, Json>,
    steps: Map<String, Json>,
    event: Json,
    budget: TurnBudget,
}

impl Data {
    fn new(trigger: Json) -> Self {
        let Json::Object(steps) = json!({"charge": {"output": {"id": 7}, "outcome": "default"}}) else {
            unreachable!()
        };
        let Json::Object(vars) = json!({"n": 3, "tags": {"b": 1, "a": 2, "c": 3}}) else { unreachable!() };
        Self {
            trigger,
            subject: json!({"id": "s1"}),
            vars,
            steps,
            event: json!({"order": 9}),
            budget: TurnBudget::new(10_000_000),
        }
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            trigger: &self.trigger,
            subject: &self.subject,
            vars: &self.vars,
            steps: &self.steps,
            event: &self.event,
            now: "2026-03-01T12:00:00Z".parse().unwrap(),
            budget: &self.budget,
        }
    }
}

fn value(source: &str) -> Result<Json, ExpressionError> {
    let data =
        Data::new(json!({"amount": 12.5, "lines": [{"sku": "a"}, {"sku": "b"}], "big": "x".repeat(60_000)}));
    Expression::parse(source)?.evaluate(&data.scope(), usize::MAX)
}

/// proves W14: conditions look at trigger, subject, variables, steps, the event and the clock.
#[test]
fn expressions_see_the_instance() {
    for (source, expected) in [
        ("trigger.amount > 10.0 && subject.id == 's1'", json!(true)),
        ("vars.n + 1", json!(4)),
        ("steps.charge.output.id == 7", json!(true)),
        ("has(steps.refund) ? 1 : 2", json!(2)),
        ("event.order in [8, 9]", json!(true)),
        ("now - timestamp('2026-03-01T11:00:00Z') > duration('30m')", json!(true)),
        ("now + duration('90s')", json!("2026-03-01T12:01:30Z")),
        ("duration('1.5s')", json!("1.5s")),
        ("now.getDayOfWeek()", json!(0)),
        ("trigger.lines.map(line, line.sku)", json!(["a", "b"])),
        ("trigger.lines.exists_one(line, line.sku == 'a')", json!(true)),
        ("trigger.lines.filter(line, line.sku != 'a').size()", json!(1)),
        ("{'a': [1u, 2.5, null, 'x']}", json!({"a": [1, 2.5, null, "x"]})),
        ("type(vars.n) == int", json!(true)),
    ] {
        assert_eq!(value(source), Ok(expected), "{source}");
    }
}

/// A map's keys come in order, whatever the seed of its hash: a replay sees what the first run saw.
#[test]
fn maps_are_iterated_in_order() {
    for _ in 0..20 {
        assert_eq!(value("vars.tags.map(key, key)"), Ok(json!(["a", "b", "c"])));
    }
}

/// proves W12: what is certain to be wrong is found before anything runs.
#[test]
fn what_cannot_work_is_found_early() {
    for (source, expected) in [
        ("payload.x", "there is no variable \"payload\""),
        ("foo(1)", "there is no function \"foo\""),
        ("size()", "not called like that"),
        ("'a'.matches('b')", "there is no function \"matches\""),
        ("1 + 'a'", "+ never fits int and string"),
        ("!'a'", "a logical operator never fits string"),
        ("now && true", "never fits timestamp and bool"),
        ("'a' < [1]", "an order never fits"),
        ("1 in 2", "in never fits"),
        ("Thing{a: 1}", "there is no type"),
        ("now.field", "timestamp has no field"),
        ("1 +", "not a CEL expression"),
        ("", "not a CEL expression"),
    ] {
        let error = Expression::parse(source).expect_err(source).to_string();
        assert!(error.contains(expected), "{source}: {error}");
    }
    assert_eq!(Expression::parse("vars.n > 1").unwrap().kind(), Kind::Bool);
    assert_eq!(Expression::parse("vars.n").unwrap().kind(), Kind::Any);
}

#[test]
fn only_what_is_looked_at_is_handed_over() {
    let uses = |source: &str| Expression::parse(source).unwrap().uses().clone();
    let fields = |names: &[&str], inner: &Part| {
        Part::Fields(names.iter().map(|name| ((*name).to_owned(), inner.clone())).collect())
    };
    let named = uses("steps.a.output == steps.b.output && trigger.x == 1");
    assert_eq!(named.roots["steps"], fields(&["a", "b"], &fields(&["output"], &Part::Whole)));
    assert_eq!(named.roots["trigger"], fields(&["x"], &Part::Whole));
    assert_eq!(uses("has(vars.x) && has(vars.y.z)").roots["vars"], {
        let Part::Fields(mut both) = fields(&["y"], &fields(&["z"], &Part::nothing())) else {
            unreachable!()
        };
        both.insert("x".to_owned(), Part::nothing());
        Part::Fields(both)
    });
    for whole in ["steps['a'] == 1 && steps.b == 2", "steps.b == 2 && size(steps) == 1"] {
        assert_eq!(uses(whole).roots["steps"], Part::Whole, "{whole}");
    }
    assert_eq!(uses("vars.x.all(vars, vars.y)").roots["vars"], fields(&["x"], &Part::Whole));
    assert_eq!(
        uses("has(vars.x) && vars.x == 1 && vars.x.y == 2").roots["vars"],
        fields(&["x"], &Part::Whole)
    );
}

/// proves W14: size, depth and work are bounded; each of these would take seconds, gigabytes or the stack.
#[test]
fn nothing_runs_on() {
    let doubled = format!("[trigger.big]{}", ".map(x, x + x)".repeat(12));
    let listed = format!("[trigger.big]{}", ".map(x, [x, x])".repeat(12));
    let list = format!("[{}]", vec!["1"; 100].join(","));
    let nested = format!("{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, a == a))))");
    let absorbed = format!("{nested} || true");
    for source in [&doubled, &listed, &nested] {
        assert_eq!(value(source), Err(ExpressionError::Budget), "{source}");
    }
    // Spending it all is no way to a value.
    assert!(matches!(value(&absorbed), Ok(_) | Err(ExpressionError::Budget)));
    assert!(matches!(value(&"1+".repeat(1_100)), Err(ExpressionError::TooLong { .. })));
    let chain = "1+".repeat(900) + "1";
    let brackets = "(".repeat(500) + "1" + &")".repeat(500);
    let negations = "!".repeat(800) + "true";
    let fields = "trigger".to_owned() + &".a".repeat(900);
    let conditions = "true ? true : ".repeat(120) + "true";
    for source in [&chain, &brackets, &fields, &conditions] {
        assert!(Expression::parse(source).is_err(), "{}", &source[..20]);
    }
    // The parser folds these.
    assert_eq!(value(&negations), Ok(json!(true)));
}

/// proves W14
#[test]
fn templates_give_values_and_texts() {
    let data = Data::new(json!({"amount": 12.5, "name": "Ann", "none": null}));
    let render = |json: Json| Template::parse(&json).unwrap().render(&data.scope(), usize::MAX).unwrap();
    assert_eq!(
        render(
            json!({"amount": "{{ trigger.amount }}", "text": "Hi {{trigger.name}}: {{ vars.n }}{{trigger.none}}!",
                      "list": [1, "{{ {'a': {'b': '}}'}} }}"], "fixed": {"x": [true]}})
        ),
        json!({"amount": 12.5, "text": "Hi Ann: 3!", "list": [1, {"a": {"b": "}}"}}], "fixed": {"x": [true]}})
    );
    let errors = Template::parse(&json!({"a/b": ["ok", "{{ nope }}"], "c": "{{ 1"})).expect_err("two errors");
    let pointers: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
    assert_eq!(pointers, ["/a~1b/1", "/c"]);
}

/// Text is given up as soon as it is too long, and paid for as far as it went.
#[test]
fn templates_have_only_so_much_room() {
    let data = Data::new(json!({"big": "x".repeat(16_000)}));
    let render = |json: Json, most| {
        let before = data.budget.left();
        let rendered = Template::parse(&json).unwrap().render(&data.scope(), most);
        (rendered, before - data.budget.left())
    };
    for long in [
        json!("{{ trigger.big }}".repeat(1_000) + "."),
        json!(vec!["{{ trigger.big }}"; 1_000]),
        json!({"a": "{{ trigger.big }}", "b": vec!["{{ trigger.big }}"; 1_000]}),
    ] {
        let (rendered, units) = render(long, 40_000);
        assert_eq!(rendered, Err(ExpressionError::TooLarge { most: 40_000 }));
        assert!((2_500..8_000).contains(&units), "{units}");
    }
    let exact = json!({"a": ["xxxx", "1 2"]});
    let (rendered, _) = render(json!({"a": ["{{ 'xx' }}xx", "1 {{ 2 }}"]}), exact.to_string().len());
    assert_eq!(rendered, Ok(exact));
}

/// What an evaluation costs its turn depends on what it looks at, and on what it makes.
#[test]
fn a_turn_pays_for_what_is_looked_at() {
    let data = Data::new(json!({"big": "x".repeat(16_000), "list": vec![0; 5_000], "id": 7}));
    for (source, least, most) in [
        ("has(trigger.gone)", 50, 100),
        ("has(trigger.list)", 50, 100),
        ("trigger.id", 50, 100),
        ("has(trigger.big)", 50, 400),
        ("trigger.big", 1_000, 2_000),
        ("trigger.list", 10_000, 10_100),
        ("size(trigger.list)", 10_000, 11_000),
        ("trigger == null", 10_000, 20_000),
    ] {
        let before = data.budget.left();
        Expression::parse(source).unwrap().evaluate(&data.scope(), usize::MAX).unwrap();
        let units = before - data.budget.left();
        assert!((least..most).contains(&units), "{source}: {units}");
    }
    data.budget.take(u64::MAX).unwrap_err();
    for source in ["1", "true || trigger.id == 7"] {
        let spent = Expression::parse(source).unwrap().evaluate(&data.scope(), usize::MAX);
        assert_eq!(spent, Err(ExpressionError::TurnBudget));
    }
}

/// What is left after an evaluation doesn't depend on the order in which a hash has a map's entries: a replay fails
/// where the first run did.
#[test]
fn what_is_left_is_the_same_every_time() {
    let map: Map<String, Json> =
        (0..100).map(|place| (format!("k{place}"), json!("x".repeat(place * 1_000)))).collect();
    let trigger = json!({"map": map});
    for (source, most, error) in [
        ("trigger.map", 100_000, ExpressionError::TooLarge { most: 100_000 }),
        ("[trigger.map] == []", 100_000, ExpressionError::Budget),
    ] {
        let expression = Expression::parse(source).unwrap();
        let left: std::collections::BTreeSet<u64> = (0..20)
            .map(|_| {
                let data = Data::new(trigger.clone());
                assert_eq!(expression.evaluate(&data.scope(), most), Err(error.clone()), "{source}");
                data.budget.left()
            })
            .collect();
        assert_eq!(left.len(), 1, "{source}: {left:?}");
    }
}
