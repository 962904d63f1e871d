//! A small server for tests of the cluster itself: answers HTTP on a port, and repeats on its standard output what
//! it reads on its standard input.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

const PORT: u16 = 8080;

fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind(("0.0.0.0", PORT))?;
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            // A client that goes away early is its own affair.
            let _ = answer(socket);
        }
    });
    for line in std::io::stdin().lock().lines() {
        println!("echo: {}", line?);
    }
    // The end of the input is not the end of the server.
    loop {
        std::thread::park();
    }
}

fn answer(mut socket: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(socket.try_clone()?).lines();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let greeting = std::env::var("GREETING").unwrap_or_else(|_| "hello".to_owned());
    write!(
        socket,
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{greeting}",
        greeting.len()
    )
}
