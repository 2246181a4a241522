//! Tenants and people as the rows of workflows name them.
//!
//! An installation decides once which keys its hosts' records have (W2). Organizations have numbers here and people
//! have subs, which may be anything: one that is no key of the installation's type is known by a key that is made of it,
//! always the same one. Whoever reads rows over the API sees the sub again, as long as the server knows the person.

use std::collections::HashMap;

use heddle_engine::ulid;
use heddle_generation::{OrganizationId, UserSub};
use heddle_store::workflows::{KeyType, KeyTypes, Morph};
use heddle_workflow::Actor;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use uuid::Builder;

use crate::config::Config;

/// The type of a tenant's record.
const ORGANIZATION: &str = "organization";
/// The type of a person's record.
const USER: &str = "user";

pub(crate) struct People {
    keys: KeyTypes,
    /// Subs of those whose key is another text.
    subs: HashMap<String, String>,
}

impl People {
    pub(crate) fn new(config: &Config, keys: KeyTypes) -> Self {
        let known = config.callers.iter().map(|caller| &caller.user).chain([&config.service_account]);
        let subs = known.map(|user| (key(keys.morph, USER, user.as_str()), user.to_string()));
        Self { keys, subs: subs.collect() }
    }

    /// Whose definitions and instances a tenant's are.
    pub(crate) fn owner(&self, organization: OrganizationId) -> Morph {
        let id = key(self.keys.owner, ORGANIZATION, &organization.0.to_string());
        Morph { kind: ORGANIZATION.to_owned(), id }
    }

    /// Who publishes or starts.
    pub(crate) fn user(&self, user: &UserSub) -> Morph {
        Morph { kind: USER.to_owned(), id: key(self.keys.morph, USER, user.as_str()) }
    }

    /// Who commands.
    pub(crate) fn actor(&self, user: &UserSub) -> Actor {
        let Morph { kind, id } = self.user(user);
        Actor::Named { kind, id }
    }

    /// A record's key as callers know it.
    pub(crate) fn shown(&self, Morph { kind, id }: Morph) -> Morph {
        let id = if kind == USER { self.subs.get(&id).cloned().unwrap_or(id) } else { id };
        Morph { kind, id }
    }

    /// The type of the keys that rows have.
    pub(crate) const fn row_key(&self) -> KeyType {
        self.keys.primary
    }

    /// The type of a subject's key.
    pub(crate) const fn subject_key(&self) -> KeyType {
        self.keys.subject
    }
}

/// The key of this type that a text is, or that stands for it.
fn key(key_type: KeyType, kind: &str, text: &str) -> String {
    if key_type.takes(text) {
        return text.to_owned();
    }
    let digest = Sha256::new().chain_update(kind).chain_update(b"\0").chain_update(text).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    let bits = u128::from_be_bytes(bytes);
    match key_type {
        KeyType::Bigint => ((bits >> 65) as i64).to_string(),
        KeyType::Uuid => Builder::from_custom_bytes(bytes).into_uuid().to_string(),
        // Its time is one that a timestamp can hold: 47 bits of milliseconds.
        KeyType::Ulid => ulid(Timestamp::from_millisecond((bits >> 81) as i64).unwrap_or_default(), bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_it_is_there_is_a_key() {
        for key_type in KeyType::ALL {
            let (ann, bo) = (key(key_type, USER, "ann"), key(key_type, USER, "idp|bo"));
            assert!(key_type.takes(&ann) && key_type.takes(&bo), "{ann} {bo}");
            assert_ne!(ann, bo);
            assert_eq!(ann, key(key_type, USER, "ann"));
            assert_ne!(ann, key(key_type, ORGANIZATION, "ann"));
        }
        assert_eq!(key(KeyType::Bigint, ORGANIZATION, "7"), "7");
        let cognito = "0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6";
        assert_eq!(key(KeyType::Uuid, USER, cognito), cognito);
    }
}
