//! The shared libraries that a program needs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Every library that the dynamic loader would open for `file`, and the loader itself, under the paths by
/// which they are opened. Empty for a static program and for anything that is not ELF.
pub(crate) fn libraries(file: &Path) -> Result<BTreeSet<PathBuf>> {
    if !is_elf(file)? {
        return Ok(BTreeSet::new());
    }
    let output = Command::new("ldd").arg(file).output().context("cannot run ldd")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    if text.contains("statically linked") || complaint.contains("not a dynamic executable") {
        return Ok(BTreeSet::new());
    }
    if !output.status.success() {
        bail!("ldd {} failed: {}", file.display(), complaint.trim());
    }
    parse(&text).with_context(|| format!("libraries of {}", file.display()))
}

/// Reads what `ldd` prints: `name => path (address)`, `path (address)`, or a name with no file behind it.
fn parse(text: &str) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        if line.contains("=> not found") {
            bail!("missing library: {line}");
        }
        let path = line.split("=> ").last().and_then(|rest| rest.split(" (").next()).unwrap_or_default();
        if path.starts_with('/') {
            found.insert(PathBuf::from(path));
        }
    }
    Ok(found)
}

fn is_elf(file: &Path) -> Result<bool> {
    let mut magic = [0; 4];
    let mut open = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(open.read_exact(&mut magic).is_ok() && magic == *b"\x7fELF")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ldd_output_is_read() {
        let printed = "\tlinux-vdso.so.1 (0x00007ffd)\n\
                       \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1)\n\
                       \t/lib64/ld-linux-x86-64.so.2 (0x00007f2)\n";
        let expected: BTreeSet<_> =
            ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from).into();
        assert_eq!(parse(printed).unwrap(), expected);
    }

    #[test]
    fn a_missing_library_is_an_error() {
        assert!(parse("\tlibzstd.so.1 => not found\n").unwrap_err().to_string().contains("libzstd"));
    }

    #[test]
    fn this_very_program_needs_a_loader() {
        let libraries = libraries(&std::env::current_exe().unwrap()).unwrap();
        assert!(libraries.iter().any(|path| path.to_string_lossy().contains("/ld-")), "{libraries:?}");
    }
}
