//! What a session costs and how well it plays.

use crate::game::{Game, HITS, distance};
use crate::play::Play;
use crate::state::{Keys, Wanderer};
use cpu_time::ThreadTime;
use foretell::session::client::{ClientEvent, Corrected};
use foretell::session::{PeerId, Traffic};
use foretell::world::ComponentId;
use foretell::{Client, Effect, EffectKind, Entity, Frame, Instant, Meaning, Server, ServerFrame, Tick};
use foretell_sim::harness::{Driver, Moment, Sent, ServerHost};
use foretell_sim::netsim::{Conditions, Loss};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub bots: usize,
    /// Measured for so long, after [`WARM_UP`].
    pub seconds: u32,
    pub rtt: Duration,
    pub loss: f64,
    pub seed: u64,
}

/// Everybody joins, and gets the map; what comes then is measured.
pub const WARM_UP: Duration = Duration::from_secs(20);

/// How it was. Of the bots; what somebody who looks on gets is told apart.
#[derive(Serialize, Debug, Default)]
pub struct Report {
    pub bots: usize,
    pub seconds: u32,
    pub rtt_ms: u64,
    pub loss: f64,
    pub down_bytes_per_client_per_s: f64,
    pub down_bytes_per_s_of_the_most: f64,
    pub up_bytes_per_client_per_s: f64,
    pub spectator_bytes_per_s: f64,
    /// Of a client in a minute; of what moves: where something is, how it goes, and whether it is there.
    pub moving_corrections_per_min: f64,
    pub corrections_per_min: f64,
    /// Before the client has its map.
    pub moving_corrections_while_the_map_comes: u64,
    /// What a client has told when it predicted it, and the server has had an answer to by the end.
    pub hits_predicted: u64,
    pub hits_confirmed: u64,
    pub bolt_hits_predicted: u64,
    pub bolt_hits_confirmed: u64,
    /// From who says it to each who hears it, at the median and at 95 %.
    pub chat_ms_p50: f64,
    pub chat_ms_p95: f64,
    pub chats_heard: usize,
    /// From the join to the map, the mean; and what that has cost each.
    pub map_ms: f64,
    pub map_bytes: f64,
    /// Of those who wander within 40 m, the share that is shown.
    pub shown_within_40_m: f64,
    /// How much later than they are predicted others are shown.
    pub others_behind_ms: f64,
    pub server_us_per_tick: f64,
    pub heard_the_end: usize,
    pub logic_lines: usize,
    pub glue_lines: usize,
}

/// Lines of code without blank ones and comments. The game's logic is its ground, its rules and what bots press; glue is all that a
/// game without a network would not have: what is declared of its state, and the session around it, simulated and over sockets.
/// What measures and what draws is neither.
pub fn lines() -> [usize; 2] {
    let logic = [include_str!("game.rs"), include_str!("ground.rs"), include_str!("bots.rs")];
    let glue = [include_str!("state.rs"), include_str!("play.rs"), include_str!("sockets.rs")];
    let count = |source: &&str| {
        let lines = source.lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
    };
    [logic.iter().map(count).sum(), glue.iter().map(count).sum()]
}

/// What is counted of one client.
#[derive(Default)]
struct Counted {
    down: u64,
    up: u64,
    moving: u64,
    corrections: u64,
    early: u64,
    joined: Option<Instant>,
    map: Option<(Duration, u64)>,
    predicted: BTreeSet<(Tick, Entity, EffectKind)>,
    /// By weapon: confirmed, taken back.
    hits: [[u64; 2]; 2],
}

/// A session that is looked at.
pub struct Measured {
    pub play: Play,
    counted: Vec<Counted>,
    traffic: Traffic<Keys>,
    /// What was corrected, by what it was and why.
    pub why: BTreeMap<String, u64>,
    chat: Vec<Duration>,
    shown: [u64; 2],
    behind: (f64, u64),
    before: Option<ThreadTime>,
    used: Duration,
    ticks: u32,
    since: Instant,
}

fn is_hit(effect: &Effect) -> Option<usize> {
    HITS.iter().position(|kind| *kind == effect.kind)
}

/// Whether it was about where something is, how it goes, or whether it is there.
fn is_moving(client: &Client<Game>, one: &Corrected) -> bool {
    let schema = &client.rules().schema;
    let by_column = one.difference.is_some_and(|difference| {
        let mut columns = schema.component(difference.component).columns();
        match difference.column {
            None => columns.any(|column| column.meaning == Meaning::Position),
            Some(nth) => columns
                .nth(usize::from(nth))
                .is_some_and(|column| matches!(column.meaning, Meaning::Position | Meaning::Velocity)),
        }
    });
    by_column || one.misprediction_m > 0.0
}

impl Measured {
    fn is_on(&self, now: Instant) -> bool {
        now >= self.since
    }

    fn note_events(&mut self, player: usize, now: Instant, events: &[ClientEvent]) {
        let counted = &mut self.counted[player];
        for (nth, event) in events.iter().enumerate() {
            match event {
                ClientEvent::Joined(_) => counted.joined = Some(now),
                ClientEvent::Effect { effect, .. } if is_hit(effect).is_some() => {
                    // What others have done is known to be so when it is told.
                    let is_known = events.get(nth + 1) == Some(&ClientEvent::EffectConfirmed(*effect));
                    if !is_known && now >= self.since {
                        counted.predicted.insert(effect.name());
                    }
                }
                ClientEvent::EffectConfirmed(effect) | ClientEvent::EffectCancelled(effect) => {
                    let is_lost = matches!(event, ClientEvent::EffectCancelled(_));
                    if let (Some(weapon), true) = (is_hit(effect), counted.predicted.remove(&effect.name())) {
                        counted.hits[weapon][usize::from(is_lost)] += 1;
                    }
                }
                _ => {}
            }
        }
    }

    fn note_corrections(&mut self, player: usize, client: &Client<Game>, frame: &Frame<'_>, is_on: bool) {
        let schema = &client.rules().schema;
        for one in frame.corrections {
            let is_moving = is_moving(client, one);
            let counted = &mut self.counted[player];
            counted.early +=
                u64::from(is_moving && counted.map.is_none() && self.play.seats[player].ground.get().is_none());
            if is_on {
                counted.corrections += 1;
                counted.moving += u64::from(is_moving);
                let of = one.difference.map_or("follows".into(), |difference| {
                    let component = schema.component(difference.component);
                    let column = difference.column.and_then(|nth| component.columns().nth(usize::from(nth)));
                    format!("{} {}", component.name(), column.map_or("existence", |column| &*column.name))
                });
                let causes: Vec<_> = one.causes.names().collect();
                *self.why.entry(format!("{of} {causes:?} moving: {is_moving}")).or_default() += 1;
            }
        }
    }

    /// How many of those who wander near each player are shown to them.
    fn note_shown(&mut self, server: &Server<Game>) {
        for seat in &self.play.seats {
            let Some(me) = seat.seen.me else { continue };
            for (of, _) in server.rows().states::<Wanderer>().filter(|(_, one)| distance(one.at, me.at) < 40.0) {
                self.shown[usize::from(seat.views.get(of.entity).is_some())] += 1;
            }
        }
    }
}

impl Driver<Game> for Measured {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        self.play.input(player, tick)
    }

    fn before_server(&mut self, now: Instant, host: &mut ServerHost<Game>) {
        self.play.before_server(now, host);
        self.before = Some(ThreadTime::now());
    }

    fn after_server(&mut self, now: Instant, server: &Server<Game>, frame: &ServerFrame<'_>) {
        if let Some(before) = self.before.take().filter(|_| self.is_on(now)) {
            self.used += before.elapsed();
            self.ticks += frame.steps;
        }
        for player in server.players() {
            let (Some(PeerId(nth)), Some(stats)) = (server.peer_of(player), server.message_stats(player)) else {
                continue;
            };
            let counted = &mut self.counted[nth as usize];
            if let (Some(joined), None, Some(_)) =
                (counted.joined, counted.map, self.play.seats[nth as usize].ground.get())
            {
                counted.map = Some((now.since(joined), stats.bytes_sent));
            }
        }
        if self.is_on(now) && frame.tick.get().is_multiple_of(30) {
            self.note_shown(server);
        }
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Game>) {
        self.play.before_client(player, at, client);
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Game>, frame: &Frame<'_>) {
        self.note_events(player, at.now, frame.events);
        self.note_corrections(player, client, frame, self.is_on(at.now));
        self.play.after_client(player, at, client, frame);
        for chat in self.play.seats[player].heard.drain(..).filter(|chat| Some(chat.from) != client.player()) {
            if let Ok(said) = chat.text.trim().parse() {
                self.chat.push(at.now.since(Instant::from_micros(said)));
            }
        }
        if let (Some(cursor), true) = (client.playout_cursor(at.local), self.is_on(at.now)) {
            let ticks = (client.tick_time(at.local) - cursor).as_ticks();
            self.behind = (self.behind.0 + ticks * 1000.0 / 30.0, self.behind.1 + 1);
        }
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        if sent.player == 0 && !sent.to_server {
            // The first one's, from the start, as numbers of rows are given there.
            let _ = self.traffic.note(sent.datagram);
        }
        if self.is_on(sent.now) {
            let counted = &mut self.counted[sent.player];
            let of = if sent.to_server { &mut counted.up } else { &mut counted.down };
            *of += sent.datagram.len() as u64;
        }
    }
}

/// What each link does.
pub fn conditions(terms: &Terms) -> Conditions {
    Conditions { latency: terms.rtt / 2, loss: Loss::Uniform(terms.loss), ..Conditions::default() }
}

fn at(since_the_start: Duration) -> Instant {
    Instant::from_micros(since_the_start.as_micros() as u64)
}

/// Plays a session, and measures it.
pub fn measure(terms: Terms) -> (Report, String) {
    let Terms { bots, seconds, seed, .. } = terms;
    let length = WARM_UP + Duration::from_secs(u64::from(seconds));
    let ends = Tick::new(30 * (length.as_secs() as u32 - 2));
    let (play, mut session) = Play::begin(bots, &conditions(&terms), seed, ends);
    let since = at(WARM_UP);
    let counted = (0..=bots).map(|_| Counted::default()).collect();
    let traffic = Traffic::new(session.rules());
    let mut seen = Measured {
        play,
        counted,
        traffic,
        why: BTreeMap::new(),
        chat: Vec::new(),
        shown: [0; 2],
        behind: (0.0, 0),
        before: None,
        used: Duration::ZERO,
        ticks: 0,
        since,
    };
    session.run_until(at(length), &mut seen);
    let details = format!("{:#?}\n{}", seen.why, spent(&seen.traffic, session.rules(), length));
    (report(terms, &mut seen), details)
}

fn report(terms: Terms, seen: &mut Measured) -> Report {
    let Terms { bots, seconds, rtt, loss, .. } = terms;
    let (time, players) = (f64::from(seconds), &seen.counted[..bots]);
    let sum = |of: fn(&Counted) -> u64| players.iter().map(of).sum::<u64>();
    let mean = |of: fn(&Counted) -> u64| sum(of) as f64 / bots as f64;
    let hits = |weapon: usize, what: usize| players.iter().map(|one| one.hits[weapon][what]).sum::<u64>();
    let maps: Vec<_> = players.iter().filter_map(|one| one.map).collect();
    let of_maps = |sum: f64| sum / maps.len().max(1) as f64;
    seen.chat.sort_unstable();
    let chat_ms = |share: f64| {
        let at = (seen.chat.len() as f64 * share) as usize;
        seen.chat.get(at).map_or(f64::NAN, |time| time.as_secs_f64() * 1000.0)
    };
    let [logic_lines, glue_lines] = lines();
    Report {
        bots,
        seconds,
        rtt_ms: rtt.as_millis() as u64,
        loss,
        down_bytes_per_client_per_s: mean(|one| one.down) / time,
        down_bytes_per_s_of_the_most: players.iter().map(|one| one.down).max().unwrap_or(0) as f64 / time,
        up_bytes_per_client_per_s: mean(|one| one.up) / time,
        spectator_bytes_per_s: seen.counted[bots].down as f64 / time,
        moving_corrections_per_min: 60.0 * mean(|one| one.moving) / time,
        corrections_per_min: 60.0 * mean(|one| one.corrections) / time,
        moving_corrections_while_the_map_comes: sum(|one| one.early),
        hits_predicted: hits(0, 0) + hits(0, 1) + hits(1, 0) + hits(1, 1),
        hits_confirmed: hits(0, 0) + hits(1, 0),
        bolt_hits_predicted: hits(1, 0) + hits(1, 1),
        bolt_hits_confirmed: hits(1, 0),
        chat_ms_p50: chat_ms(0.5),
        chat_ms_p95: chat_ms(0.95),
        chats_heard: seen.chat.len(),
        map_ms: of_maps(maps.iter().map(|map| map.0.as_secs_f64() * 1000.0).sum()),
        map_bytes: of_maps(maps.iter().map(|map| map.1 as f64).sum()),
        shown_within_40_m: seen.shown[1] as f64 / (seen.shown[0] + seen.shown[1]).max(1) as f64,
        others_behind_ms: seen.behind.0 / seen.behind.1.max(1) as f64,
        server_us_per_tick: seen.used.as_secs_f64() * 1e6 / f64::from(seen.ticks.max(1)),
        heard_the_end: seen.play.seats.iter().filter(|seat| seat.is_over).count(),
        logic_lines,
        glue_lines,
    }
}

/// Where the bytes of the first bot went, per second of the whole session.
fn spent(traffic: &Traffic<Keys>, rules: &foretell::Rules, length: Duration) -> String {
    let per_s = |bits: u64| bits as f64 / 8.0 / length.as_secs_f64();
    let mut said = format!(
        "all {:.0} B/s, messages {:.0}, rest {:.0}\n",
        per_s(traffic.bits()),
        per_s(traffic.messages()),
        per_s(traffic.rest())
    );
    for (name, rows) in [("predicted", traffic.exact()), ("shown", traffic.shown())] {
        for (nth, row) in rows.iter().enumerate().filter(|(_, row)| row.rows > 0) {
            let component = rules.schema.component(ComponentId(nth as u8));
            said += &format!(
                "{name:>9} {:<20} {:>7} rows {:>6.0} B/s: headers {:.0}",
                component.name(),
                row.rows,
                per_s(row.bits()),
                per_s(row.headers)
            );
            let fields: Vec<_> = row
                .fields
                .iter()
                .zip(component.columns())
                .map(|(bits, column)| format!("{} {:.0}", column.name, per_s(*bits)))
                .collect();
            said += &format!(", {}\n", fields.join(", "));
        }
    }
    said
}
