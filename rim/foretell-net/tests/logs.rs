//! What nobody finds in a log, however much is logged. By itself, as a process has one log.

mod common;

use common::{all_agree, join, join_with, play, rules, serve_config, start, token};
use foretell::{Rules, TickRate};
use foretell_net::{Closed, Connected, JoinConfig};
use std::io::Write;
use std::sync::{Arc, Mutex};
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panics while logging").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}

/// The ways in which bytes get into a log: as text, and in the middle of them as numbers and digits.
fn forms(text: String, bytes: &[u8]) -> [String; 4] {
    let middle = &bytes[bytes.len() / 2..][..8];
    let list = format!("{middle:?}");
    let hex: String = middle.iter().map(|byte| format!("{byte:02x}")).collect();
    let escaped = middle.escape_ascii().to_string();
    [text, list.trim_matches(['[', ']']).to_owned(), hex, escaped]
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_tokens_nor_tickets_are_logged_even_at_the_finest_level() {
    let log = Log::default();
    let finest = tracing::level_filters::LevelFilter::TRACE;
    tracing_subscriber::fmt().with_ansi(false).with_max_level(finest).with_writer(log.clone()).init();
    let server = start(serve_config()).await;
    let url = server.url("127.0.0.1");
    let used = token("alice");
    let mut guests = [join(&url, used.clone()).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
    assert!(join(&url, used.clone()).await.is_err(), "used");
    let ticket = guests[0].player.ticket().clone();
    let mut guests = [join(&url, ticket.clone()).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
    let [alice] = guests;
    alice.player.leave().await;
    // A name that would be two fields, and one that would turn the line around.
    for name in ["x player=1", "a\"b", "\u{202e}evil"] {
        drop(join(&url, token(name)).await.expect("admitted"));
    }
    // Who is not let in is there with the reason.
    let other = Rules { tick_rate: TickRate::hz(30), ..rules() };
    let mut guests = [join_with(&url, token("bob"), JoinConfig::new(other)).await.expect("admitted")];
    let put_out = Connected::Closed(Closed::Incompatible);
    play(&mut guests, "it is put out", |guests| guests[0].player.connected() == put_out).await;
    let logged = String::from_utf8_lossy(&log.0.lock().expect("nobody panicked")).into_owned();
    assert!(logged.contains("admitted account=\"alice\"") && logged.contains("quinn"), "something is logged");
    let reason = "not let in account=\"bob\" why=the two ends play different games, or different builds of one";
    assert!(logged.contains(reason), "{logged}");
    for quoted in [r#"account="x player=1""#, r#"account="a\"b""#, r#"account="\u{202e}evil""#] {
        assert!(logged.contains(quoted), "{quoted}");
    }
    assert!(!logged.contains('\u{202e}'));
    let secrets = [forms(used.reveal(), used.as_bytes()), forms(ticket.reveal(), ticket.as_bytes())];
    for secret in secrets.iter().flatten() {
        assert!(!logged.contains(secret.as_str()), "{secret}");
    }
}
