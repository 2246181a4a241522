//! Files that appear whole or not at all.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::failure::Failure;

/// Writes one file: beside its place first, then moved there.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let Some(name) = name else {
        return Err(Failure::usage(format!("{} names no file", path.display())));
    };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    all(folder, &[(name.as_str(), bytes)])
}

/// Writes files into a folder, which is made where it is absent. All are written before the first takes its place,
/// so that a full disk leaves what was there.
pub fn all(folder: &Path, files: &[(&str, &[u8])]) -> Result<(), Failure> {
    let cannot = |what: &Path, error: std::io::Error| {
        Failure::new(format!("could not write {}", what.display())).because(error)
    };
    std::fs::create_dir_all(folder).map_err(|error| cannot(folder, error))?;
    if let Some((name, _)) = files.iter().find(|(name, _)| folder.join(name).is_dir()) {
        return Err(Failure::new(format!("{} is a folder", folder.join(name).display())));
    }
    let beside = |name: &str| folder.join(format!(".{name}.{}.part", std::process::id()));
    let written = files.iter().try_for_each(|(name, bytes)| {
        let part = beside(name);
        let mut file = File::create(&part).map_err(|error| cannot(&part, error))?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|error| cannot(&part, error))
    });
    let moved = written.and_then(|()| {
        files.iter().try_for_each(|(name, _)| {
            let path = folder.join(name);
            std::fs::rename(beside(name), &path).map_err(|error| cannot(&path, error))
        })
    });
    if moved.is_err() {
        for (name, _) in files {
            let _ = std::fs::remove_file(beside(name));
        }
    }
    moved
}

/// Removes a file, where there is one.
pub fn remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::new(format!("could not remove {}", path.display())).because(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_appear_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        all(&inner, &[("one", b"1"), ("two", b"2")]).unwrap();
        assert_eq!(std::fs::read(inner.join("two")).unwrap(), b"2");
        // A name that can't be written: the first file stays as it was, and no part is left.
        assert!(all(&inner, &[("one", b"changed"), ("no/such", b"x")]).is_err());
        assert_eq!(std::fs::read(inner.join("one")).unwrap(), b"1");
        assert_eq!(std::fs::read_dir(&inner).unwrap().count(), 2);
        assert!(write(Path::new("/"), b"").is_err());
    }
}
