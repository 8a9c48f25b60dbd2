//! Where a server is and what it is known by, as one address: `https://host:port/#HASH.HASH`.
//!
//! What stands after the `#` never leaves the client. The hashes are no secret.

use crate::certificate::CertificateHash;
use std::fmt::Write;
use url::Url;

/// The address of a server at `host`. An IPv6 address stands in brackets.
pub(crate) fn join_url(host: &str, port: u16, hashes: &[CertificateHash]) -> String {
    let mut url = format!("https://{host}:{port}/");
    for (index, hash) in hashes.iter().enumerate() {
        url.push(if index == 0 { '#' } else { '.' });
        hash.iter().for_each(|byte| write!(url, "{byte:02x}").expect("a string takes everything"));
    }
    url
}

/// An address without its hashes, and the hashes: none for a server with a certificate of an authority. `None` when it is
/// no such address.
pub(crate) fn read_url(text: &str) -> Option<(Url, Vec<CertificateHash>)> {
    let mut url = Url::parse(text).ok()?;
    if url.scheme() != "https" || url.host().is_none() {
        return None;
    }
    let hashes = match url.fragment() {
        None | Some("") => Vec::new(),
        Some(fragment) => fragment.split('.').map(read_hash).collect::<Option<_>>()?,
    };
    url.set_fragment(None);
    Some((url, hashes))
}

fn read_hash(text: &str) -> Option<CertificateHash> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut hash = [0; 32];
    for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_tells_the_hashes_that_it_was_made_of() {
        let hashes = [[1; 32], [0xfe; 32]];
        let (url, read) = read_url(&join_url("[::1]", 4433, &hashes)).expect("an address");
        assert_eq!((url.as_str(), &read[..]), ("https://[::1]:4433/", &hashes[..]));
        assert_eq!(read_url("https://play.example.org").map(|(_, hashes)| hashes), Some(Vec::new()));
    }

    #[test]
    fn what_is_no_address_or_has_half_a_hash_is_none() {
        let long = format!("https://a/#{}", "é".repeat(32));
        for text in ["", "localhost:4433", "http://localhost/", "https://localhost/#12", &long, "https://a/#+1"] {
            assert!(read_url(text).is_none(), "{text}");
        }
    }
}
