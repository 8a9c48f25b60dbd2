//! Where a server is and what it is known by, as one address: `https://host:port/#HASH.HASH`.
//!
//! What stands after the `#` never leaves the client. The hashes are no secret.

/// The SHA-256 of a certificate: what a client that knows no authority knows a server by.
pub type CertificateHash = [u8; 32];

/// An address without its hashes, and the hashes: none for a server with a certificate of an authority. `None` when it is
/// no such address; whether the host is one is up to who connects there.
pub(crate) fn read_url(text: &str) -> Option<(&str, Vec<CertificateHash>)> {
    let (url, fragment) = text.split_once('#').unwrap_or((text, ""));
    let host = url.strip_prefix("https://")?;
    if host.is_empty() || host.starts_with('/') {
        return None;
    }
    let hashes = match fragment {
        "" => Vec::new(),
        _ => fragment.split('.').map(read_hash).collect::<Option<_>>()?,
    };
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
    use crate::native::join_url::join_url;

    #[test]
    fn an_address_tells_the_hashes_that_it_was_made_of() {
        let hashes = [[1; 32], [0xfe; 32]];
        let url = join_url("[::1]", 4433, &hashes);
        assert_eq!(read_url(&url), Some(("https://[::1]:4433/", hashes.to_vec())));
        assert_eq!(read_url("https://play.example.org"), Some(("https://play.example.org", Vec::new())));
    }

    #[test]
    fn what_is_no_address_or_has_half_a_hash_is_none() {
        let long = format!("https://a/#{}", "é".repeat(32));
        for text in
            ["", "localhost:4433", "http://localhost/", "https:///", "https://localhost/#12", &long, "https://a/#+1"]
        {
            assert!(read_url(text).is_none(), "{text}");
        }
    }
}
