use super::{Settings, unique};
use crate::{Exchange, ExchangeError, Fenced};

const JSON: &str = "application/json";

/// D9, D19: a content-addressed object never changes once it is there.
pub async fn content_is_written_once(exchange: &Exchange, _: Settings) {
    let key = format!("1/7/des2wf/snapshots/{}/12=3A34.0123456789abcdef.json", unique("file"));
    let objects = &exchange.objects;
    assert_eq!(objects.get(&key).await.unwrap(), None);
    let bytes: Vec<u8> = (0..=255).cycle().take(1_000_000).collect();
    objects.put_once(&key, &bytes, JSON).await.unwrap();
    assert!(objects.get(&key).await.unwrap().unwrap() == bytes);
    objects.put_once(&key, b"other", JSON).await.unwrap();
    assert!(objects.get(&key).await.unwrap().unwrap() == bytes);
    assert!(matches!(objects.put_fenced(&key, 1, b"other", JSON).await, Err(ExchangeError::Refused { .. })));
    assert!(objects.get(&key).await.unwrap().unwrap() == bytes);

    let empty = format!("1/7/{}.json", unique("empty"));
    objects.put_once(&empty, b"", JSON).await.unwrap();
    assert_eq!(objects.get(&empty).await.unwrap().unwrap(), b"");
}

/// The fence of a job's objects, step by step.
pub async fn an_older_attempt_never_overwrites_a_newer_object(exchange: &Exchange, _: Settings) {
    let key = format!("1/7/des2wf/{}/result.json", unique("job"));
    let put =
        async |attempt, bytes: &[u8]| exchange.objects.put_fenced(&key, attempt, bytes, JSON).await.unwrap();
    let stored = async || exchange.objects.get(&key).await.unwrap().unwrap();
    assert_eq!(put(2, b"two").await, Fenced::Written);
    assert_eq!(put(2, b"two again").await, Fenced::Unchanged);
    assert_eq!(put(1, b"one").await, Fenced::Superseded { by: 2 });
    assert_eq!(stored().await, b"two");
    assert_eq!(put(3, b"three, longer").await, Fenced::Written);
    assert_eq!(put(2, b"two").await, Fenced::Superseded { by: 3 });
    assert_eq!(stored().await, b"three, longer");
    exchange.objects.put_once(&key, b"once", JSON).await.unwrap();
    assert_eq!(stored().await, b"three, longer");
}

/// The same under a race; readers meanwhile only ever see whole objects.
pub async fn racing_attempts_leave_the_newest_object(exchange: &Exchange, _: Settings) {
    let key = format!("1/7/des2wf/{}/result.json", unique("job"));
    let body = |attempt: u32, writer: u32| {
        format!("{attempt}/{writer};").repeat(200_000 + 50_000 * attempt as usize)
    };
    let reading = {
        let (exchange, key) = (exchange.clone(), key.clone());
        tokio::spawn(async move {
            let mut newest = 0;
            while newest < 8 {
                if let Some(bytes) = exchange.objects.get(&key).await.unwrap() {
                    let text = String::from_utf8(bytes).unwrap();
                    let first = text.split(';').next().unwrap().to_owned();
                    let attempt: u32 = first.split('/').next().unwrap().parse().unwrap();
                    assert_eq!(
                        text,
                        format!("{first};").repeat(200_000 + 50_000 * attempt as usize),
                        "a torn object"
                    );
                    assert!(attempt >= newest, "an older attempt came back");
                    newest = attempt;
                }
                tokio::task::yield_now().await;
            }
        })
    };
    let writers: Vec<_> = (0..24_u32)
        .map(|writer| {
            let (exchange, key) = (exchange.clone(), key.clone());
            let attempt = writer * 7 % 8 + 1;
            let bytes = body(attempt, writer);
            tokio::spawn(async move {
                (
                    writer,
                    attempt,
                    exchange.objects.put_fenced(&key, attempt, bytes.as_bytes(), JSON).await.unwrap(),
                )
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
    assert_eq!(newest_written.len(), 1, "one write of the newest attempt wins");
    let stored = exchange.objects.get(&key).await.unwrap().unwrap();
    assert!(stored == body(8, newest_written[0]).as_bytes());
    reading.await.unwrap();
}

/// Keys that escape, and attempts that aren't, are refused on every call.
pub async fn objects_are_bounded(exchange: &Exchange, _: Settings) {
    let refused =
        |result: Result<(), ExchangeError>| assert!(matches!(result, Err(ExchangeError::Refused { .. })));
    let long = format!("{}/x.json", "a".repeat(300));
    for key in
        ["", "/etc/passwd.x", "../x.json", "a/../../x.json", "a/./x.json", ".tmp/x.json", "a\\x.json", &long]
    {
        refused(exchange.objects.get(key).await.map(drop));
        refused(exchange.objects.put_once(key, b"x", JSON).await);
        refused(exchange.objects.put_fenced(key, 1, b"x", JSON).await.map(drop));
    }
    let key = format!("1/{}/x.json", unique("bounds"));
    refused(exchange.objects.put_fenced(&key, 0, b"x", JSON).await.map(drop));
    assert_eq!(exchange.objects.get(&key).await.unwrap(), None);
}
