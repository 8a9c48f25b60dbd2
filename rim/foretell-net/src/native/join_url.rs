//! The writing of addresses that [`read_url`](crate::join_url::read_url) reads.

use crate::join_url::CertificateHash;
use std::fmt::Write;

/// The address of a server at `host` for [`connect`](crate::connect), with the hashes of its certificates after the `#`. An
/// IPv6 address stands in brackets. No secret.
pub fn join_url(host: &str, port: u16, hashes: &[CertificateHash]) -> String {
    let mut url = format!("https://{host}:{port}/");
    for (index, hash) in hashes.iter().enumerate() {
        url.push(if index == 0 { '#' } else { '.' });
        hash.iter().for_each(|byte| write!(url, "{byte:02x}").expect("a string takes everything"));
    }
    url
}
