//! The writing of addresses that [`read_url`](crate::join_url::read_url) reads.

use crate::join_url::CertificateHash;
use std::fmt::Write;
use std::net::Ipv6Addr;

/// The address of a server at `host` for [`connect`](crate::connect), with the hashes of its certificates, if there are any, after
/// the `#`. An IPv6 address gets its brackets where it has none. No secret.
pub fn join_url(host: &str, port: u16, hashes: &[CertificateHash]) -> String {
    let mut url = match host.parse::<Ipv6Addr>() {
        Ok(address) => format!("https://[{address}]:{port}/"),
        Err(_) => format!("https://{host}:{port}/"),
    };
    for (index, hash) in hashes.iter().enumerate() {
        url.push(if index == 0 { '#' } else { '.' });
        hash.iter().for_each(|byte| write!(url, "{byte:02x}").expect("a string takes everything"));
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_address_stands_in_brackets_with_or_without_them_before() {
        assert_eq!(
            ["::1", "[::1]", "127.0.0.1"].map(|host| join_url(host, 4433, &[])),
            ["https://[::1]:4433/", "https://[::1]:4433/", "https://127.0.0.1:4433/",]
        );
    }
}
