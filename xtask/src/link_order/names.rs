//! Names of functions as the linker sees them, without what changes from build to build.

use std::collections::{BTreeMap, BTreeSet};

/// Of a crate of which at least this share runs, everything counts: what is called there tomorrow may be something else.
const MOST: (u64, u64) = (3, 4);

/// The functions of a program.
#[derive(Default)]
pub(super) struct Symbols {
    /// Where they are.
    places: BTreeMap<String, u64>,
    /// What is there. Functions that came out alike are in the same place.
    residents: BTreeMap<u64, Resident>,
}

#[derive(Default)]
struct Resident {
    size: u64,
    names: Vec<String>,
}

impl Symbols {
    /// From lines with a place, a size if it is known, a kind and a name.
    pub(super) fn parse(text: &str) -> Self {
        let mut symbols = Self::default();
        for line in text.lines() {
            let words: Vec<_> = line.split(' ').collect();
            let (place, size, kind, name) = match *words.as_slice() {
                [place, size, kind, name] => (place, size, kind, name),
                [place, kind, name] => (place, "0", kind, name),
                _ => continue,
            };
            let (Ok(place), Ok(size)) = (u64::from_str_radix(place, 16), u64::from_str_radix(size, 16))
            else {
                continue;
            };
            if !matches!(kind, "t" | "T" | "w" | "W") {
                continue;
            }
            symbols.places.insert(name.to_owned(), place);
            let resident = symbols.residents.entry(place).or_default();
            resident.size = resident.size.max(size);
            resident.names.push(name.to_owned());
        }
        symbols
    }
}

/// Patterns for the sections of everything that ran, without `.text.`.
pub(super) fn patterns(symbols: &Symbols, run: &BTreeSet<String>) -> BTreeSet<String> {
    let places: BTreeSet<u64> = run.iter().filter_map(|name| symbols.places.get(name).copied()).collect();
    let mut shares: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (place, resident) in &symbols.residents {
        let Some(owner) = resident.names.iter().find_map(|name| owner(name)) else { continue };
        let (used, all) = shares.entry(owner).or_default();
        *all += resident.size;
        *used += if places.contains(place) { resident.size } else { 0 };
    }
    let whole: BTreeSet<&str> = shares
        .iter()
        .filter(|(_, (used, all))| used * MOST.1 >= all * MOST.0)
        .map(|(name, _)| *name)
        .collect();
    let names = places.iter().filter_map(|place| symbols.residents.get(place)).flat_map(|there| &there.names);
    let single = names.filter(|name| owner(name).is_none_or(|owner| !whole.contains(owner)));
    single.map(|name| pattern(name)).chain(whole.iter().flat_map(|owner| everything_of(owner))).collect()
}

/// The crate in whose name a function is.
fn owner(name: &str) -> Option<&str> {
    let path = name.strip_prefix("_ZN")?;
    let (length, path) = path.split_at(path.find(|c: char| !c.is_ascii_digit())?);
    let owner = match path.strip_prefix("_$LT$") {
        Some(of_type) => of_type.split_once("..")?.0,
        None => path.get(..length.parse().ok()?)?,
    };
    owner.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some(owner)
}

/// The functions of a crate, and those of its types.
fn everything_of(owner: &str) -> [String; 2] {
    [format!("*_ZN{}{owner}*", owner.len()), format!("*_ZN*_$LT${owner}..*")]
}

/// What is the same in every build. A star in front stands for the compiler's opinion how likely it is to run.
fn pattern(name: &str) -> String {
    // Copies that the compiler has made for a purpose.
    let name = name.split('.').next().filter(|_| !name.starts_with("_ZN")).unwrap_or(name);
    if let Some((path, _)) = name.rsplit_once("17h").filter(|_| name.starts_with("_ZN")) {
        return format!("*{path}17h*");
    }
    if name.starts_with("_R") {
        return format!("*{}*", without_digests(name));
    }
    match name.strip_prefix("aws_lc_") {
        // Its version is a part of its names.
        Some(rest) => {
            format!("aws_lc_*_{}*", rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_'))
        }
        None => format!("{name}*"),
    }
}

/// In names of the newer kind, each crate has a digest between `Cs` and `_`.
fn without_digests(name: &str) -> String {
    let mut parts = name.split("Cs");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('_') {
            Some((digest, rest))
                if digest.len() > 5 && digest.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
            {
                result.push_str("Cs*_");
                result.push_str(rest);
            }
            _ => {
                result.push_str("Cs");
                result.push_str(part);
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_and_versions_are_left_open() {
        assert_eq!(pattern("_ZN5tokio4task5spawn17h0123456789abcdefE"), "*_ZN5tokio4task5spawn17h*");
        assert_eq!(pattern("_RNvCsjrHSEGnQ3l9_3std4main"), "*_RNvCs*_3std4main*");
        assert_eq!(pattern("aws_lc_0_47_0_SHA256_Update"), "aws_lc_*_SHA256_Update*");
        assert_eq!(pattern("rand_bytes_impl.part.0"), "rand_bytes_impl*");
    }

    #[test]
    fn a_function_is_in_the_name_of_a_crate() {
        assert_eq!(owner("_ZN5tokio4task5spawn17h0123456789abcdefE"), Some("tokio"));
        assert_eq!(owner("_ZN60_$LT$hyper..Error$u20$as$u20$core..fmt..Debug$GT$3fmt17hE"), Some("hyper"));
        assert_eq!(owner("_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17hE"), None);
        assert_eq!(owner("rand_bytes_impl.part.0"), None);
    }

    #[test]
    fn what_shares_a_place_is_named_too_and_what_runs_mostly_is_named_whole() {
        let symbols = Symbols::parse(
            "10 30 t _ZN5tokio1a17h1E\n50 10 t _ZN5tokio1b17h2E\n\
             60 10 t _ZN5hyper1a17h3E\n60 10 t _ZN4http1a17h4E\n70 40 t _ZN5hyper1b17h5E\nb0 t lonely\n",
        );
        let run = ["_ZN5tokio1a17h1E", "_ZN5hyper1a17h3E", "lonely"].map(str::to_owned);
        let patterns = patterns(&symbols, &run.into_iter().collect());
        let expected =
            ["*_ZN*_$LT$tokio..*", "*_ZN4http1a17h*", "*_ZN5hyper1a17h*", "*_ZN5tokio*", "lonely*"];
        assert_eq!(patterns, expected.map(str::to_owned).into_iter().collect());
    }
}
