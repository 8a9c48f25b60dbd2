//! The page of the dedicated server: its files for browsers, and what they need to join.

use super::bundle;
use super::config::PageKeys;
use super::proxies::Proxies;
use super::serving;
use super::setup::Guests;
use crate::site;
use anyhow::{Context, Result};
use axum::Router;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use foretell_net::{Account, CertificateHash, Running, join_url, network, random_key};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How many tokens one address gets in a minute, and all together.
const TOKENS_PER_ADDRESS: u32 = 30;
const TOKENS_MAX: u32 = 1000;

/// Takes the port.
///
/// # Errors
/// When it is taken already.
pub async fn bind(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("page.listen: {address} can't be served"))
}

/// What browsers call a page that is served there.
pub fn origins(listener: &TcpListener, keys: &PageKeys) -> Vec<String> {
    let mut origins: Vec<_> = keys.origin.iter().cloned().collect();
    origins.extend(listener.local_addr().into_iter().flat_map(site::origins));
    origins
}

/// Where players join, and by whose word.
pub struct Players {
    game: &'static str,
    host: String,
    port: u16,
    hashes: watch::Receiver<Vec<CertificateHash>>,
    guests: Guests,
    given: Mutex<Given>,
}

impl Players {
    pub fn new(game: &'static str, host: &str, running: &Running, guests: Guests) -> Players {
        let (port, hashes) = (running.local_addr().port(), running.watch_certificate_hashes());
        let given = Mutex::new(Given { since: Instant::now(), tokens: BTreeMap::new() });
        Players { game, host: host.to_owned(), port, hashes, guests, given }
    }

    fn url(&self) -> String {
        join_url(&self.host, self.port, &self.hashes.borrow())
    }
}

/// The tokens of the running minute, by address.
struct Given {
    since: Instant,
    /// At most [`TOKENS_MAX`] addresses.
    tokens: BTreeMap<IpAddr, u32>,
}

impl Given {
    /// Whether one more may be given; if so it counts, for all of an IPv6 network of 64 bits.
    fn allows(&mut self, now: Instant, to: IpAddr) -> bool {
        let to = network(to);
        if now.duration_since(self.since) >= Duration::from_secs(60) {
            (self.since, self.tokens) = (now, BTreeMap::new());
        }
        let given = self.tokens.get(&to).copied().unwrap_or(0);
        let allowed = given < TOKENS_PER_ADDRESS && self.tokens.values().sum::<u32>() < TOKENS_MAX;
        if allowed {
            self.tokens.insert(to, given + 1);
        }
        allowed
    }
}

/// Connections to the page at once: a browser has six.
const CONNECTIONS_MAX: usize = 256;

struct Page {
    address: SocketAddr,
    origin: Option<String>,
    /// Of no meaning without an origin.
    proxies: Proxies,
    folders: Vec<PathBuf>,
    players: Players,
}

/// Serves the page for ever.
///
/// # Errors
/// When the listener has no address, or a proxy is none.
pub fn serve(listener: TcpListener, keys: &PageKeys, players: Players) -> Result<impl Future<Output = ()> + use<>> {
    let address = listener.local_addr().context("the page's listener has no address")?;
    let folders = bundle::folders(keys.folder.as_deref());
    let seen = keys.origin.clone().unwrap_or_else(|| format!("http://{address}"));
    match bundle::is_built(&folders) {
        true => println!("foretell serve: browsers play at {seen}/"),
        false => println!("foretell serve: no page for browsers; `cargo xtask web` builds it ({seen}/)"),
    }
    let proxies = if keys.origin.is_some() { Proxies::read(&keys.proxies)? } else { Proxies::default() };
    let page = Arc::new(Page { address, origin: keys.origin.clone(), proxies, folders, players });
    let router = Router::new().route("/join", post(join)).fallback(get(file)).with_state(page);
    Ok(serving::serve(listener, router, CONNECTIONS_MAX))
}

/// A file of the page.
async fn file(State(page): State<Arc<Page>>, headers: HeaderMap, uri: Uri) -> Response {
    if let Err(sentence) = site::check(&headers, page.address, page.origin.as_deref()) {
        return site::refuse(&sentence);
    }
    let Players { host, port, .. } = &page.players;
    let policy = policy(host, *port);
    // The thread of the requests is that of the ticks.
    let (asked, path) = (Arc::clone(&page), uri.path().to_owned());
    let found = tokio::task::spawn_blocking(move || bundle::find(&asked.folders, &path)).await;
    match found.ok().flatten() {
        Some(file) => (site::headers(file.kind, &policy), file.bytes).into_response(),
        None if uri.path() == "/" => {
            (StatusCode::SERVICE_UNAVAILABLE, site::headers("text/html; charset=utf-8", &policy), NOT_BUILT)
                .into_response()
        }
        None => (StatusCode::NOT_FOUND, "There is no such file.\n").into_response(),
    }
}

/// From where the page takes what it runs, and where it may connect.
fn policy(host: &str, port: u16) -> String {
    let game = match host.starts_with('[') {
        // A policy has no way to write an address of IPv6.
        true => "https: wss:".to_owned(),
        false => format!("https://{host}:{port} wss://{host}:{port}"),
    };
    format!("script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' {game}")
}

const NOT_BUILT: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>foretell serve</title>\
    <h1>No page for browsers yet</h1>\
    <p>The server runs, and programs can join it: its address stands where it was started.</p>\
    <p>To play here, build the page with <code>cargo xtask web</code>, then load this one again.</p></html>";

/// What the page needs to join. Without a token the player has to bring one.
#[derive(Serialize)]
struct Invitation {
    url: String,
    token: Option<String>,
    /// What is played there.
    game: &'static str,
}

async fn join(
    State(page): State<Arc<Page>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Response {
    if let Err(sentence) = site::check(&headers, page.address, page.origin.as_deref()) {
        return site::refuse(&sentence);
    }
    let players = &page.players;
    let to = page.proxies.asker(&headers, from.ip());
    let given = || players.given.lock().unwrap_or_else(PoisonError::into_inner);
    if players.guests.come() && !given().allows(Instant::now(), to) {
        return (StatusCode::TOO_MANY_REQUESTS, "Too many have asked to join in this minute.\n").into_response();
    }
    let token = players.guests.token(&guest()).map(|token| token.reveal());
    let invitation =
        serde_json::to_string(&Invitation { url: players.url(), token, game: players.game }).expect("three texts");
    ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], invitation).into_response()
}

/// A name that nobody else has.
fn guest() -> Account {
    let number = random_key().iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    Account::new(&format!("guest-{number:016x}")).expect("a short name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_gets_so_many_tokens_in_a_minute_and_all_together_a_thousand() {
        let start = Instant::now();
        let mut given = Given { since: start, tokens: BTreeMap::new() };
        let address = |number: u32| IpAddr::from(number.to_be_bytes());
        let count = |given: &mut Given, now, to| (0..100).filter(|_| given.allows(now, address(to))).count();
        assert_eq!((count(&mut given, start, 1), count(&mut given, start, 2)), (30, 30));
        let others = (3..2000).filter(|number| given.allows(start, address(*number))).count();
        assert_eq!(others, 1000 - 2 * 30, "what was refused does not count");
        assert_eq!(count(&mut given, start + Duration::from_secs(60), 1), 30);
    }

    #[test]
    fn all_of_an_ipv6_network_are_one_who_asks() {
        let start = Instant::now();
        let mut given = Given { since: start, tokens: BTreeMap::new() };
        let mut allowed =
            |network: u16, host| given.allows(start, IpAddr::from([0x2001, 0xdb8, 0, network, 0, 0, 0, host]));
        assert_eq!((0..100).filter(|host| allowed(0, *host)).count(), 30);
        assert!(allowed(1, 0));
    }

    #[test]
    fn a_page_may_connect_to_its_server_by_ipv6_too() {
        assert!(
            policy("play.example", 4433)
                .ends_with("connect-src 'self' https://play.example:4433 wss://play.example:4433")
        );
        assert!(policy("[::1]", 4433).ends_with("connect-src 'self' https: wss:"));
    }

    #[test]
    fn guests_have_names_that_differ() {
        assert_ne!(guest(), guest());
    }
}
