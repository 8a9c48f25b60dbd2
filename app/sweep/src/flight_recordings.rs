//! Flight recordings of a row: of its server and of each client.

use foretell_arena::Arena;
use foretell_sim::harness::Simulation;
use foretell_sim::record::{Recorder, Sink};
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the server's file.
pub const SERVER: &str = "server.flight";

/// What was recorded so far, in memory.
#[derive(Default)]
pub struct FlightRecordings {
    server: Option<Flight>,
    clients: Vec<Flight>,
}

type Flight = Arc<Mutex<Vec<u8>>>;

impl FlightRecordings {
    /// Begins to record the endpoints that have come into being since the last call, before anything happens to them.
    pub fn attach(&mut self, simulation: &mut Simulation<Arena>) {
        if self.server.is_none() {
            let (flight, sink) = flight();
            simulation.server.server.set_tap(Box::new(Recorder::new(sink)));
            self.server = Some(flight);
        }
        for player in simulation.players.iter_mut().skip(self.clients.len()) {
            let (flight, sink) = flight();
            player.client.set_tap(Box::new(Recorder::new(sink)));
            self.clients.push(flight);
        }
    }

    /// The names of the files and what is to stand in them.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let bytes = |flight: &Flight| flight.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let server = self.server.iter().map(|flight| (SERVER.to_owned(), bytes(flight)));
        let clients = self.clients.iter().zip(1..);
        let clients = clients.map(|(flight, number)| (format!("client-{number}.flight"), bytes(flight)));
        server.chain(clients).collect()
    }
}

fn flight() -> (Flight, Sink) {
    let flight = Flight::default();
    let written = Arc::clone(&flight);
    let sink = move |bytes: &[u8]| {
        written.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
    };
    (flight, Box::new(sink))
}
