//! Keys of a terminal as buttons that are held.
//!
//! Most terminals tell of presses alone, again and again while a key is held; so a press holds for a moment. Those that know
//! the keyboard protocol of kitty tell of releases too.

use anyhow::Result;
use crossterm::event::{
    Event, KeyCode, KeyEventKind, KeyModifiers, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags, poll, read,
};
use crossterm::execute;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode, supports_keyboard_enhancement};
use foretell_arena::Buttons;
use std::io::stdout;
use std::time::{Duration, Instant};

/// A press holds for so long where nobody tells of the release: from the first repetition of a held key to the next.
const HOLD: Duration = Duration::from_millis(120);
const KEYS: [[KeyCode; 2]; 5] = [
    [KeyCode::Up, KeyCode::Char('w')],
    [KeyCode::Down, KeyCode::Char('s')],
    [KeyCode::Left, KeyCode::Char('a')],
    [KeyCode::Right, KeyCode::Char('d')],
    [KeyCode::Char(' '), KeyCode::Enter],
];

/// The keyboard of the terminal, until it is dropped.
pub struct Keyboard {
    /// Until when each button is held.
    held: [Option<Instant>; 5],
    tells_releases: bool,
}

impl Keyboard {
    pub fn new() -> Result<Keyboard> {
        enable_raw_mode()?;
        let tells_releases = supports_keyboard_enhancement().unwrap_or(false);
        let keyboard = Keyboard { held: [None; 5], tells_releases };
        if tells_releases {
            execute!(stdout(), PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::REPORT_EVENT_TYPES))?;
        }
        Ok(keyboard)
    }

    /// What is held now; `None` when the player wants to leave.
    pub fn read(&mut self, now: Instant) -> Result<Option<Buttons>> {
        while poll(Duration::ZERO)? {
            let Event::Key(key) = read()? else { continue };
            let control_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
            if control_c || matches!(key.code, KeyCode::Esc | KeyCode::Char('q')) {
                return Ok(None);
            }
            self.note(key.code, key.kind, now);
        }
        let bits = self.held.iter().enumerate().filter(|(_, until)| until.is_some_and(|until| until > now));
        Ok(Some(Buttons::from_bits(bits.fold(0, |bits, (nth, _)| bits | 1 << nth))))
    }

    fn note(&mut self, code: KeyCode, kind: KeyEventKind, now: Instant) {
        let Some(nth) = KEYS.iter().position(|codes| codes.contains(&code)) else { return };
        let for_long = if self.tells_releases { Duration::from_secs(60) } else { HOLD };
        self.held[nth] = (kind != KeyEventKind::Release).then_some(now + for_long);
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        if self.tells_releases {
            let _ = execute!(stdout(), PopKeyboardEnhancementFlags);
        }
        let _ = disable_raw_mode();
    }
}

/// What is played where there is no keyboard: a square, two seconds a side.
pub fn walk(since: Duration) -> Buttons {
    const SIDES: [u8; 4] = [8, 1, 4, 2];
    Buttons::from_bits(SIDES[(since.as_secs() / 2 % 4) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(keyboard: &mut Keyboard, code: KeyCode, kind: KeyEventKind, later: Duration) -> bool {
        let now = Instant::now();
        keyboard.note(code, kind, now);
        keyboard.held[1].is_some_and(|until| until > now + later)
    }

    #[test]
    fn a_press_holds_for_a_moment_or_until_the_release_where_that_is_told() {
        let second = Duration::from_secs(1);
        let mut silent = Keyboard { held: [None; 5], tells_releases: false };
        assert!(after(&mut silent, KeyCode::Down, KeyEventKind::Press, HOLD / 2));
        assert!(!after(&mut silent, KeyCode::Char('s'), KeyEventKind::Press, second));
        let mut telling = Keyboard { held: [None; 5], tells_releases: true };
        assert!(after(&mut telling, KeyCode::Down, KeyEventKind::Press, second));
        assert!(after(&mut telling, KeyCode::Left, KeyEventKind::Release, second));
        assert!(!after(&mut telling, KeyCode::Down, KeyEventKind::Release, Duration::ZERO));
        // Leaving raw mode is the terminal's business, and there is none.
        std::mem::forget((silent, telling));
    }
}
