//! Secrets of a local installation: made at the first start, kept in the data folder for its owner alone, so that a
//! second process on the same folder needs no configuration.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::failure::Failure;

/// The webhook's secret, as the Standard Webhooks scheme writes it.
pub fn webhook_secret_path(data: &Path) -> PathBuf {
    data.join("webhook-secret")
}

/// The token of whoever works at this machine.
pub fn token_path(data: &Path) -> PathBuf {
    data.join("token")
}

/// The webhook's secret, made if need be.
pub fn webhook_secret(data: &Path) -> Result<String, Failure> {
    kept(&webhook_secret_path(data), || format!("whsec_{}", STANDARD.encode(random())))
}

/// The local token, made if need be.
pub fn token(data: &Path) -> Result<String, Failure> {
    kept(&token_path(data), || format!("heddle_{}", URL_SAFE_NO_PAD.encode(random())))
}

/// A secret that was made before.
pub fn read(path: &Path) -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(format!("could not read {}", path.display())).because(error)),
    }
}

fn kept(path: &Path, make: impl FnOnce() -> String) -> Result<String, Failure> {
    if let Some(secret) = read(path)? {
        return Ok(secret);
    }
    let secret = make();
    match write(path, &secret) {
        Ok(()) => Ok(secret),
        // Another process was quicker; its secret counts.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            read(path)?.ok_or_else(|| Failure::new(format!("{} is empty; remove it", path.display())))
        }
        Err(error) => Err(Failure::new(format!("could not write {}", path.display())).because(error)),
    }
}

/// Whole or not at all, and for nobody else's eyes.
fn write(path: &Path, secret: &str) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&temporary)?;
    let placed = file
        .write_all(secret.as_bytes())
        .and_then(|()| file.sync_all())
        // A hard link, since a rename would replace what another process has just made.
        .and_then(|()| std::fs::hard_link(&temporary, path));
    let _ = std::fs::remove_file(&temporary);
    placed
}

/// 32 bytes from the operating system, by way of version 4 UUIDs, which hold 122 random bits each.
fn random() -> [u8; 48] {
    let mut bytes = [0; 48];
    for chunk in bytes.chunks_mut(16) {
        chunk.copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_made_once_and_is_its_owners_alone() {
        let dir = tempfile::tempdir().unwrap();
        let first = webhook_secret(dir.path()).unwrap();
        assert_eq!(webhook_secret(dir.path()).unwrap(), first);
        assert!(heddle_generation::signature::WebhookSecret::parse(&first).is_ok());
        let token = token(dir.path()).unwrap();
        assert!(token.len() > 40 && token.is_ascii());
        assert_ne!(token, first);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(token_path(dir.path())).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing temporary stays");
    }
}
