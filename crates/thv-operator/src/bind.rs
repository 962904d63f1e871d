//! Addresses to listen on.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use rustix::io::Errno;
use rustix::net::sockopt::set_ipv6_v6only;
use tokio::net::{TcpListener, TcpSocket};

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 1024;

/// Where to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// Not at all.
    Nowhere,
    /// On a port of every address of the machine, of either family.
    Everywhere(u16),
    /// On this one.
    At(SocketAddr),
}

impl Bind {
    /// Listens there; nothing if that is nowhere.
    pub fn listen(self) -> io::Result<Option<TcpListener>> {
        match self {
            Self::Nowhere => Ok(None),
            Self::At(address) => listen(address).map(Some),
            Self::Everywhere(port) => match listen((Ipv6Addr::UNSPECIFIED, port).into()) {
                Err(error) if lacks_ipv6(&error) => listen((Ipv4Addr::UNSPECIFIED, port).into()).map(Some),
                listener => listener.map(Some),
            },
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => {
            let socket = TcpSocket::new_v6()?;
            // Where the machine does not say otherwise, `[::]` takes IPv4 as well. Some machines do.
            set_ipv6_v6only(&socket, false)?;
            socket
        }
    };
    // A restarted operator need not wait for the connections of its predecessor to time out.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Whether a machine says that it has no IPv6: its kernel knows none, or none of its interfaces has it.
fn lacks_ipv6(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(code, Some(Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL))
}

impl FromStr for Bind {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        match text.strip_prefix(':') {
            _ if text == "0" => Ok(Self::Nowhere),
            Some(port) => port.parse().map(Self::Everywhere).map_err(|_| NotAnAddress),
            None => text.parse().map(Self::At).map_err(|_| NotAnAddress),
        }
    }
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Nowhere => f.write_str("0"),
            Self::Everywhere(port) => write!(f, ":{port}"),
            Self::At(address) => address.fmt(f),
        }
    }
}

/// A text is no address to listen on.
#[derive(Debug, thiserror::Error)]
#[error("write :PORT, IPV4:PORT, [IPV6]:PORT, or 0 to listen nowhere")]
pub struct NotAnAddress;

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    const IPV4: Ipv4Addr = Ipv4Addr::LOCALHOST;
    const IPV6: Ipv6Addr = Ipv6Addr::LOCALHOST;

    #[test]
    fn addresses_are_read_as_they_are_written() {
        for text in ["0", ":8080", "127.0.0.1:8080", "[::1]:8080"] {
            assert_eq!(text.parse::<Bind>().unwrap().to_string(), text);
        }
        for text in ["", ":", ":x", ":65536", "8080", "::1:8080", "localhost:8080", "127.0.0.1"] {
            assert!(text.parse::<Bind>().is_err(), "{text}");
        }
    }

    #[tokio::test]
    async fn everywhere_is_reached_over_ipv4_and_where_there_is_one_over_ipv6() {
        let listener = Bind::Everywhere(0).listen().unwrap().unwrap();
        let port = listener.local_addr().unwrap().port();
        TcpStream::connect((IPV4, port)).await.unwrap();
        if TcpListener::bind((IPV6, 0)).await.is_ok() {
            TcpStream::connect((IPV6, port)).await.unwrap();
        }
    }

    #[tokio::test]
    async fn one_address_is_just_that_one() {
        let listener = Bind::At((IPV4, 0).into()).listen().unwrap().unwrap();
        let port = listener.local_addr().unwrap().port();
        TcpStream::connect((IPV4, port)).await.unwrap();
        assert!(TcpStream::connect((IPV6, port)).await.is_err());
        assert!(Bind::Nowhere.listen().unwrap().is_none());
    }

    #[tokio::test]
    async fn only_a_machine_without_ipv6_falls_back_to_ipv4() {
        for code in [Errno::AFNOSUPPORT, Errno::ADDRNOTAVAIL] {
            assert!(lacks_ipv6(&code.into()), "{code}");
        }
        let taken = Bind::Everywhere(0).listen().unwrap().unwrap();
        let port = taken.local_addr().unwrap().port();
        let refused = Bind::Everywhere(port).listen().unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
    }
}
