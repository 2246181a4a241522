//! What a page reads out of `result.json`. The worker owns that document and may be newer or older than this
//! server: what is absent or of another shape is left out, never an error.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::Value;

/// How many entries of a list are kept for showing.
const KEPT: usize = 60;

/// The facts.
#[derive(Debug, Default)]
pub(super) struct ResultFacts {
    pub(super) name: Option<String>,
    pub(super) score: Option<ScoreFacts>,
    pub(super) text: Option<TextFacts>,
    pub(super) selection: Capped<Selected>,
    pub(super) warnings: Capped<WarningFacts>,
}

/// The score with what it is made of.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ScoreFacts {
    #[serde(default)]
    pub(super) band: Option<String>,
    #[serde(default)]
    pub(super) parts: PartFacts,
    #[serde(default)]
    pub(super) violations: Option<f64>,
}

/// The parts of `ds@1.0`; one with nothing to measure is absent.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct PartFacts {
    pub(super) text: Option<f64>,
    pub(super) layout: Option<f64>,
    pub(super) kit: Option<f64>,
    pub(super) hierarchy: Option<f64>,
    pub(super) graphics: Option<f64>,
}

/// Where the strings went.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct TextFacts {
    pub(super) seen: u64,
    pub(super) kept: u64,
    #[serde(default)]
    pub(super) unseen: Capped<IgnoredAny>,
}

/// What was chosen for one component.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Selected {
    #[serde(default)]
    pub(super) node_id: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) archetype: Option<String>,
    #[serde(default)]
    pub(super) row: Option<String>,
    #[serde(default)]
    pub(super) fit: Option<f64>,
}

/// One warning.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct WarningFacts {
    pub(super) code: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) node_id: Option<String>,
    #[serde(default)]
    pub(super) count: Option<u64>,
}

impl ResultFacts {
    /// Reads the facts; `None` where the bytes are no JSON object at all.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Raw {
            #[serde(default)]
            name: Value,
            #[serde(default)]
            score: Value,
            #[serde(default)]
            text: Value,
            #[serde(default)]
            selection: Capped<Selected>,
            #[serde(default)]
            warnings: Capped<WarningFacts>,
        }
        let raw: Raw = serde_json::from_slice(bytes).ok()?;
        Some(Self {
            name: raw.name.as_str().map(str::to_owned),
            score: serde_json::from_value(raw.score).ok(),
            text: serde_json::from_value(raw.text).ok(),
            selection: raw.selection,
            warnings: raw.warnings,
        })
    }
}

/// The first entries of a list that are of the right shape, and how many there are of any. Whatever is no list
/// is an empty one.
#[derive(Debug, Clone)]
pub(super) struct Capped<T> {
    pub(super) first: Vec<T>,
    pub(super) total: usize,
}

impl<T> Default for Capped<T> {
    fn default() -> Self {
        Self { first: Vec::new(), total: 0 }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Capped<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CappedVisitor(PhantomData))
    }
}

struct CappedVisitor<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for CappedVisitor<T> {
    type Value = Capped<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Capped<T>, A::Error> {
        let mut capped = Capped::default();
        while capped.first.len() < KEPT {
            let Some(entry) = list.next_element::<Value>()? else { return Ok(capped) };
            capped.total += 1;
            capped.first.extend(serde_json::from_value(entry).ok());
        }
        while list.next_element::<IgnoredAny>()?.is_some() {
            capped.total += 1;
        }
        Ok(capped)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Capped<T>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Capped::default())
    }

    fn visit_unit<E: de::Error>(self) -> Result<Capped<T>, E> {
        Ok(Capped::default())
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Capped<T>, E> {
        Ok(Capped::default())
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Capped<T>, E> {
        Ok(Capped::default())
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Capped<T>, E> {
        Ok(Capped::default())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Capped<T>, E> {
        Ok(Capped::default())
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Capped<T>, E> {
        Ok(Capped::default())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(document: &Value) -> ResultFacts {
        ResultFacts::read(document.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn facts_are_read_as_they_are_documented() {
        let facts = read(&json!({
            "name": "Home",
            "score": {"value": 0.91, "version": "ds@1.0", "band": "A", "parts": {"text": 1.0, "kit": 0.9}, "violations": 0.0},
            "text": {"seen": 12, "kept": 12, "lost": [], "unseen": [{"node_id": "1:2", "reason": "hidden"}]},
            "selection": [{"node_id": "1:3", "name": "Button", "archetype": "button", "row": "k", "fit": 0.8}],
            "warnings": [{"code": "odd", "message": "something", "count": 3}],
            "wireframe": {"deep": [1, 2, 3]},
        }));
        assert_eq!(facts.name.as_deref(), Some("Home"));
        let score = facts.score.unwrap();
        assert_eq!((score.band.as_deref(), score.parts.layout), (Some("A"), None));
        assert_eq!(facts.text.map(|text| (text.seen, text.unseen.total)), Some((12, 1)));
        assert_eq!((facts.selection.total, facts.selection.first[0].name.as_str()), (1, "Button"));
        assert_eq!((facts.warnings.total, facts.warnings.first[0].count), (1, Some(3)));
    }

    #[test]
    fn whatever_is_absent_or_odd_is_left_out() {
        for odd in
            [json!(null), json!(1), json!(-1.5), json!("x"), json!(true), json!({"a": [1]}), json!([1, "x"])]
        {
            let document = json!({"name": odd, "score": odd, "text": odd, "selection": odd, "warnings": odd});
            let facts = read(&document);
            assert!(facts.selection.first.is_empty() && facts.warnings.first.is_empty(), "{odd}");
        }
        assert!(read(&json!({})).score.is_none());
        assert!(ResultFacts::read(b"[").is_none());
        let many: Vec<Value> = (0..500).map(|index| json!({"code": format!("c{index}")})).collect();
        let facts = read(&json!({ "warnings": many }));
        assert_eq!((facts.warnings.first.len(), facts.warnings.total), (KEPT, 500));
    }
}
