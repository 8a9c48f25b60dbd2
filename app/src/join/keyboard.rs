//! Keys of a terminal as buttons that are held.
//!
//! Most terminals tell of presses alone, again and again while a key is held; so a press holds for a moment. Those that know
//! the keyboard protocol of kitty tell of releases too, where they are asked for all keys as escape codes, and do so while
//! they have the focus.

use anyhow::Result;
use crossterm::event::{
    DisableFocusChange, EnableFocusChange, Event, KeyCode, KeyEventKind, KeyModifiers, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags, poll, read,
};
use crossterm::execute;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode, supports_keyboard_enhancement};
use foretell_arena::Buttons;
use std::io::{self, Write, stdout};
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
            ask_for_releases(&mut stdout())?;
        }
        Ok(keyboard)
    }

    /// What is held now; `None` when the player wants to leave.
    pub fn read(&mut self, now: Instant) -> Result<Option<Buttons>> {
        while poll(Duration::ZERO)? {
            if !self.take(&read()?, now) {
                return Ok(None);
            }
        }
        let bits = self.held.iter().enumerate().filter(|(_, until)| until.is_some_and(|until| until > now));
        Ok(Some(Buttons::from_bits(bits.fold(0, |bits, (nth, _)| bits | 1 << nth))))
    }

    /// Takes in an event; whether the player stays.
    fn take(&mut self, event: &Event, now: Instant) -> bool {
        match event {
            Event::Key(key) => {
                let code = lower(key.code);
                let control_c = code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
                if control_c || matches!(code, KeyCode::Esc | KeyCode::Char('q')) {
                    return false;
                }
                self.note(code, key.kind, now);
            }
            Event::FocusLost => self.held = [None; 5],
            _ => {}
        }
        true
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
            let _ = execute!(stdout(), DisableFocusChange, PopKeyboardEnhancementFlags);
        }
        let _ = disable_raw_mode();
    }
}

/// Asks the terminal for the release of each key, and for the loss of the focus, after which no release is told.
fn ask_for_releases(terminal: &mut impl Write) -> io::Result<()> {
    let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
        | KeyboardEnhancementFlags::REPORT_EVENT_TYPES
        | KeyboardEnhancementFlags::REPORT_ALL_KEYS_AS_ESCAPE_CODES;
    execute!(terminal, PushKeyboardEnhancementFlags(flags), EnableFocusChange)
}

/// A letter as it is without Shift.
fn lower(code: KeyCode) -> KeyCode {
    match code {
        KeyCode::Char(letter) => KeyCode::Char(letter.to_ascii_lowercase()),
        code => code,
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
    use crossterm::event::KeyEvent;

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

    #[test]
    fn a_terminal_is_asked_for_the_release_of_each_key_and_what_is_held_is_let_go_with_the_focus() {
        let mut asked = Vec::new();
        ask_for_releases(&mut asked).expect("there is room");
        // Flags 1, 2 and 8 of kitty's protocol, and focus events.
        assert_eq!(asked, b"\x1b[>11u\x1b[?1004h");
        let (now, mut keyboard) = (Instant::now(), Keyboard { held: [None; 5], tells_releases: true });
        let capital = Event::Key(KeyEvent::new(KeyCode::Char('W'), KeyModifiers::SHIFT));
        assert!(keyboard.take(&capital, now) && keyboard.held[0].is_some());
        assert!(keyboard.take(&Event::FocusLost, now));
        assert_eq!(keyboard.held, [None; 5]);
        std::mem::forget(keyboard);
    }
}
