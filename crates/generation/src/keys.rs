//! Object keys (D17) and document ids (D4, D7), built so that no id from outside can escape its place and no two
//! ids ever meet.
//!
//! # The encoding
//!
//! Ids from outside (file keys, node ids, job ids, component keys) are written as quoted-printable writes them:
//!
//! - bytes of the place's literal set stand for themselves: `A-Z a-z 0-9 - _` in object keys;
//!   `A-Z a-z 0-9 - : ; ,` in document ids, so that Figma's own ids (`12:34`, `I5:6;7:8`) appear there as they are,
//!   and `_` too where the id is the last part;
//! - every other byte of the UTF-8 text becomes `=` and two hex digits: `12:34` is `12=3A34` in an object key;
//! - the empty id is a lone `=`;
//! - an id whose encoding is longer than 120 bytes is cut to 48 of them, then `==` and the SHA-256 of the id in hex.
//!
//! It is injective: `=` is never literal, two hex digits always follow it but in the two special forms, and those
//! can't be mistaken for anything else. The escape is `=` and not `%`, since a `%3A` in a key would be decoded once
//! more by every URL on its way. No encoded id holds `/`, `.` or `~`, so that it is always exactly one component,
//! ends where the dot begins, and never imitates an edge's suffix.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::{Edge, message::Job};

/// Longest object key, in bytes (S3).
pub const MAX_OBJECT_KEY_BYTES: usize = 1024;
/// Longest part of an object key between slashes, in bytes (file systems).
pub const MAX_KEY_COMPONENT_BYTES: usize = 255;
/// Longest encoded id, in bytes.
pub const MAX_ENCODED_BYTES: usize = 120;
const KEPT_BYTES: usize = 48;

/// A key, a name in one, or a hash that is not what it should be: what is wrong with it, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct KeyError(pub String);

fn refused<T>(reason: impl Into<String>) -> Result<T, KeyError> {
    Err(KeyError(reason.into()))
}

/// Checks an object's key. Each component takes `A-Z a-z 0-9 - _ = .` and doesn't begin with a dot; the last one
/// contains a dot and no other does, so that no object is ever another one's folder.
pub fn check_object_key(key: &str) -> Result<(), KeyError> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=' | b'.');
    let (folders, name) = key.rsplit_once('/').unwrap_or(("", key));
    let sound = |part: &str| {
        !part.is_empty()
            && part.len() <= MAX_KEY_COMPONENT_BYTES
            && !part.starts_with('.')
            && !part.ends_with('.')
            && part.bytes().all(legal)
    };
    let folders_sound =
        !key.contains('/') || folders.split('/').all(|part| sound(part) && !part.contains('.'));
    if key.len() > MAX_OBJECT_KEY_BYTES || !folders_sound || !sound(name) || !name.contains('.') {
        return refused(format!(
            "the object key {:?} ({} bytes); keys are built by heddle_generation::keys",
            key.chars().take(120).collect::<String>(),
            key.len()
        ));
    }
    Ok(())
}

/// An object's key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey(String);

impl ObjectKey {
    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key as an owned string.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl std::ops::Deref for ObjectKey {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<ObjectKey> for String {
    fn from(key: ObjectKey) -> Self {
        key.0
    }
}

/// The hash in a content-addressed key: 16 to 64 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(String);

impl ContentHash {
    /// The SHA-256 of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha256_hex(bytes))
    }

    /// Reads a hash that someone else took.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        if !(16..=64).contains(&text.len()) || !is_lower_hex(text) {
            return refused(format!(
                "the content hash {:?}; it takes 16 to 64 lower-case hex digits",
                text.chars().take(80).collect::<String>()
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a text is a whole SHA-256 in lower-case hex.
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64 && is_lower_hex(text)
}

/// The SHA-256 of `bytes`, in lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let bytes = Sha256::digest(bytes);
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The tenant that every key begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tenant {
    /// The organization.
    pub organization_id: i64,
    /// Its project.
    pub project_id: i64,
}

impl Tenant {
    /// The tenant of a job.
    pub fn of(job: &Job) -> Self {
        Self { organization_id: job.organization_id, project_id: job.project_id }
    }

    /// What all its keys begin with, the slash included.
    pub fn prefix(self) -> String {
        format!("{}/{}/", self.organization_id, self.project_id)
    }

    /// A document that a caller uploaded as the source of a run: immutable, by the SHA-256 of its bytes.
    pub fn upload(self, sha256: &ContentHash) -> ObjectKey {
        ObjectKey(format!("{}uploads/{sha256}.json", self.prefix()))
    }

    /// A library file as it was swept: immutable, by the SHA-256 of its bytes. Both registries share the place.
    pub fn library(self, sha256: &ContentHash) -> ObjectKey {
        ObjectKey(format!("{}libraries/{sha256}.json", self.prefix()))
    }

    /// The part of its keys that belongs to `edge`.
    pub fn edge(self, edge: Edge) -> EdgeKeys {
        EdgeKeys { tenant: self, edge }
    }
}

/// The keys of one edge of one tenant (D17).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeKeys {
    tenant: Tenant,
    edge: Edge,
}

impl EdgeKeys {
    fn prefix(self) -> String {
        format!("{}{}/", self.tenant.prefix(), self.edge.name())
    }

    /// `{org}/{proj}/{edge}/snapshots/{file}/{node}.{source_hash}.json`: immutable, content-addressed (D9).
    pub fn snapshot(self, file_key: &str, node_id: &str, source: &ContentHash) -> ObjectKey {
        let (file, node) = (component(file_key), component(node_id));
        ObjectKey(format!("{}snapshots/{file}/{node}.{source}.json", self.prefix()))
    }

    /// `{org}/{proj}/{edge}/snapshots/{file}/{node}.{source_hash}.{render_hash}.png`: immutable source evidence (D19).
    pub fn source_png(
        self,
        file_key: &str,
        node_id: &str,
        source: &ContentHash,
        render: &ContentHash,
    ) -> ObjectKey {
        let (file, node) = (component(file_key), component(node_id));
        ObjectKey(format!("{}snapshots/{file}/{node}.{source}.{render}.png", self.prefix()))
    }

    /// `{org}/{proj}/{edge}/{job_id}/`: the artifacts of one run.
    pub fn job(self, job_id: &str) -> JobKeys {
        JobKeys { prefix: format!("{}{}/", self.prefix(), job_component(job_id)) }
    }

    fn renders(self, job_id: &str) -> String {
        format!("{}renders/{}/", self.prefix(), job_component(job_id))
    }

    /// `{org}/{proj}/{edge}/renders/{job_id}/design.png`: the replaceable half of the review pair (D19).
    pub fn review_design(self, job_id: &str) -> ObjectKey {
        ObjectKey(format!("{}design.png", self.renders(job_id)))
    }

    /// `{org}/{proj}/{edge}/renders/{job_id}/wireframe.png`: the other half.
    pub fn review_wireframe(self, job_id: &str) -> ObjectKey {
        ObjectKey(format!("{}wireframe.png", self.renders(job_id)))
    }

    /// Whether a key is one that the manifest of this job may name: its own, its pair for the review, or a snapshot
    /// of its project and edge. Nothing of another tenant, project or run is.
    pub fn may_name(self, job_id: &str, key: &str) -> bool {
        check_object_key(key).is_ok()
            && (key.starts_with(self.job(job_id).prefix())
                || key.starts_with(&format!("{}snapshots/", self.prefix()))
                || key.starts_with(&self.renders(job_id)))
    }
}

/// The keys of one run's own artifacts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobKeys {
    prefix: String,
}

impl JobKeys {
    /// What all of them begin with, the slash included.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The parsed tree relied on.
    pub fn parse(&self) -> ObjectKey {
        ObjectKey(format!("{}parse.json", self.prefix))
    }

    /// The spec, its score and classification.
    pub fn result(&self) -> ObjectKey {
        ObjectKey(format!("{}result.json", self.prefix))
    }

    /// The manifest (D18).
    pub fn manifest(&self) -> ObjectKey {
        ObjectKey(format!("{}manifest.json", self.prefix))
    }

    /// An artifact by its file name: `a-z 0-9 _ -`, one dot, an extension; at most 64 bytes.
    pub fn artifact(&self, file_name: &str) -> Result<ObjectKey, KeyError> {
        let legal = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| {
                    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
                })
        };
        match file_name.split_once('.') {
            Some((stem, extension)) if file_name.len() <= 64 && legal(stem) && legal(extension) => {
                Ok(ObjectKey(format!("{}{file_name}", self.prefix)))
            }
            _ => refused(format!(
                "the artifact name {:?}; it takes a-z 0-9 _ - and one dot, as in preview.svg",
                file_name.chars().take(80).collect::<String>()
            )),
        }
    }
}

/// An outside id as one component of an object key or file name. See the [module](self) for the encoding.
pub fn component(id: &str) -> String {
    encode(id, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// A job id as a component beside `snapshots` and `renders`, whose names it must not take.
fn job_component(job_id: &str) -> String {
    match component(job_id) {
        name if name == "snapshots" => "=73napshots".to_owned(),
        name if name == "renders" => "=72enders".to_owned(),
        name => name,
    }
}

/// `_id` of the wireframe that des2wf makes of a node: `{project_id}_{figma_file_key}_{node_id}~des2wf` (D4).
pub fn des2wf_wireframe_id(project_id: i64, file_key: &str, node_id: &str) -> String {
    format!("{}~des2wf", node_composite(project_id, file_key, node_id))
}

/// `_id` of the wireframe that wf2des parses from a node: the same without the edge (D4).
pub fn wf2des_wireframe_id(project_id: i64, file_key: &str, node_id: &str) -> String {
    node_composite(project_id, file_key, node_id)
}

/// `{project_id}_{file_key}_{node_id}`: the identity of a design-system entry, and of a kit entry that has no publish
/// key yet (D6, D7).
pub fn node_composite(project_id: i64, file_key: &str, node_id: &str) -> String {
    format!(
        "{project_id}_{}_{}",
        encode(file_key, is_id_byte),
        encode(node_id, |byte| is_id_byte(byte) || byte == b'_')
    )
}

/// `{project_id}_{component_key}`: the identity of a kit entry (D6, D7). Never equals a [`node_composite`], which has
/// one `_` more.
pub fn component_composite(project_id: i64, component_key: &str) -> String {
    format!("{project_id}_{}", encode(component_key, is_id_byte))
}

/// `{project_id}_{file_key}`: the document of a Figma file in a project.
pub fn project_file_id(project_id: i64, file_key: &str) -> String {
    component_composite(project_id, file_key)
}

fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':' | b';' | b',')
}

fn encode(id: &str, literal: impl Fn(u8) -> bool) -> String {
    use fmt::Write as _;
    if id.is_empty() {
        return "=".to_owned();
    }
    let mut text = String::with_capacity(id.len());
    for &byte in id.as_bytes() {
        if literal(byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "={byte:02X}");
        }
        if text.len() > MAX_ENCODED_BYTES {
            text.truncate(KEPT_BYTES);
            text.push_str("==");
            text.push_str(&sha256_hex(id.as_bytes()));
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Longest document id that the exchange takes.
    const MAX_DOCUMENT_ID_BYTES: usize = 400;

    const KEYS: EdgeKeys =
        EdgeKeys { tenant: Tenant { organization_id: 1, project_id: 7 }, edge: Edge::Des2wf };

    // proves D17
    #[test]
    fn the_layout_is_the_contract_s() {
        let hash = ContentHash::parse("0123456789abcdef").unwrap();
        let job = KEYS.job("0b9a6b0e-4a51-4f6c-9d2e-0a4f5d1c7e11");
        assert_eq!(
            &*KEYS.snapshot("hK3jd", "12:34", &hash),
            "1/7/des2wf/snapshots/hK3jd/12=3A34.0123456789abcdef.json"
        );
        assert_eq!(
            &*KEYS.source_png("hK3jd", "12:34", &hash, &hash),
            "1/7/des2wf/snapshots/hK3jd/12=3A34.0123456789abcdef.0123456789abcdef.png"
        );
        assert_eq!(&*job.parse(), "1/7/des2wf/0b9a6b0e-4a51-4f6c-9d2e-0a4f5d1c7e11/parse.json");
        assert_eq!(&*job.result(), "1/7/des2wf/0b9a6b0e-4a51-4f6c-9d2e-0a4f5d1c7e11/result.json");
        assert_eq!(&*job.manifest(), "1/7/des2wf/0b9a6b0e-4a51-4f6c-9d2e-0a4f5d1c7e11/manifest.json");
        assert_eq!(&*KEYS.review_design("j"), "1/7/des2wf/renders/j/design.png");
        assert_eq!(&*KEYS.review_wireframe("j"), "1/7/des2wf/renders/j/wireframe.png");
        let other = Tenant { organization_id: 1, project_id: 7 }.edge(Edge::Wf2des);
        assert_eq!(&*other.job("j").result(), "1/7/wf2des/j/result.json");
    }

    // proves D4
    #[test]
    fn wireframe_ids_are_the_contract_s() {
        assert_eq!(des2wf_wireframe_id(7, "hK3jd", "12:34"), "7_hK3jd_12:34~des2wf");
        assert_eq!(wf2des_wireframe_id(7, "hK3jd", "I5:6;7:8"), "7_hK3jd_I5:6;7:8");
    }

    // proves D17
    #[test]
    fn hostile_ids_stay_in_their_component() {
        for (id, expected) in [
            ("", "="),
            (".", "=2E"),
            ("..", "=2E=2E"),
            ("../../etc/passwd", "=2E=2E=2F=2E=2E=2Fetc=2Fpasswd"),
            ("a\0b\n", "a=00b=0A"),
            ("🧵", "=F0=9F=A7=B5"),
            ("=2E", "=3D2E"),
            ("%2e%2e%2f", "=252e=252e=252f"),
            ("a=b,c", "a=3Db=2Cc"),
        ] {
            assert_eq!(component(id), expected);
        }
        assert_eq!(&*KEYS.job("snapshots").parse(), "1/7/des2wf/=73napshots/parse.json");
        assert_eq!(&*KEYS.job("renders").parse(), "1/7/des2wf/=72enders/parse.json");
        assert!(component(&"🧵".repeat(1000)).len() <= MAX_ENCODED_BYTES);
    }

    #[test]
    fn object_keys_are_confined() {
        for key in ["1/2/des2wf/job/result.json", "a.b", "1/des=2Ewf/x-_=3A.json"] {
            check_object_key(key).unwrap();
        }
        let long = format!("{}.json", "a".repeat(251));
        let deep = format!("{}x.json", "a/".repeat(600));
        for key in [
            "",
            "/",
            "/a.b",
            "a/",
            "a//b.c",
            "../a.b",
            "a/../b.c",
            "a/./b.c",
            ".a",
            "a/.tmp.x",
            "a.b/c.d",
            "a/b",
            "a/b.",
            "a\\b.c",
            "a/b c.d",
            "a/ü.json",
            "a/b\0.c",
            &long,
            &deep,
        ] {
            assert!(check_object_key(key).is_err(), "{key:?} must be refused");
        }
    }

    #[test]
    fn artifact_names_are_plain() {
        let job = KEYS.job("j");
        assert_eq!(&*job.artifact("preview.svg").unwrap(), "1/7/des2wf/j/preview.svg");
        for name in ["", "x", ".x", "x.", "../x.svg", "a/b.svg", "a.b.c", "A.svg", "a b.svg", &"a".repeat(70)]
        {
            assert!(job.artifact(name).is_err(), "{name:?} must be refused");
        }
    }

    /// Every string of up to three of these pieces, and long ones that differ only at their ends.
    fn near_ids() -> Vec<String> {
        let pieces = ["_", "a", "=", "~des2wf", "é"];
        let mut ids = vec![String::new()];
        let mut from = 0;
        for _ in 0..3 {
            let until = ids.len();
            for index in from..until {
                for piece in pieces {
                    ids.push(format!("{}{piece}", ids[index]));
                }
            }
            from = until;
        }
        for end in ["", "x", "y", "xx", "_x"] {
            ids.push(format!("{}{end}", "a".repeat(130)));
            ids.push(format!("{}{end}", "🧵".repeat(40)));
        }
        ids
    }

    // proves D4
    #[test]
    fn ids_that_nearly_meet_are_kept_apart() {
        use std::collections::BTreeSet;
        let ids = near_ids();
        let hash = ContentHash::of(b"x");
        let mut documents = BTreeSet::new();
        let mut objects = BTreeSet::new();
        let mut made = 0;
        for file in &ids {
            documents.insert(component_composite(1, file));
            objects.insert(KEYS.job(file).result().into_string());
            made += 1;
            for node in &ids {
                documents.insert(des2wf_wireframe_id(1, file, node));
                documents.insert(wf2des_wireframe_id(1, file, node));
                objects.insert(KEYS.snapshot(file, node, &hash).into_string());
                objects.insert(KEYS.source_png(file, node, &hash, &hash).into_string());
                made += 2;
            }
        }
        assert_eq!(documents.len(), made);
        assert_eq!(objects.len(), made);
    }

    /// Ids as attackers and designers write them.
    fn outside_id() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[./=%~_:;a-b0-1]{0,6}",
            "[./=%~_:;🧵あ]{0,200}",
            Just("snapshots".to_owned()),
            Just("renders".to_owned()),
            "=[0-9A-F]{2}napshots",
        ]
    }

    proptest! {
        // proves D17
        #[test]
        fn no_key_escapes_its_prefix(file in outside_id(), node in outside_id(), job in outside_id()) {
            let hash = ContentHash::of(b"x");
            let job_keys = KEYS.job(&job);
            for (key, prefix, components) in [
                (KEYS.snapshot(&file, &node, &hash), "1/7/des2wf/snapshots/", 6),
                (KEYS.source_png(&file, &node, &hash, &hash), "1/7/des2wf/snapshots/", 6),
                (job_keys.result(), "1/7/des2wf/", 5),
                (job_keys.artifact("preview.svg").unwrap(), "1/7/des2wf/", 5),
                (KEYS.review_design(&job), "1/7/des2wf/renders/", 6),
            ] {
                check_object_key(&key).unwrap();
                prop_assert!(key.starts_with(prefix));
                prop_assert_eq!(key.split('/').count(), components);
            }
            prop_assert!(!job_keys.result().starts_with("1/7/des2wf/snapshots/"));
            prop_assert!(!job_keys.result().starts_with("1/7/des2wf/renders/"));
        }

        // proves D17
        #[test]
        fn two_ids_never_share_a_key(a in outside_id(), b in outside_id(), c in outside_id(), d in outside_id()) {
            let hash = ContentHash::of(b"x");
            prop_assert_eq!(component(&a) == component(&b), a == b);
            prop_assert_eq!(KEYS.job(&a).result() == KEYS.job(&b).result(), a == b);
            prop_assert_eq!(
                KEYS.snapshot(&a, &b, &hash) == KEYS.snapshot(&c, &d, &hash),
                (&a, &b) == (&c, &d)
            );
        }

        // proves D4
        #[test]
        fn document_ids_never_meet(a in outside_id(), b in outside_id(), c in outside_id(), d in outside_id()) {
            prop_assert_eq!(node_composite(1, &a, &b) == node_composite(1, &c, &d), (&a, &b) == (&c, &d));
            prop_assert_eq!(component_composite(1, &a) == component_composite(1, &b), a == b);
            prop_assert_ne!(des2wf_wireframe_id(1, &a, &b), wf2des_wireframe_id(1, &c, &d));
            prop_assert_ne!(component_composite(1, &a), node_composite(1, &b, &c));
            prop_assert_ne!(node_composite(1, &a, &b), node_composite(11, &c, &d));
            for id in [des2wf_wireframe_id(i64::MIN, &a, &b), component_composite(i64::MIN, &a)] {
                prop_assert!(id.len() <= MAX_DOCUMENT_ID_BYTES);
                prop_assert!(!id.chars().any(char::is_control));
            }
        }
    }
}
