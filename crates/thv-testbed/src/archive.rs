//! The layer of an image, as a tar file that is the same whenever its content is.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tar::{Builder, EntryType, Header};

/// One thing in the file system of an image.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Folder { mode: u32 },
    File { bytes: Bytes, mode: u32 },
    Link { target: PathBuf },
}

/// The content of a file: of ours, or to be read when the layer is written.
#[derive(Clone, Debug)]
pub(crate) enum Bytes {
    Given(Vec<u8>),
    From(PathBuf),
}

/// The file system of an image: paths from its root, without the leading slash.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer(BTreeMap<PathBuf, Entry>);

impl Layer {
    /// Puts `entry` at `path`, with the folders above it.
    pub(crate) fn put(&mut self, path: &Path, entry: Entry) {
        let relative = path.strip_prefix("/").unwrap_or(path);
        for parent in relative.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
            self.0.entry(parent.to_owned()).or_insert(Entry::Folder { mode: 0o755 });
        }
        self.0.insert(relative.to_owned(), entry);
    }

    /// Copies a file, following links, so that what the program opens is there under the name it uses.
    pub(crate) fn copy(&mut self, source: &Path, path: &Path) -> Result<()> {
        let metadata = fs::metadata(source).with_context(|| format!("cannot read {}", source.display()))?;
        let mode = metadata.permissions().mode() & 0o755;
        self.put(path, Entry::File { bytes: Bytes::From(source.to_owned()), mode });
        Ok(())
    }

    /// Copies a folder and everything in it, links as links. Calls `seen` with each file.
    pub(crate) fn copy_tree(
        &mut self,
        source: &Path,
        path: &Path,
        seen: &mut impl FnMut(&Path) -> Result<()>,
    ) -> Result<()> {
        let entries =
            fs::read_dir(source).with_context(|| format!("cannot read the folder {}", source.display()))?;
        self.put(path, Entry::Folder { mode: 0o755 });
        for entry in entries {
            let entry = entry?;
            let (from, to) = (entry.path(), path.join(entry.file_name()));
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.copy_tree(&from, &to, seen)?;
            } else if kind.is_symlink() {
                self.put(&to, Entry::Link { target: fs::read_link(&from)? });
            } else if kind.is_file() {
                self.copy(&from, &to)?;
                seen(&from)?;
            }
        }
        Ok(())
    }

    /// The layer as a tar file. No clock, user or order of a folder listing enters it.
    pub(crate) fn tar(&self) -> Result<Vec<u8>> {
        let mut builder = Builder::new(Vec::new());
        for (path, entry) in &self.0 {
            let mut header = Header::new_gnu();
            header.set_mtime(0);
            header.set_uid(0);
            header.set_gid(0);
            match entry {
                Entry::Folder { mode } => {
                    header.set_entry_type(EntryType::Directory);
                    header.set_mode(*mode);
                    header.set_size(0);
                    builder.append_data(&mut header, path, std::io::empty())?;
                }
                Entry::Link { target } => {
                    header.set_entry_type(EntryType::Symlink);
                    header.set_mode(0o777);
                    header.set_size(0);
                    builder.append_link(&mut header, path, target)?;
                }
                Entry::File { bytes, mode } => {
                    let bytes = match bytes {
                        Bytes::Given(bytes) => bytes.clone(),
                        Bytes::From(file) => fs::read(file).with_context(|| file.display().to_string())?,
                    };
                    header.set_entry_type(EntryType::Regular);
                    header.set_mode(*mode);
                    header.set_size(bytes.len() as u64);
                    builder.append_data(&mut header, path, bytes.as_slice())?;
                }
            }
        }
        Ok(builder.into_inner()?)
    }
}
