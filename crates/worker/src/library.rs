//! Library files for previews, fetched once and kept while there is room.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use heddle_exchange::Objects;
use heddle_exchange::keys::{ContentHash, Tenant};

use crate::pipeline::{ConversionError, Libraries};

/// Most bytes of library files that a worker keeps between jobs.
const MAX_KEPT_BYTES: usize = 128 * 1024 * 1024;

/// The files kept, the least recently used first. They are content-addressed, so that none is ever out of date.
#[derive(Default)]
pub(crate) struct LibraryCache(Mutex<VecDeque<(String, Arc<[u8]>)>>);

impl LibraryCache {
    fn get(&self, key: &str) -> Option<Arc<[u8]>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(found, _)| found == key)?;
        let entry = kept.remove(at)?;
        let bytes = Arc::clone(&entry.1);
        kept.push_back(entry);
        Some(bytes)
    }

    fn keep(&self, key: &str, bytes: &Arc<[u8]>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(found, _)| found != key);
        kept.push_back((key.to_owned(), Arc::clone(bytes)));
        while kept.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > MAX_KEPT_BYTES {
            kept.pop_front();
        }
    }
}

/// The library files of one tenant, for code on a blocking thread.
pub(crate) struct TenantLibraries {
    pub tenant: Tenant,
    pub objects: Arc<dyn Objects>,
    pub cache: Arc<LibraryCache>,
    pub runtime: tokio::runtime::Handle,
}

impl Libraries for TenantLibraries {
    fn library(&self, source_hash: &str) -> Result<Option<Arc<[u8]>>, ConversionError> {
        let Ok(hash) = ContentHash::parse(source_hash) else { return Ok(None) };
        let key = self.tenant.library(&hash);
        if let Some(bytes) = self.cache.get(&key) {
            return Ok(Some(bytes));
        }
        let found = self.runtime.block_on(self.objects.get(&key));
        let found = found.map_err(|error| ConversionError::Unavailable {
            attempted: "read a library file".to_owned(),
            source: error.into(),
        })?;
        let bytes: Option<Arc<[u8]>> = found.map(Into::into);
        if let Some(bytes) = &bytes {
            self.cache.keep(&key, bytes);
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_is_kept_longest_and_nothing_beyond_the_bound() {
        let cache = LibraryCache::default();
        let bytes = |mib: usize| Arc::<[u8]>::from(vec![0; mib << 20]);
        cache.keep("a", &bytes(50));
        cache.keep("b", &bytes(50));
        assert!(cache.get("a").is_some());
        cache.keep("c", &bytes(50));
        assert!(cache.get("b").is_none(), "the least recently used goes first");
        assert!(cache.get("a").is_some() && cache.get("c").is_some());
        cache.keep("d", &bytes(200));
        assert!(cache.get("d").is_none() && cache.get("a").is_none());
    }
}
