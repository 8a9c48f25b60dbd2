//! The addresses of the configuration, as players and browsers write them.

use super::config::Config;
use super::proxies::Proxies;
use anyhow::{Context, Result, anyhow, ensure};
use std::net::{IpAddr, Ipv6Addr};
use url::{Host, Url};

/// Writes the configuration's addresses as others will.
///
/// # Errors
/// One sentence: which key is wrong, and what is accepted.
pub fn settle(config: &mut Config) -> Result<()> {
    config.server.host = host(&config.server.host)?.to_string();
    if let Some(text) = &mut config.page.origin {
        *text = origin(text).context("page.origin is like https://play.example.org")?;
    }
    Proxies::read(&config.page.proxies)?;
    for text in &mut config.access.origins {
        *text = origin(text).with_context(|| format!("access.origins: {text} is not like https://play.example.org"))?;
    }
    let is_everywhere = config.page.listen.is_some_and(|address| address.ip().is_unspecified());
    ensure!(
        !is_everywhere || config.page.origin.is_some(),
        "page.listen is on all interfaces: set page.origin to what browsers call the page, else they can't join"
    );
    Ok(())
}

/// A name or an address alone; IPv6 without its brackets too.
fn host(text: &str) -> Result<Host> {
    let bare = text.parse::<Ipv6Addr>().map(Host::Ipv6).or_else(|_| Host::parse(text));
    bare.map_err(|_| {
        anyhow!("server.host is a name or an address alone, like play.example.org or ::1, and not {text:?}")
    })
}

/// An origin as browsers send it: in small letters, and without the port that its scheme has anyway.
fn origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "https" | "http"))?;
    let origin = url.origin().ascii_serialization();
    // What else stands there is no part of an origin.
    (url.as_str() == format!("{origin}/")).then_some(origin)
}

/// What to tell who lets others in and gives them an address that leads to themselves.
pub fn out_of_reach(config: &Config) -> Option<String> {
    let (listen, host) = (config.server.listen, &config.server.host);
    let is_own =
        host == "localhost" || foretell_http::unbracketed(host).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    (is_own && !listen.ip().is_loopback()).then(|| {
        format!(
            "players elsewhere can't reach {host}: set server.host to the name or address by which they reach {listen}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_config;

    fn read(settings: &[&str]) -> Result<Config> {
        let settings: Vec<_> = settings.iter().map(|&setting| setting.into()).collect();
        read_config::read(None, &settings)
    }

    #[test]
    fn a_host_is_a_name_or_an_address_and_ipv6_gets_its_brackets() {
        let written = |host: &str| read(&[&format!("server.host={host}")]).map(|config| config.server.host);
        for (host, is) in
            [("::1", "[::1]"), ("[::1]", "[::1]"), ("Play.example", "play.example"), ("10.0.0.1", "10.0.0.1")]
        {
            assert_eq!(written(host).expect("a host"), is);
        }
        for host in ["https://x", "x:4433", "", "x/", "[::1]:4433", "x y"] {
            let sentence = written(host).expect_err(host).to_string();
            assert!(sentence.contains("server.host is a name or an address alone"), "{sentence}");
        }
    }

    #[test]
    fn an_origin_is_what_browsers_send() {
        for (text, is) in [
            ("https://play.example:443", "https://play.example"),
            ("http://play.example:80/", "http://play.example"),
            ("http://Play.example:443", "http://play.example:443"),
            ("https://[::1]:8443", "https://[::1]:8443"),
        ] {
            let config = read(&[&format!("page.origin={text}"), &format!("access.origins=[\"{text}\"]")]).expect(text);
            assert_eq!((config.page.origin.as_deref(), &config.access.origins[..]), (Some(is), &[is.to_owned()][..]));
        }
        for text in
            ["https://a.example/x", "https://me@a.example", "https://a.example?x", "ftp://a.example", "a.example"]
        {
            assert!(read(&[&format!("page.origin={text}")]).is_err(), "{text}");
            assert!(read(&[&format!("access.origins=[\"{text}\"]")]).is_err(), "{text}");
        }
    }

    #[test]
    fn a_page_on_all_interfaces_says_what_browsers_call_it() {
        for listen in ["0.0.0.0:8080", "[::]:8080"] {
            let listen = format!("page.listen={listen}");
            assert!(read(&[&listen]).expect_err("refused").to_string().contains("set page.origin"));
            assert!(read(&[&listen, "page.origin=https://play.example"]).is_ok());
        }
    }

    #[test]
    fn who_lets_others_in_is_told_that_they_have_no_address_to_come_to() {
        for (listen, host, tells) in [
            ("0.0.0.0:4433", "127.0.0.1", true),
            ("[::]:4433", "::1", true),
            ("192.168.1.5:4433", "localhost", true),
            ("127.0.0.1:4433", "127.0.0.1", false),
            ("0.0.0.0:4433", "192.168.1.5", false),
        ] {
            let config =
                read(&[&format!("server.listen={listen}"), &format!("server.host={host}")]).expect("well-formed");
            assert_eq!(out_of_reach(&config).is_some(), tells, "{listen} {host}");
        }
    }
}
