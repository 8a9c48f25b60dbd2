//! What the program's pages have in common: whom they answer, and with which headers.
//!
//! Any page in any browser on this machine can reach a loopback address, so both `Host` and `Origin` are checked: the
//! first against names that resolve to here by somebody else's doing, the second against other sites' scripts.
#![forbid(unsafe_code)]

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The headers of a file of this kind; `policy` is what its content security policy says beyond the usual.
pub fn headers(kind: &str, policy: &str) -> [(HeaderName, String); 5] {
    let policy = format!(
        "default-src 'self'; {policy}; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
    ]
}

/// The answer to who is not answered. Anybody can ask for it, so only who looks for it finds it in the log.
pub fn refuse(sentence: &str) -> Response {
    tracing::debug!(sentence, "refused");
    (StatusCode::FORBIDDEN, format!("{sentence}\n")).into_response()
}

/// Whether a request is meant for the server at `address`, and comes from its own page; `proxied` is the origin by which it
/// is seen through a proxy, when it is. Returns the host that the request names.
pub fn check(headers: &HeaderMap, address: SocketAddr, proxied: Option<&str>) -> Result<String, String> {
    let of = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let host = of(header::HOST).unwrap_or_default();
    let own = match proxied.filter(|origin| origin.split_once("://").is_some_and(|(_, known)| known == host)) {
        Some(origin) => origin.to_owned(),
        None if is_ours(host, address, proxied.is_none()) => format!("http://{host}"),
        None => {
            return Err(format!(
                "This page is asked for as {address} or localhost, and this request names another host."
            ));
        }
    };
    match of(header::ORIGIN) {
        // No browser leaves it out of a script's WebSocket or POST.
        None => Ok(host.to_owned()),
        Some(origin) if origin == own => Ok(host.to_owned()),
        Some(_) => {
            Err("Only this server's own page may talk to it, and this request comes from another site.".to_owned())
        }
    }
}

/// Whether a request calls the server by an address, by localhost or by one of these names, on whichever port. Programs that
/// leave the host out are no browsers.
pub fn check_host(headers: &HeaderMap, names: &[String]) -> Result<(), String> {
    let Some(host) = headers.get(header::HOST) else { return Ok(()) };
    let host = host.to_str().unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => name,
        _ => host,
    };
    let known = |own: &str| own.eq_ignore_ascii_case(name);
    match known("localhost") || names.iter().any(|own| known(own)) || unbracketed(name).parse::<IpAddr>().is_ok() {
        true => Ok(()),
        false => Err(format!("{name:?} is no name of this server: metrics.hosts has those that are.")),
    }
}

/// What browsers call the server at `address`, where it is not on all interfaces: they leave out the port that http has.
pub fn origins(address: SocketAddr) -> Vec<String> {
    let bound = match address.ip() {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    let port = if address.port() == 80 { String::new() } else { format!(":{}", address.port()) };
    ["localhost", "127.0.0.1", "[::1]", &bound].map(|name| format!("http://{name}{port}")).to_vec()
}

/// Whether a `Host` names this server: the bound address, this machine's own names or, where it is bound on all interfaces
/// and `any` address will do, a literal one (no name: names can be made to point here).
fn is_ours(host: &str, address: SocketAddr, any: bool) -> bool {
    let own = [address.ip(), Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    let here = |ip: IpAddr| own.contains(&ip) || any && address.ip().is_unspecified();
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host, Some(80)),
    };
    port == Some(address.port()) && (name == "localhost" || unbracketed(name).parse().is_ok_and(here))
}

/// The address without the brackets of IPv6.
pub fn unbracketed(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(host: &str, origin: Option<&str>, bound: &str) -> bool {
        asked_of(host, origin, bound, Some("https://play.example"))
    }

    fn asked_of(host: &str, origin: Option<&str>, bound: &str, proxied: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("a header"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().expect("a header"));
        }
        check(&headers, bound.parse().expect("an address"), proxied).is_ok()
    }

    #[test]
    fn only_a_servers_own_page_under_its_own_name_is_served() {
        let bound = "127.0.0.1:7878";
        assert!(asked("127.0.0.1:7878", None, bound));
        assert!(asked("127.0.0.1:7878", Some("http://127.0.0.1:7878"), bound));
        assert!(asked("localhost:7878", Some("http://localhost:7878"), bound));
        assert!(!asked("localhost:7878", Some("http://127.0.0.1:7878"), bound));
        assert!(!asked("127.0.0.1:7878", Some("http://127.0.0.1:8000"), bound));
        assert!(!asked("127.0.0.1:7878", Some("https://evil.example"), bound));
        assert!(!asked("127.0.0.1:7878", Some("null"), bound));
        assert!(!asked("evil.example:7878", Some("http://evil.example:7878"), bound));
        assert!(!asked("127.0.0.1:1", None, bound));
        assert!(!asked("192.168.1.5:7878", None, bound));
        assert!(!asked("", None, bound));
    }

    #[test]
    fn behind_a_proxy_a_page_has_the_origin_that_it_was_told_and_no_other() {
        let bound = "127.0.0.1:7878";
        assert!(asked("play.example", None, bound));
        assert!(asked("play.example", Some("https://play.example"), bound));
        assert!(!asked("play.example", Some("http://play.example"), bound));
        assert!(!asked("play.example:7878", None, bound));
        assert!(!asked("127.0.0.1:7878", Some("https://play.example"), bound));
    }

    #[test]
    fn on_all_interfaces_any_literal_address_will_do_and_no_other_name() {
        for bound in ["0.0.0.0:7878", "[::]:7878"] {
            assert!(asked_of("192.168.1.5:7878", Some("http://192.168.1.5:7878"), bound, None));
            assert!(asked_of("[fe80::1]:7878", None, bound, None));
            assert!(!asked_of("my.example:7878", None, bound, None));
            assert!(!asked("192.168.1.5:7878", None, bound), "it has a name by which it is asked for");
            assert!(asked("play.example", None, bound) && asked("127.0.0.1:7878", None, bound));
        }
        assert!(asked("127.0.0.1", None, "127.0.0.1:80"));
        assert!(asked("[::1]", None, "[::1]:80"));
    }

    #[test]
    fn who_is_served_comes_from_an_origin_that_is_told() {
        for bound in ["127.0.0.1:80", "127.0.0.1:7878", "[::1]:7878", "192.168.1.5:80", "0.0.0.0:7878", "[::]:80"] {
            let origins = origins(bound.parse().expect("an address"));
            let names = ["localhost", "127.0.0.1", "127.0.0.2", "[::1]", "192.168.1.5", "0.0.0.0", "[::]"];
            for host in names.map(|name| format!("{name}{}", bound.strip_suffix(":80").map_or(":7878", |_| ""))) {
                let origin = format!("http://{host}");
                assert_eq!(asked(&host, Some(&origin), bound), origins.contains(&origin), "{host} at {bound}");
            }
        }
    }

    #[test]
    fn who_is_refused_does_not_fill_the_log() {
        let log = tracing_subscriber::fmt().with_writer(|| -> std::io::Sink { panic!("it is logged") }).finish();
        let answer = tracing::subscriber::with_default(log, || refuse("No."));
        assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    }
}
