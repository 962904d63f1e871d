//! Files with environment variables for the MCP server, as Vault's agent and others leave them in a folder.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The variables in all files of a folder. Later files, by name, are stronger. No folder: no variables.
///
/// A file that cannot be read is reported and passed over; files that begin with a dot are not looked at, among
/// them the folders that a mounted ConfigMap consists of.
pub fn read(folder: &Path) -> io::Result<BTreeMap<String, String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    let mut variables = BTreeMap::new();
    for file in files {
        match std::fs::read_to_string(&file) {
            Ok(text) => variables.extend(parse(&text)),
            Err(error) => tracing::warn!(file = %file.display(), %error, "passing over a file of variables"),
        }
    }
    Ok(variables)
}

/// The variables in a text. Values are literal: quotes are part of them.
fn parse(text: &str) -> impl Iterator<Item = (String, String)> {
    text.lines().filter_map(|line| {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=')?;
        let name = name.trim();
        (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_literal_and_comments_are_skipped() {
        let text = "# no\n\nA=1\nexport B=\"two\"\nno equals sign\n=nameless\nC=x=y\n";
        let variables: Vec<_> = parse(text).collect();
        let expected =
            [("A", "1"), ("B", "\"two\""), ("C", "x=y")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(variables, expected);
    }

    #[test]
    fn later_files_are_stronger_and_hidden_ones_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("a", "X=1\nY=1"), ("b", "X=2"), (".c", "X=3")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let variables = read(folder.path()).unwrap();
        assert_eq!(
            variables.into_iter().collect::<Vec<_>>(),
            [("X".to_owned(), "2".to_owned()), ("Y".to_owned(), "1".to_owned())]
        );
        assert!(read(&folder.path().join("missing")).unwrap().is_empty());
    }
}
