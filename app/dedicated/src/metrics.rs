//! What Prometheus reads, and whether the server is well.

use super::config::MetricsKeys;
use super::connections::Limits;
use super::http_server::Site;
use super::proxies::Proxies;
use anyhow::{Context, Result};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use cpu_time::ProcessTime;
use foretell::session::Refusal;
use foretell::session::server::JoinTotals;
use foretell_net::{Status, TickTimes};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use std::fmt;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Connections at once: Prometheus, and who watches over the server, maybe through one proxy.
const LIMITS: Limits = Limits { connections_max: 32, per_address_max: 16 };
/// How fast all of them are answered: a page of figures has 10 kB.
const BYTES_PER_SECOND: u64 = 1_000_000;
/// They are near, so who reads nothing for so long is gone.
const TAKE_WITHIN: Duration = Duration::from_secs(10);

/// `/metrics` and `/health`, to be served; `None` where they are not.
///
/// # Errors
/// When the port is taken already.
pub fn site(keys: &MetricsKeys, status: watch::Receiver<Status>) -> Result<Option<Site>> {
    let Some(address) = keys.listen else { return Ok(None) };
    let listener = TcpListener::bind(address).with_context(|| format!("metrics.listen: {address} can't be served"))?;
    println!("metrics: http://{}/metrics", listener.local_addr()?);
    let mut registry = Registry::with_prefix("foretell");
    registry.register_collector(Box::new(Figures(status.clone())));
    let metrics = Router::new().route("/metrics", get(tell)).with_state(Arc::new(registry));
    let health = Router::new().route("/health", get(health)).with_state(status);
    let router = metrics.merge(health).layer(from_fn_with_state(Arc::new(keys.hosts.clone()), check));
    Ok(Some(Site {
        listener,
        router,
        limits: LIMITS,
        bytes_per_second: BYTES_PER_SECOND,
        take_within: TAKE_WITHIN,
        proxies: Proxies::default(),
    }))
}

/// Answers who calls the server by an address, or by a name that is its own: a page of another site can make a name of its
/// own point here, and would read what its visitors' browsers are told.
async fn check(State(hosts): State<Arc<Vec<String>>>, request: Request, next: Next) -> Response {
    match foretell_http::check_host(request.headers(), &hosts) {
        Ok(()) => next.run(request).await,
        Err(sentence) => foretell_http::refuse(&sentence),
    }
}

async fn tell(State(registry): State<Arc<Registry>>) -> Response {
    let mut text = String::new();
    match encode(&mut text, &registry) {
        Ok(()) => ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text)
            .into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Well is a server that ticks and takes players. A request waits for the next tick, as long as one may take.
async fn health(State(mut status): State<watch::Receiver<Status>>) -> (StatusCode, &'static str) {
    status.mark_unchanged();
    let next = tokio::time::timeout(Duration::from_secs(1), status.changed()).await;
    match next {
        Ok(Ok(())) if status.borrow().draining => (StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
        Ok(Ok(())) => (StatusCode::OK, "ok\n"),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "no tick for a second\n"),
    }
}

/// The figures of the last tick.
#[derive(Debug)]
struct Figures(watch::Receiver<Status>);

impl Collector for Figures {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> fmt::Result {
        let status = *self.0.borrow();
        let traffic = status.traffic;
        let gauges = [
            ("players", "Players in the session, lost ones too", status.players),
            ("connections", "Connections that are admitted", status.connections),
            ("handshakes", "Connections that are not admitted yet", status.handshakes),
            ("draining", "1 when nobody new comes in", usize::from(status.draining)),
            (
                "resident_memory_bytes",
                "Memory of the process",
                memory_stats::memory_stats().map_or(0, |m| m.physical_mem),
            ),
        ];
        for (name, help, value) in gauges {
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            to.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)?;
        }
        let counters = [
            ("ticks_skipped", "Ticks that were skipped, as the server stood still", status.skipped),
            ("players_joined", "Players who have joined", status.totals.joins.joined),
            ("inputs_applied", "Inputs that were applied in their tick", status.totals.inputs.applied),
            ("inputs_missed", "Ticks of players whose input was missing", status.totals.inputs.missed),
            ("inputs_absent", "Ticks of players who were lost", status.totals.inputs.absent),
            ("inputs_late", "Inputs that came after their tick", status.totals.inputs.late),
            ("datagrams_sent", "Datagrams handed to the network", traffic.sent),
            ("datagrams_sent_bytes", "Bytes in them", traffic.sent_bytes),
            (
                "datagrams_held_back",
                "Datagrams that the rate limit held back, or the path did not take",
                traffic.held_back,
            ),
            ("datagrams_received", "Datagrams that have come", traffic.received),
            ("datagrams_received_bytes", "Bytes in them", traffic.received_bytes),
            ("hellos_strange", "Hellos with the nonce of another place", traffic.strange_hellos),
            ("datagrams_malformed", "Datagrams that were malformed", status.totals.malformed),
            ("connections_admitted", "Connections that were admitted", traffic.admitted),
            ("connections_not_admitted", "Connections that showed no right to a place", traffic.not_admitted),
            ("connections_crowded_out", "Those of them that made room for others", traffic.crowded_out),
            ("connections_turned_away", "Connections that were one too many", traffic.turned_away),
            ("connections_retried", "Connections that had to prove their address", traffic.retried),
        ];
        for (name, help, value) in counters {
            count(&mut to, name, help, &value)?;
        }
        tell_refused(&mut to, &status.totals.joins)?;
        let cpu = ProcessTime::try_now().map_or(0.0, |time| time.as_duration().as_secs_f64());
        count(&mut to, "cpu_seconds", "Processor time of the process", &cpu)?;
        tell_ticks(&mut to, &status.tick_times)
    }
}

fn count(
    to: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: &impl prometheus_client::encoding::EncodeCounterValue,
) -> fmt::Result {
    let mut metric = to.encode_descriptor(name, help, None, MetricType::Counter)?;
    metric.encode_counter::<NoLabelSet, _, u64>(value, None)
}

fn tell_ticks(to: &mut DescriptorEncoder<'_>, times: &TickTimes) -> fmt::Result {
    let bins: Vec<_> = times.bins().collect();
    let mut metric = to.encode_descriptor("tick_seconds", "How long ticks take", None, MetricType::Histogram)?;
    metric.encode_histogram::<NoLabelSet>(times.total().as_secs_f64(), times.count(), &bins, None)
}

fn tell_refused(to: &mut DescriptorEncoder<'_>, joins: &JoinTotals) -> fmt::Result {
    let help = "Players that the session did not let in, or not on";
    let mut metric = to.encode_descriptor("players_refused", help, None, MetricType::Counter)?;
    for why in Refusal::ALL {
        let Some(label) = label(why) else { continue };
        let reason = [("reason", label)];
        metric.encode_family(&reason)?.encode_counter::<NoLabelSet, _, u64>(&joins.refused(why), None)?;
    }
    Ok(())
}

/// `None` for what no server says.
fn label(why: Refusal) -> Option<&'static str> {
    Some(match why {
        Refusal::Version => "version",
        Refusal::Rules => "rules",
        Refusal::Full => "full",
        Refusal::Gone => "gone",
        Refusal::TooLarge => "too_large",
        Refusal::Draining => "draining",
        Refusal::TimedOut => "timed_out",
        Refusal::ByGame(_) => "by_game",
        Refusal::Removed(_) => "removed",
        Refusal::Unanswered => return None,
    })
}
