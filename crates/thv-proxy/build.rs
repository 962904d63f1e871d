//! How the program is linked: most of what a proxy holds in memory is its own code, so the code is kept small.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // The linker that Rust brings along for this platform can do both; others may not.
    if is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") {
        // Functions that came out alike are there once.
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        // Addresses to be adjusted at the start are written in a tenth of the space.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        // What is in use while there is nothing to do lies together.
        let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/start.ld");
        println!("cargo::rerun-if-changed=start.ld");
    }
}
