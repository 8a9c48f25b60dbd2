//! Who plays what, how long, and at which rates.

/// Who plays what, how long, and at which rates.
#[derive(Clone, PartialEq, Debug)]
pub struct Session {
    /// Ticks per second, 10 to 240. Default 64.
    pub tick_rate: u16,
    /// Datagrams of inputs per second; divides the tick rate. Default the tick rate.
    pub send_rate: u16,
    /// Snapshots per second; divides the tick rate. Default the tick rate.
    pub snapshot_rate: u16,
    /// How long each player is measured, in seconds, 1 to 3600. Default 60.
    pub seconds: u32,
    /// How many bots play, 1 to 16. Default 2, so that each sees another.
    pub players: usize,
    /// A run for each of them. Default 1, 2, 3.
    pub seeds: Vec<u64>,
    /// What the bots press.
    pub input: Keys,
    /// How often the server pushes a body by 3 m/s, per minute, 0 to 600. Default 0.
    pub impulses_per_min: f64,
    /// The largest lead beyond the fastest way of an input, in ms, 0 to 10,000. Default what a client has by itself.
    pub lead_max_ms: Option<u32>,
    /// How much the clients' clocks gain on the server's, in ppm, -50,000 to 50,000, beside what each is off by itself: up to
    /// 100 either way. Default 0.
    pub skew_ppm: i32,
}

impl Default for Session {
    fn default() -> Session {
        Session {
            tick_rate: 64,
            send_rate: 64,
            snapshot_rate: 64,
            seconds: 60,
            players: 2,
            seeds: vec![1, 2, 3],
            input: Keys::Scripted,
            impulses_per_min: 0.0,
            lead_max_ms: None,
            skew_ppm: 0,
        }
    }
}

/// What the bots press.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Keys {
    /// Directions and jumps at random, from the seed. The default.
    #[default]
    Scripted,
    /// The keys in `plans/walk.keys`, over and over; each player begins at another place.
    Recorded,
}
