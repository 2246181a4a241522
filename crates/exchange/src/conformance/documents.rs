use serde_json::{Value, json};

use super::{Settings, unique};
use crate::limits::MAX_DOCUMENT_BYTES;
use crate::{Exchange, ExchangeError, Fenced, Ordered, find_all};

/// A document comes back as written with its `_id`, is replaced whole, and is gone once removed.
pub async fn documents_are_kept_as_written(exchange: &Exchange, _: Settings) {
    let (things, others) = (unique("things"), unique("others"));
    let documents = &exchange.documents;
    assert_eq!(documents.get(&things, "7_a:1~x").await.unwrap(), None);
    let text = "日本語 🧵 \u{0} \"quoted\"";
    let document = json!({ "text": text, "list": [1, 2.5, null, true, { "deep": [[]] }], "big": 9_007_199_254_740_991_u64 });
    documents.put(&things, "7_a:1~x", document).await.unwrap();
    let mut expected = json!({ "text": text, "list": [1, 2.5, null, true, { "deep": [[]] }], "big": 9_007_199_254_740_991_u64 });
    expected["_id"] = json!("7_a:1~x");
    assert_eq!(documents.get(&things, "7_a:1~x").await.unwrap(), Some(expected));
    assert_eq!(documents.get(&others, "7_a:1~x").await.unwrap(), None, "collections are apart");

    documents.put(&things, "7_a:1~x", json!({ "_id": "7_a:1~x", "new": 1 })).await.unwrap();
    assert_eq!(documents.get(&things, "7_a:1~x").await.unwrap(), Some(json!({ "_id": "7_a:1~x", "new": 1 })));
    assert!(documents.remove(&things, "7_a:1~x").await.unwrap());
    assert!(!documents.remove(&things, "7_a:1~x").await.unwrap());
    assert_eq!(documents.get(&things, "7_a:1~x").await.unwrap(), None);
}

/// D2, step by step.
pub async fn an_older_attempt_never_overwrites_a_newer_document(exchange: &Exchange, _: Settings) {
    let results = unique("results");
    let put = async |attempt, word: &str| {
        exchange.documents.put_fenced(&results, "job", attempt, json!({ "word": word })).await.unwrap()
    };
    let stored = async || exchange.documents.get(&results, "job").await.unwrap().unwrap();
    assert_eq!(put(2, "two").await, Fenced::Written);
    assert_eq!(stored().await, json!({ "_id": "job", "attempt": 2, "word": "two" }));
    assert_eq!(put(2, "two again").await, Fenced::Unchanged);
    assert_eq!(put(1, "one").await, Fenced::Superseded { by: 2 });
    assert_eq!(stored().await["word"], "two");
    assert_eq!(put(7, "seven").await, Fenced::Written);
    assert_eq!(put(2, "two").await, Fenced::Superseded { by: 7 });
    assert_eq!(stored().await, json!({ "_id": "job", "attempt": 7, "word": "seven" }));

    // The fence is the document's own field, whoever wrote it.
    exchange.documents.put(&results, "job", json!({ "attempt": 9, "word": "amended" })).await.unwrap();
    assert_eq!(put(8, "eight").await, Fenced::Superseded { by: 9 });
    exchange.documents.put(&results, "free", json!({ "word": "unfenced" })).await.unwrap();
    let free = exchange.documents.put_fenced(&results, "free", 1, json!({ "word": "fenced" })).await.unwrap();
    assert_eq!(free, Fenced::Written);
}

/// D2 under a race: whatever the order, the newest attempt stays, exactly one write of it wins, and each answer is
/// true.
pub async fn racing_attempts_leave_the_newest_document(exchange: &Exchange, _: Settings) {
    let results = unique("results");
    for round in 0..5 {
        let id = format!("job{round}");
        let writers: Vec<_> = (0..24_u32)
            .map(|writer| {
                let (exchange, results, id) = (exchange.clone(), results.clone(), id.clone());
                let attempt = (writer * 7 + round) % 8 + 1;
                tokio::spawn(async move {
                    let document = json!({ "writer": writer });
                    let fenced =
                        exchange.documents.put_fenced(&results, &id, attempt, document).await.unwrap();
                    (writer, attempt, fenced)
                })
            })
            .collect();
        let mut newest_written = Vec::new();
        for writer in writers {
            let (writer, attempt, fenced) = writer.await.unwrap();
            match fenced {
                Fenced::Superseded { by } => assert!(by > attempt),
                Fenced::Written if attempt == 8 => newest_written.push(writer),
                Fenced::Written | Fenced::Unchanged => {}
            }
        }
        let stored = exchange.documents.get(&results, &id).await.unwrap().unwrap();
        assert_eq!(stored["attempt"], 8);
        assert_eq!(newest_written.len(), 1, "one write of the newest attempt wins");
        assert_eq!(stored["writer"], newest_written[0]);
    }
}

/// A shared document, step by step: a later writer's stays, whoever comes after.
pub async fn an_earlier_writer_never_overwrites_a_later_document(exchange: &Exchange, _: Settings) {
    let shared = unique("shared");
    let put = async |order: &str, word: &str| {
        exchange.documents.put_ordered(&shared, "node", order, json!({ "word": word })).await.unwrap()
    };
    let stored = async || exchange.documents.get(&shared, "node").await.unwrap().unwrap();
    assert_eq!(put("05/b", "first").await, Ordered::Written);
    assert_eq!(stored().await, json!({ "_id": "node", "write_order": "05/b", "word": "first" }));
    assert_eq!(put("05/b", "again").await, Ordered::Unchanged);
    assert_eq!(put("05/a", "earlier").await, Ordered::Overtaken { by: "05/b".to_owned() });
    assert_eq!(stored().await["word"], "first");
    assert_eq!(put("05/ba", "later").await, Ordered::Written);
    assert_eq!(put("1", "later still").await, Ordered::Written);
    // Byte by byte, not by any language's order.
    assert_eq!(put("B", "upper case").await, Ordered::Written);
    assert_eq!(put("a", "lower case").await, Ordered::Written);
    assert_eq!(put("Z", "upper case again").await, Ordered::Overtaken { by: "a".to_owned() });
    assert_eq!(put("é", "beyond ASCII").await, Ordered::Written);
    assert_eq!(stored().await["word"], "beyond ASCII");

    // The place is the document's own field, whoever wrote it; a document without one comes before all.
    for free in [json!({ "word": "free" }), json!({ "write_order": 7 }), json!({ "write_order": null })] {
        exchange.documents.put(&shared, "node", free).await.unwrap();
        assert_eq!(put("0", "ordered").await, Ordered::Written);
    }
    exchange.documents.put(&shared, "node", json!({ "write_order": "9" })).await.unwrap();
    assert_eq!(put("8", "overtaken").await, Ordered::Overtaken { by: "9".to_owned() });
}

/// The same under a race: the last in the order stays, and exactly one write of it wins.
pub async fn racing_writers_leave_the_last_document(exchange: &Exchange, _: Settings) {
    let shared = unique("shared");
    for round in 0..5 {
        let id = format!("node{round}");
        let writers: Vec<_> = (0..24_u32)
            .map(|writer| {
                let (exchange, shared, id) = (exchange.clone(), shared.clone(), id.clone());
                let order = format!("{:04}", (writer * 7 + round) % 8);
                tokio::spawn(async move {
                    let document = json!({ "writer": writer });
                    let ordered =
                        exchange.documents.put_ordered(&shared, &id, &order, document).await.unwrap();
                    (writer, order, ordered)
                })
            })
            .collect();
        let mut last_written = Vec::new();
        for writer in writers {
            let (writer, order, ordered) = writer.await.unwrap();
            match ordered {
                Ordered::Overtaken { by } => assert!(by > order),
                Ordered::Written if order == "0007" => last_written.push(writer),
                Ordered::Written | Ordered::Unchanged => {}
            }
        }
        let stored = exchange.documents.get(&shared, &id).await.unwrap().unwrap();
        assert_eq!(stored["write_order"], "0007");
        assert_eq!(last_written.len(), 1, "one write of the last writer wins");
        assert_eq!(stored["writer"], last_written[0]);
    }
}

/// Filters compare top-level fields by value, and pages follow each other without gap or repeat.
pub async fn documents_are_found_by_field_and_page(exchange: &Exchange, _: Settings) {
    let things = unique("things");
    for n in 0..25 {
        let document = json!({ "project_id": n % 2, "name": format!("n{n}"), "current": n % 3 == 0 });
        exchange.documents.put(&things, &format!("id {n:02}"), document).await.unwrap();
    }
    exchange.documents.put(&format!("{things}2"), "id 03", json!({ "project_id": 1 })).await.unwrap();
    let ids =
        |found: &[Value]| found.iter().map(|one| one["_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();

    let odd = [("project_id", json!(1))];
    let mut pages = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = exchange.documents.find(&things, &odd, after.as_deref(), 5).await.unwrap();
        assert!(page.len() <= 5);
        let Some(last) = page.last() else { break };
        after = Some(last["_id"].as_str().unwrap().to_owned());
        pages.extend(ids(&page));
    }
    let expected: Vec<_> = (0..25).filter(|n| n % 2 == 1).map(|n| format!("id {n:02}")).collect();
    assert_eq!(pages, expected);
    assert_eq!(ids(&find_all(&*exchange.documents, &things, &odd, 100).await.unwrap()), expected);
    assert!(find_all(&*exchange.documents, &things, &odd, 5).await.is_err());

    let both = [("project_id", json!(1)), ("current", json!(true))];
    assert_eq!(
        ids(&exchange.documents.find(&things, &both, None, 100).await.unwrap()),
        ["id 03", "id 09", "id 15", "id 21"]
    );
    let none = [("project_id", json!("1"))];
    assert!(exchange.documents.find(&things, &none, None, 100).await.unwrap().is_empty());
    assert_eq!(exchange.documents.find(&things, &[], None, 100).await.unwrap().len(), 25);
}

/// Illegal names, ids, sizes, shapes and filters are refused.
pub async fn documents_are_bounded(exchange: &Exchange, _: Settings) {
    let things = unique("things");
    let documents = &exchange.documents;
    let refused =
        |result: Result<(), ExchangeError>| assert!(matches!(result, Err(ExchangeError::Refused { .. })));
    let long = "x".repeat(1000);
    for collection in ["", "a b", "a/b", "$cmd", "a\0b", &long] {
        refused(documents.put(collection, "id", json!({})).await);
        refused(documents.get(collection, "id").await.map(drop));
    }
    for id in ["", "a\0b", "a\nb", &long] {
        refused(documents.put(&things, id, json!({})).await);
        refused(documents.put_fenced(&things, id, 1, json!({})).await.map(drop));
    }
    let mut deep = json!(1);
    for _ in 0..101 {
        deep = json!([deep]);
    }
    for document in [
        json!([]),
        json!(null),
        json!({ "_id": "other" }),
        json!({ "deep": deep }),
        json!({ "big": "x".repeat(MAX_DOCUMENT_BYTES) }),
    ] {
        refused(documents.put(&things, "id", document).await);
    }
    refused(documents.put_fenced(&things, "id", 0, json!({})).await.map(drop));
    refused(documents.put_fenced(&things, "id", 2, json!({ "attempt": 1 })).await.map(drop));
    for order in ["", "a\0b", "a\nb", &long] {
        refused(documents.put_ordered(&things, "id", order, json!({})).await.map(drop));
    }
    refused(documents.put_ordered(&things, "id", "2", json!({ "write_order": "1" })).await.map(drop));
    for filter in
        [("", json!(1)), ("a.b", json!(1)), ("$where", json!(1)), ("a", json!(null)), ("a", json!([1]))]
    {
        refused(documents.find(&things, &[filter], None, 10).await.map(drop));
    }
    refused(documents.find(&things, &[], None, 0).await.map(drop));
    refused(documents.find(&things, &[], None, 1_000_000).await.map(drop));
    assert!(documents.find(&things, &[], None, 10).await.unwrap().is_empty());

    // Just below the bound is fine.
    documents.put(&things, "id", json!({ "big": "x".repeat(MAX_DOCUMENT_BYTES - 100) })).await.unwrap();
}
