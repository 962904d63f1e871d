//! The program `thv-proxyrunner`.

fn main() {}
