//! What the terminal shows: the room from above, and the status below; without a terminal a line each second.

use super::connection_status::ConnectionStatus;
use super::seat::Seat;
use anyhow::Result;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::style::{Color, Print, ResetColor, SetForegroundColor};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
};
use crossterm::{execute, queue};
use foretell::{PlayerId, Views};
use foretell_arena::Game;
use std::io::{Write, stdout};
use std::time::{Duration, Instant};

/// The room in characters, a metre each way being two of them wide and one high.
const WIDTH: usize = 41;
const HEIGHT: usize = 21;
/// Half the room's edge, in metres.
const WALL_M: f64 = 10.0;

/// What is seen of a place: the last of these that is there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Empty,
    /// What belongs to nobody.
    Small,
    Other,
    Own,
}

/// The terminal, until it is dropped.
pub struct Screen {
    is_terminal: bool,
    told: Option<Instant>,
    views: Views,
}

impl Screen {
    pub fn new(is_terminal: bool) -> Result<Screen> {
        if is_terminal {
            execute!(stdout(), EnterAlternateScreen, Hide)?;
        }
        Ok(Screen { is_terminal, told: None, views: Views::new() })
    }

    /// Shows what there is now.
    pub fn draw<G: Game>(&mut self, seat: &Seat<G>, status: &ConnectionStatus, now: Instant) -> Result<()> {
        if self.is_terminal {
            seat.present(&mut self.views);
            return draw_room(&self.views, seat.player(), status);
        }
        if self.told.is_none_or(|told| now - told >= Duration::from_secs(1)) {
            self.told = Some(now);
            writeln!(stdout(), "{}", status.line())?;
        }
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.is_terminal {
            let _ = execute!(stdout(), Show, LeaveAlternateScreen);
        }
    }
}

fn draw_room(views: &Views, own: Option<PlayerId>, status: &ConnectionStatus) -> Result<()> {
    let mut room = [[Cell::Empty; WIDTH]; HEIGHT];
    for view in views {
        let cell = match view.owner {
            PlayerId::SERVER => Cell::Small,
            player if Some(player) == own => Cell::Own,
            _ => Cell::Other,
        };
        if let Some((row, column)) = place(view.pose().position) {
            room[row][column] = cell.max(room[row][column]);
        }
    }
    let mut out = stdout();
    queue!(out, BeginSynchronizedUpdate, MoveTo(0, 0), Print(format!("+{}+\r\n", "-".repeat(WIDTH))))?;
    for row in &room {
        queue!(out, Print('|'))?;
        for cell in row {
            match cell {
                Cell::Empty => queue!(out, Print(' '))?,
                Cell::Small => queue!(out, Print('.'))?,
                Cell::Other => queue!(out, SetForegroundColor(Color::Yellow), Print('o'), ResetColor)?,
                Cell::Own => queue!(out, SetForegroundColor(Color::Green), Print('#'), ResetColor)?,
            }
        }
        queue!(out, Print("|\r\n"))?;
    }
    queue!(out, Print(format!("+{}+\r\n", "-".repeat(WIDTH))))?;
    for part in status.line().split(" | ").flat_map(|part| part.split(", ")) {
        queue!(out, Print(part), Clear(ClearType::UntilNewLine), Print("\r\n"))?;
    }
    queue!(
        out,
        Print("arrows or WASD move, space jumps, Esc leaves"),
        Clear(ClearType::FromCursorDown),
        EndSynchronizedUpdate
    )?;
    Ok(out.flush()?)
}

/// Row and column of a position: z is up on the screen.
fn place(position: [f64; 3]) -> Option<(usize, usize)> {
    let [x, _, z] = position;
    let part = |metres: f64, cells: usize| {
        #[expect(clippy::cast_precision_loss, reason = "a few")]
        let cell = ((metres + WALL_M) / (2.0 * WALL_M) * (cells - 1) as f64).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held to the room")]
        (0.0..cells as f64).contains(&cell).then_some(cell as usize)
    };
    Some((part(-z, HEIGHT)?, part(x, WIDTH)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_is_seen_from_above_with_z_up() {
        assert_eq!(place([-10.0, 3.0, 10.0]), Some((0, 0)));
        assert_eq!(place([0.0; 3]), Some((HEIGHT / 2, WIDTH / 2)));
        assert_eq!(place([10.0, 0.0, -10.0]), Some((HEIGHT - 1, WIDTH - 1)));
        assert_eq!(place([f64::NAN, 0.0, 0.0]), None);
        assert_eq!(place([11.0, 0.0, 0.0]), None);
    }
}
