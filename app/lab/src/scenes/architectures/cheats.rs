//! What is done that an honest player would not do, and what the server does to a player.

/// For how many frames a cheat lasts: 5 s.
const LASTS: u32 = 300;

/// What is done in one frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ActiveCheats {
    /// The client's clock runs twice as fast (E4).
    pub clock: bool,
    /// The client's directions are three long (E4).
    pub direction: bool,
    /// The client ignores what the server says, a resync too (Q14).
    pub deaf: bool,
    /// The client is elsewhere (Q5).
    pub teleport: bool,
    /// The server sets the player elsewhere.
    pub push: bool,
}

/// What was begun, and lasts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cheats {
    /// What happens in the next frame alone.
    once: ActiveCheats,
    /// How many frames are left of each.
    clock: u32,
    direction: u32,
    deaf: u32,
}

impl Cheats {
    /// Whether it knows the name.
    pub fn begin(&mut self, name: &str) -> bool {
        match name {
            "double_clock" => self.clock = LASTS,
            "triple_direction" => self.direction = LASTS,
            "ignored_resync" => self.deaf = LASTS,
            "client_teleport" => self.once.teleport = true,
            "teleport" => self.once.push = true,
            _ => return false,
        }
        true
    }

    /// The next frame.
    pub fn take(&mut self) -> ActiveCheats {
        let lasts = |left: &mut u32| {
            let on = *left > 0;
            *left = left.saturating_sub(1);
            on
        };
        let (clock, direction, deaf) = (lasts(&mut self.clock), lasts(&mut self.direction), lasts(&mut self.deaf));
        ActiveCheats { clock, direction, deaf, ..core::mem::take(&mut self.once) }
    }
}
