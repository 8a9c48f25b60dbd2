//! The page of the dedicated server: its files for browsers, and what they need to join.

use super::bundle::Bundle;
use super::config::PageKeys;
use super::connections::Limits;
use super::http_server::{Asker, Site};
use super::proxies::Proxies;
use super::request_budget::{RequestBudget, Shares};
use super::setup::Guests;
use anyhow::{Context, Result};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use foretell_net::{Account, CertificateHash, Running, join_url, random_key};
use serde::Serialize;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Connections to the page at once: a browser has six; a quarter of them for one address is a router with ten players who load
/// it in the same moment. With what the system and HTTP keep for each they cost about 20 MB.
const LIMITS: Limits = Limits { connections_max: 256, per_address_max: 64 };
/// How long who reads the page may take nothing. Systems that receive much at once say for long that they have no room: at 6 kB/s
/// for more than 30 s.
const TAKE_WITHIN: Duration = Duration::from_secs(60);
/// How many tokens are given in a minute. One costs a signature: all of them are less than a hundredth of a processor's time. How
/// fast players come in with them is the gateway's to say.
const TOKENS: Shares = Shares { per_address: 30, reserved: 3, in_all: 10_000 };
/// How many requests are answered in a minute. The page has 15, each costs about 0.1 ms of the thread that answers, and what
/// they are answered with has its pace.
const REQUESTS: Shares = Shares { per_address: 2000, reserved: 100, in_all: 200_000 };
/// How long who is refused is asked to wait, in seconds: by then some of what they had counts no more.
const RETRY_AFTER: &str = "30";

/// Takes the port.
///
/// # Errors
/// When it is taken already.
pub fn bind(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).with_context(|| format!("page.listen: {address} can't be served"))
}

/// What browsers call a page that is served there.
pub fn origins(listener: &TcpListener, keys: &PageKeys) -> Vec<String> {
    let mut origins: Vec<_> = keys.origin.iter().cloned().collect();
    origins.extend(listener.local_addr().into_iter().flat_map(foretell_http::origins));
    origins
}

/// Where players join, and by whose word.
pub struct Players {
    game: &'static str,
    host: String,
    port: u16,
    hashes: watch::Receiver<Vec<CertificateHash>>,
    guests: Guests,
}

impl Players {
    pub fn new(game: &'static str, host: &str, running: &Running, guests: Guests) -> Players {
        let (port, hashes) = (running.local_addr().port(), running.watch_certificate_hashes());
        Players { game, host: host.to_owned(), port, hashes, guests }
    }

    fn url(&self) -> String {
        join_url(&self.host, self.port, &self.hashes.borrow())
    }
}

struct Page {
    address: SocketAddr,
    origin: Option<String>,
    players: Players,
    bundle: Mutex<Bundle>,
    tokens: Mutex<RequestBudget>,
    requests: Mutex<RequestBudget>,
}

/// The page, to be served.
///
/// # Errors
/// When the listener has no address, or a proxy is none.
pub fn site(listener: TcpListener, keys: &PageKeys, players: Players) -> Result<Site> {
    let (address, now) = (listener.local_addr().context("the page's listener has no address")?, Instant::now());
    let mut bundle = Bundle::new(keys.folder.as_deref(), players.game);
    let seen = keys.origin.clone().unwrap_or_else(|| format!("http://{address}"));
    match bundle.is_built(now) {
        true => println!("foretell serve: browsers play at {seen}/"),
        false => println!("foretell serve: no page for browsers; `cargo xtask web` builds it ({seen}/)"),
    }
    // Without an origin nobody asks for others.
    let proxies = if keys.origin.is_some() { Proxies::read(&keys.proxies)? } else { Proxies::default() };
    let page = Arc::new(Page {
        address,
        origin: keys.origin.clone(),
        players,
        bundle: Mutex::new(bundle),
        tokens: Mutex::new(RequestBudget::new(TOKENS, now)),
        requests: Mutex::new(RequestBudget::new(REQUESTS, now)),
    });
    let router = Router::new().route("/join", post(join)).route("/server", get(server)).fallback(get(file));
    Ok(Site {
        listener,
        router: router.with_state(page),
        limits: LIMITS,
        bytes_per_second: u64::from(keys.megabits_per_second) * 1_000_000 / 8,
        take_within: TAKE_WITHIN,
        proxies,
    })
}

/// Why a request is not answered.
enum Unanswered {
    /// It is meant for another server, or comes from another site.
    Strange(String),
    /// Who asks has had what they get in a minute.
    TooMany(&'static str),
}

impl IntoResponse for Unanswered {
    fn into_response(self) -> Response {
        match self {
            Unanswered::Strange(sentence) => foretell_http::refuse(&sentence),
            Unanswered::TooMany(sentence) => {
                (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, RETRY_AFTER)], sentence).into_response()
            }
        }
    }
}

impl Page {
    /// Whether a request is answered.
    fn admit(&self, headers: &HeaderMap, who: IpAddr) -> Result<(), Unanswered> {
        foretell_http::check(headers, self.address, self.origin.as_deref()).map_err(Unanswered::Strange)?;
        match lock(&self.requests).allows(Instant::now(), who) {
            true => Ok(()),
            false => Err(Unanswered::TooMany("You have asked for too much in this minute.\n")),
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file of the page.
async fn file(
    State(page): State<Arc<Page>>,
    Extension(Asker(who)): Extension<Asker>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Unanswered> {
    page.admit(&headers, who)?;
    let found = lock(&page.bundle).find(Instant::now(), uri.path());
    let policy = policy(&page.players.host, page.players.port);
    Ok(match found {
        Some(file) => (foretell_http::headers(file.kind, &policy), file.bytes).into_response(),
        None if uri.path() == "/" => {
            (StatusCode::SERVICE_UNAVAILABLE, foretell_http::headers("text/html; charset=utf-8", &policy), NOT_BUILT)
                .into_response()
        }
        None => (StatusCode::NOT_FOUND, "There is no such file.\n").into_response(),
    })
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

/// What the page needs to join.
#[derive(Serialize)]
struct Invitation {
    url: String,
    /// What is played there.
    game: &'static str,
    /// What tells the page from one with other files.
    page: String,
    /// Without one the player has to bring it.
    token: Option<String>,
}

impl Page {
    fn invite(&self, token: Option<String>) -> Response {
        let page = lock(&self.bundle).build(Instant::now()).to_owned();
        let invitation = Invitation { url: self.players.url(), game: self.players.game, page, token };
        let text = serde_json::to_string(&invitation).expect("texts");
        ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], text).into_response()
    }
}

/// Which server plays here now, for a page that has lost its own.
async fn server(
    State(page): State<Arc<Page>>,
    Extension(Asker(who)): Extension<Asker>,
    headers: HeaderMap,
) -> Result<Response, Unanswered> {
    page.admit(&headers, who)?;
    Ok(page.invite(None))
}

async fn join(
    State(page): State<Arc<Page>>,
    Extension(Asker(who)): Extension<Asker>,
    headers: HeaderMap,
) -> Result<Response, Unanswered> {
    page.admit(&headers, who)?;
    let guests = &page.players.guests;
    if guests.come() && !lock(&page.tokens).allows(Instant::now(), who) {
        return Err(Unanswered::TooMany("Too many have asked to join in this minute.\n"));
    }
    Ok(page.invite(guests.token(&guest()).map(|token| token.reveal())))
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
