//! From the configuration to a server: who may play, and what outlasts a restart.

use super::address::out_of_reach;
use super::config::Config;
use anyhow::{Context, Result, bail};
use foretell::{Interest, SendRate};
use foretell_arena::Game;
use foretell_net::{Access, Account, Certificates, Issuer, ServeConfig, Token, UnixTime, random_key};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

/// How long a guest has from the page to the server.
const TOKEN_LIFETIME: Duration = Duration::from_secs(60);

/// Who gives tokens to guests.
pub enum Guests {
    /// Nobody: players have tokens of another issuer.
    None,
    /// Anybody can.
    Insecure,
    /// This server, with a key of this start.
    Signed(Issuer),
}

impl Guests {
    /// Whether there are any.
    pub fn come(&self) -> bool {
        !matches!(self, Guests::None)
    }

    /// A token for a guest, where there are any.
    pub fn token(&self, account: &Account) -> Option<Token> {
        match self {
            Guests::None => None,
            Guests::Insecure => Some(Token::insecure(account, UnixTime::now())),
            Guests::Signed(issuer) => Some(issuer.issue(account, UnixTime::now(), TOKEN_LIFETIME)),
        }
    }
}

/// What the server runs with, and who lets guests in.
pub fn set_up<G: Game>(config: &Config, insecure: bool) -> Result<(ServeConfig, Guests)> {
    let (mut access, guests) = access(config, insecure)?;
    if let Some(sentence) = out_of_reach(config) {
        tracing::warn!("{sentence}");
    }
    let state_dir = config.server.state_dir.as_deref();
    if let Some(folder) = state_dir {
        make_private(folder)?;
        access.tickets_kept_in = Some(folder.join("tickets"));
    }
    let certificates = match (&config.certificates.chain, &config.certificates.key) {
        (Some(chain), Some(key)) => Certificates::Files { chain: chain.clone(), key: key.clone() },
        _ => self_signed(&config.server.host, state_dir),
    };
    let session = &config.session;
    let (defaults, game) = (ServeConfig::new(G::rules(), access), G::server());
    let serve = ServeConfig {
        session: foretell::ServerConfig {
            players_max: session.players_max.unwrap_or(game.players_max),
            snapshot_rate: SendRate::Hz(session.snapshot_rate),
            interest: if session.nearest > 0 { Interest::Nearest(session.nearest) } else { Interest::Everything },
            keep_lost: Duration::from_secs(session.keep_lost_s.into()),
            ..game
        },
        certificates,
        limits: config.limits.limits(G::JOINS_PER_SECOND),
        origins: config.access.origins.clone(),
        idle_timeout: Duration::from_secs(config.server.idle_timeout_s.into()),
        sockets: config.server.websockets,
        ..defaults
    };
    Ok((serve, guests))
}

fn access(config: &Config, insecure: bool) -> Result<(Access, Guests)> {
    let audience = &config.access.audience;
    if insecure {
        return Ok((Access::insecure_development(), Guests::Insecure));
    }
    if config.access.guests {
        let issuer = Issuer::new(&random_key(), audience);
        return Ok((Access::new(audience, issuer.public_key()), Guests::Signed(issuer)));
    }
    let Some(key) = config.token_key()? else {
        bail!(
            "nobody could play: set access.token_key to the public key of who issues tokens, or access.guests = true, or \
             start with --insecure to try things out"
        )
    };
    Ok((Access::new(audience, key), Guests::None))
}

/// For the name by which players come, and for this machine's own.
fn self_signed(host: &str, state_dir: Option<&Path>) -> Certificates {
    let mut names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    let host = foretell_http::unbracketed(host);
    if !names.iter().any(|name| name == host) {
        names.push(host.to_owned());
    }
    Certificates::SelfSigned { names, kept_in: state_dir.map(|folder| folder.join("certificates")) }
}

fn make_private(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("server.state_dir: {} can't be made", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_config;
    use foretell_arena::Pitch;
    use foretell_pile::Pile;
    use std::fs;

    fn read(settings: &[&str]) -> Config {
        let settings: Vec<_> = settings.iter().map(|&setting| setting.into()).collect();
        read_config::read(None, &settings).expect("well-formed")
    }

    #[test]
    fn a_server_that_nobody_could_join_says_what_to_do() {
        let sentence = set_up::<Pitch>(&read(&[]), false).err().expect("refused").to_string();
        assert!(["access.token_key", "access.guests", "--insecure"].iter().all(|way| sentence.contains(way)));
        let guest = Account::new("guest").expect("a name");
        for (settings, insecure, issues) in [
            (&["access.guests=true"][..], false, true),
            (&[], true, true),
            (&["access.token_key=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="], false, false),
        ] {
            let (_, guests) = set_up::<Pitch>(&read(settings), insecure).expect("possible");
            assert_eq!(guests.token(&guest).is_some(), issues, "{settings:?}");
        }
    }

    #[test]
    fn each_game_has_as_many_places_as_it_is_made_for_where_nobody_says_otherwise() {
        for (settings, arena, pile) in [(&[][..], 64, 16), (&["session.players_max=7"], 7, 7)] {
            let config = read(settings);
            let [of_arena, of_pile] =
                [set_up::<Pitch>(&config, true), set_up::<Pile>(&config, true)].map(|made| made.expect("possible").0);
            assert_eq!((of_arena.session.players_max, of_pile.session.players_max), (arena, pile));
            assert_eq!((of_arena.limits.joins_per_second, of_pile.limits.joins_per_second), (4, 1));
            assert!(of_pile.rules.exact && of_pile.session.relay_inputs && !of_arena.session.relay_inputs);
        }
    }

    #[test]
    fn what_outlasts_a_restart_is_in_a_folder_that_nobody_else_may_read() {
        let folder = std::env::temp_dir().join(format!("foretell-state-{}", std::process::id()));
        let state_dir = format!("server.state_dir={}", folder.join("deep").display());
        let (serve, _) = set_up::<Pitch>(&read(&[&state_dir]), true).expect("possible");
        assert_eq!(serve.access.tickets_kept_in, Some(folder.join("deep/tickets")));
        let permissions = fs::metadata(folder.join("deep")).expect("there").permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o777, 0o700);
        fs::remove_dir_all(&folder).expect("removable");
    }
}
