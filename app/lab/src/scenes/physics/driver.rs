//! What the lab does in the session of the pile: plays for the person and the second player, disturbs on the server,
//! and observes.

use super::screen::{PileScreen, rows_of};
use crate::frame::bodies::BodyRow;
use foretell::session::{Inspected, inspect};
use foretell::{Client, Frame, Instant, Server, ServerFrame, Tick};
use foretell_arena::Buttons;
use foretell_pile::Pile;
use foretell_rapier::rapier3d::math::Vector;
use foretell_sim::harness::{Driver, Moment, Sent, ServerHost};
use foretell_sim::netsim::Fate;
use std::collections::VecDeque;

/// How many states of the server are remembered: 2 s at 128 Hz, longer than any snapshot is under way.
const KEPT: usize = 256;
/// Where the second player drives to, one place after the other, in metres.
const ROUND: [[f64; 2]; 8] =
    [[0.0, -1.0], [3.5, 2.0], [-3.0, 3.5], [1.0, -3.5], [-4.0, 0.0], [3.0, -2.0], [0.0, 4.5], [-2.0, -2.5]];
/// For how many ticks it tries.
const ROUND_TICKS: u32 = 110;
/// How far beside its course it holds no key for that axis.
const BESIDE_M: f64 = 0.4;

/// What the server does to the person's cube outside of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Disturbance {
    Impulse,
    Teleport,
}

/// Everything between the harness and the lanes of the scene.
#[derive(Default)]
pub struct PileDriver {
    /// The keys of the person.
    pub keys: u8,
    /// The second player's machine, while there is one.
    pub second: Option<usize>,
    /// The keys of a second person at that machine; none while a bot plays there.
    pub second_keys: Option<u8>,
    /// By machine.
    pub screens: Vec<PileScreen>,
    pub disturbances: Vec<Disturbance>,
    /// The states of the server, ascending.
    pub truth: VecDeque<(Tick, Vec<BodyRow>)>,
    /// When the update that runs began: what it costs on this machine is measured, and changes nothing.
    began: Option<std::time::Instant>,
}

impl PileDriver {
    /// Forgets what belongs to the last frame alone.
    pub fn begin_frame(&mut self) {
        self.screens.iter_mut().for_each(PileScreen::begin_frame);
    }

    /// What the server has by now.
    pub fn newest_truth(&self) -> &[BodyRow] {
        self.truth.back().map_or(&[], |(_, rows)| rows)
    }
}

/// The keys towards a place of the round.
fn towards(tick: Tick, [x, _, z]: [f64; 3]) -> u8 {
    let nth = (tick.get() / ROUND_TICKS) as usize % ROUND.len();
    let [to_x, to_z] = ROUND[nth];
    let axis = |off: f64, plus: u8, minus: u8| match off {
        off if off > BESIDE_M => plus,
        off if off < -BESIDE_M => minus,
        _ => 0,
    };
    axis(to_z - z, 1, 2) | axis(to_x - x, 8, 4)
}

impl Driver<Pile> for PileDriver {
    fn input(&mut self, machine: usize, tick: Tick) -> Buttons {
        let seen = self.screens[machine].own();
        Buttons::from_bits(if Some(machine) == self.second {
            self.second_keys.unwrap_or_else(|| seen.map_or(0, |at| towards(tick, at)))
        } else {
            self.keys
        })
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Pile>) {
        let Some(driver) = self.screens[0].player().and_then(|player| server.world.driver(player)) else { return };
        for disturbance in self.disturbances.drain(..) {
            let Some(mut body) = server.world.physics_mut().body_mut(driver) else { continue };
            match disturbance {
                Disturbance::Impulse => body.set_linvel(body.linvel() + Vector::new(3.0, 0.0, 0.0), true),
                Disturbance::Teleport => {
                    let x = if body.translation().x > 5.0 { -4.0 } else { 4.0 };
                    // Above the others: where it is put nobody may be.
                    body.set_translation(body.translation() + Vector::new(x, 1.0, 0.0), true);
                }
            }
        }
    }

    fn after_server(&mut self, _now: Instant, server: &Server<Pile>, frame: &ServerFrame<'_>) {
        if self.truth.back().is_none_or(|(tick, _)| *tick < frame.tick) {
            self.truth.push_back((frame.tick, rows_of(server.rows())));
        }
        if self.truth.len() > KEPT {
            self.truth.pop_front();
        }
    }

    fn before_client(&mut self, _machine: usize, _at: Moment, _client: &mut Client<Pile>) {
        self.began = Some(std::time::Instant::now());
    }

    fn after_client(&mut self, machine: usize, at: Moment, client: &Client<Pile>, frame: &Frame<'_>) {
        let cpu_us = self.began.take().map_or(0, |began| began.elapsed().as_micros());
        let screen = &mut self.screens[machine];
        screen.look(at, client, frame, u64::try_from(cpu_us).unwrap_or(0));
        screen.draw_ghost(&self.truth);
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        let near = self.truth.back().map_or(Tick::ZERO, |(tick, _)| *tick);
        if let (false, Fate::Arrives(at), Ok(Inspected::Snapshot { tick })) =
            (sent.to_server, sent.fate, inspect(sent.datagram, near))
        {
            self.screens[sent.player].note_coming(at, tick);
        }
    }
}
