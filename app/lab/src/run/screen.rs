//! The person's screen: the cubes on it, and how well others are shown. It stands still while their machine does.

use super::local_cube::LocalCube;
use super::remote_quality::{HELD_MS, RemoteQuality, RemoteView};
use crate::clock::seconds;
use crate::frame::cube::ShownCube;
use foretell::session::client::{PoseSource, Show};
use foretell::{Client, Owned, PlayerId, Rows, Tick, TickRate, Views};
use foretell_arena::{Arena, Buttons, Cube};
use foretell_sim::harness::Moment;

/// What the person sees.
#[derive(Clone, Debug)]
pub struct PersonScreen {
    /// How their client fares.
    pub state: &'static str,
    /// The next tick of their client.
    pub tick: u32,
    pub cubes: Vec<ShownCube>,
    /// How large the visual offset of the own cube is.
    pub correction_m: f64,
    /// `None` until it can start.
    pub local: Option<LocalCube>,
    pub others: RemoteQuality,
    /// The others in the frame that is made.
    remote: Vec<RemoteView>,
    views: Views,
    /// Whether their newest snapshots are drawn as well.
    pub ghosts: bool,
}

impl PersonScreen {
    /// Of somebody who joins.
    pub fn new() -> PersonScreen {
        PersonScreen {
            state: "joining",
            tick: 0,
            cubes: Vec::new(),
            correction_m: 0.0,
            local: None,
            others: RemoteQuality::default(),
            remote: Vec::new(),
            views: Views::new(),
            ghosts: false,
        }
    }

    /// Moves the local cube by the inputs of the client's new ticks, or starts it.
    pub fn move_local(&mut self, client: &Client<Arena>, inputs: &mut Vec<(Tick, Buttons)>, rate: TickRate) {
        let first = inputs.first().map_or(client.tick(), |(tick, _)| *tick);
        if self.local.is_none() {
            self.local = client.predicted(first).and_then(|rows| LocalCube::start(rows, rate));
        }
        match &mut self.local {
            Some(local) => inputs.drain(..).for_each(|(tick, input)| local.step(tick, input)),
            // It came in the middle of the update: a client that joins before it has a cube.
            None => self.local = client.predicted(client.tick()).and_then(|rows| LocalCube::start(rows, rate)),
        }
        inputs.clear();
    }

    /// Draws what the client of the person shows.
    pub fn draw(&mut self, Moment { now, local: at }: Moment, client: &Client<Arena>, human: PlayerId, show: Show) {
        self.cubes.clear();
        self.correction_m = 0.0;
        if let Some(local) = &self.local {
            let position = local.position(show, client.tick_fraction(at));
            self.cubes.push(ShownCube::at("local", human.get(), position, "predicted"));
        }
        self.remote.clear();
        client.present(at, &mut self.views);
        for view in &self.views {
            let (player, position) = (view.owner, view.pose().position);
            let (source, beyond_ms) = source(view.source);
            if player == human {
                self.correction_m = view.offset.distance();
                self.cubes.push(ShownCube { beyond_ms, ..ShownCube::at("client", player.get(), position, source) });
                continue;
            }
            self.cubes.push(ShownCube { beyond_ms, ..ShownCube::at("other", player.get(), position, source) });
            self.remote.push(RemoteView { entity: view.entity, position, beyond_ms });
        }
        self.others.note_frame(seconds(now), &self.remote);
        if let Some((_, rows)) = client.newest_snapshot() {
            self.cubes.extend(confirmed("ghost", rows, human, self.ghosts));
        }
    }
}

/// Where a pose comes from, and how far beyond the newest snapshot it is, in ms.
fn source(source: PoseSource) -> (&'static str, f64) {
    match source {
        PoseSource::Authority => ("authority", 0.0),
        PoseSource::Predicted => ("predicted", 0.0),
        PoseSource::Interpolated => ("interpolated", 0.0),
        PoseSource::Held => ("held", 0.0),
        PoseSource::Extrapolated(beyond) => {
            let beyond_ms = beyond.as_secs_f64() * 1000.0;
            (if beyond_ms < HELD_MS { "extrapolated" } else { "held" }, beyond_ms)
        }
    }
}

/// The cubes of rows of the server's: the person's first, and the others' if they are asked for.
pub fn confirmed(role: &'static str, rows: &Rows, human: PlayerId, others: bool) -> Vec<ShownCube> {
    let cube =
        |(of, cube): (Owned, Cube)| ShownCube::at(role, of.owner.get(), cube.position.map(f64::from), "confirmed");
    let (mine, theirs): (Vec<_>, Vec<_>) = rows.states().partition(|(of, _)| of.owner == human);
    mine.into_iter().chain(theirs.into_iter().filter(|_| others)).map(cube).collect()
}
