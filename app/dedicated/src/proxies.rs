//! Who asks the page: behind a proxy the one whom the proxy names.

use anyhow::{Result, bail};
use axum::http::HeaderMap;
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};

/// Who is believed what they say of where a request comes from.
#[derive(Clone, Debug, Default)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Reads addresses, and networks with the number of their bits.
    ///
    /// # Errors
    /// One sentence: which is none, and what is accepted.
    pub fn read(texts: &[String]) -> Result<Proxies> {
        let mut proxies = Vec::new();
        for text in texts {
            match text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().map(IpNet::from).ok()) {
                Some(network) => proxies.push(network),
                None => bail!("page.proxies: {text:?} is no address and no network, like 10.0.0.1 or 10.0.0.0/8"),
            }
        }
        Ok(Proxies(proxies))
    }

    /// Whether this address is that of one.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address.to_canonical()))
    }

    /// Who asks: `from`, and where that is a proxy the one whom it names last in `X-Forwarded-For`, and so on. What stands
    /// before the first who is no proxy is that one's own word.
    pub fn asker(&self, headers: &HeaderMap, from: IpAddr) -> IpAddr {
        let named = headers.get_all("x-forwarded-for").iter().rev();
        let mut named = named.flat_map(|value| value.to_str().unwrap_or_default().rsplit(','));
        let mut asker = from;
        while self.contains(asker) {
            let Some(before) = named.next().and_then(|text| address(text.trim())) else { break };
            asker = before;
        }
        asker
    }
}

/// An address, or one with a port.
fn address(text: &str) -> Option<IpAddr> {
    text.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_is_whom_proxies_name_and_nobody_else_is_believed() {
        let proxies = Proxies::read(&["127.0.0.0/8", "::1", "10.0.0.2"].map(str::to_owned)).expect("networks");
        for (named, from, is) in [
            (&["203.0.113.7"][..], "127.0.0.1", "203.0.113.7"),
            (&["192.168.0.1, 203.0.113.7"], "::ffff:127.0.0.1", "203.0.113.7"),
            (&["192.168.0.1", "10.0.0.3,2001:db8::1 "], "::1", "2001:db8::1"),
            (&["203.0.113.7, 10.0.0.2"], "127.0.0.1", "203.0.113.7"),
            (&["203.0.113.7:1234"], "127.0.0.1", "203.0.113.7"),
            (&["[2001:db8::1]:1234"], "127.0.0.1", "2001:db8::1"),
            (&["203.0.113.7"], "198.51.100.1", "198.51.100.1"),
            (&["203.0.113.7"], "10.0.0.1", "10.0.0.1"),
            (&["203.0.113.7, unknown"], "127.0.0.1", "127.0.0.1"),
            (&["127.0.0.9"], "127.0.0.1", "127.0.0.9"),
            (&[], "127.0.0.1", "127.0.0.1"),
        ] {
            let mut headers = HeaderMap::new();
            for text in named {
                headers.append("x-forwarded-for", text.parse().expect("a header"));
            }
            let from = from.parse().expect("an address");
            assert_eq!(proxies.asker(&headers, from).to_string(), is, "{named:?} from {from}");
            assert_eq!(Proxies::default().asker(&headers, from), from, "without proxies");
        }
    }
}
