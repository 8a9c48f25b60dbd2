//! The configuration of the dedicated server: TOML, whose every key stands explained in `default.toml`.

use super::game::GameName;
use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use foretell_net::{Account, Limits};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What `--print-config` prints.
pub const DEFAULT: &str = include_str!("default.toml");

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub server: ServerKeys,
    pub session: SessionKeys,
    pub access: AccessKeys,
    pub certificates: CertificateKeys,
    pub limits: LimitKeys,
    pub page: PageKeys,
    pub metrics: MetricsKeys,
    pub log: LogKeys,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerKeys {
    pub listen: SocketAddr,
    pub host: String,
    pub websockets: bool,
    pub idle_timeout_s: u32,
    pub drain_s: u32,
    pub state_dir: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionKeys {
    pub game: GameName,
    pub cubes: u16,
    pub players_max: Option<u16>,
    pub snapshot_rate: u16,
    pub nearest: u16,
    pub keep_lost_s: u32,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AccessKeys {
    pub guests: bool,
    pub token_key: Option<String>,
    pub audience: String,
    pub origins: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CertificateKeys {
    pub chain: Option<PathBuf>,
    pub key: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitKeys {
    pub handshakes_max: usize,
    pub handshakes_unproven_max: usize,
    pub handshakes_per_address_max: usize,
    pub per_address_max: usize,
    pub joins_per_second: Option<u32>,
    pub joins_per_address_per_minute: u32,
    pub admissions_per_account_per_minute: u32,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageKeys {
    #[serde(with = "nowhere")]
    pub listen: Option<SocketAddr>,
    pub origin: Option<String>,
    pub proxies: Vec<String>,
    pub megabits_per_second: u32,
    pub folder: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MetricsKeys {
    #[serde(with = "nowhere")]
    pub listen: Option<SocketAddr>,
    pub hosts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogKeys {
    pub filter: String,
    pub format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

const LOOPBACK: [u8; 4] = [127, 0, 0, 1];

impl Default for ServerKeys {
    fn default() -> ServerKeys {
        ServerKeys {
            listen: (LOOPBACK, 4433).into(),
            host: "127.0.0.1".into(),
            websockets: true,
            idle_timeout_s: 10,
            drain_s: 30,
            state_dir: None,
        }
    }
}

impl Default for SessionKeys {
    fn default() -> SessionKeys {
        SessionKeys {
            game: GameName::Arena,
            cubes: foretell_pile::CUBES_MAX,
            players_max: None,
            snapshot_rate: 60,
            nearest: 32,
            keep_lost_s: 60,
        }
    }
}

impl SessionKeys {
    fn check(&self) -> Result<()> {
        use foretell_pile::{CUBES_MAX, PLAYERS_MAX};
        ensure!(self.cubes <= CUBES_MAX, "session.cubes is 0 to {CUBES_MAX}");
        ensure!(
            self.game != GameName::Pile || self.players_max.is_none_or(|players| players <= PLAYERS_MAX),
            "session.players_max is 0 to {PLAYERS_MAX} in the pile"
        );
        ensure!((1..=60).contains(&self.snapshot_rate), "session.snapshot_rate is 1 to 60");
        Ok(())
    }
}

impl Default for AccessKeys {
    fn default() -> AccessKeys {
        AccessKeys { guests: false, token_key: None, audience: "foretell arena".into(), origins: Vec::new() }
    }
}

impl Default for LimitKeys {
    fn default() -> LimitKeys {
        let limits = Limits::default();
        LimitKeys {
            handshakes_max: limits.handshakes_max,
            handshakes_unproven_max: limits.handshakes_unproven_max,
            handshakes_per_address_max: limits.handshakes_per_address_max,
            per_address_max: limits.per_address_max,
            joins_per_second: None,
            joins_per_address_per_minute: limits.joins_per_address_per_minute,
            admissions_per_account_per_minute: limits.admissions_per_account_per_minute,
        }
    }
}

impl LimitKeys {
    /// With none of one of them nobody could play.
    fn check(&self) -> Result<()> {
        for (key, value) in [
            ("handshakes_max", self.handshakes_max),
            ("handshakes_per_address_max", self.handshakes_per_address_max),
            ("per_address_max", self.per_address_max),
            ("joins_per_second", self.joins_per_second.unwrap_or(1) as usize),
            ("joins_per_address_per_minute", self.joins_per_address_per_minute as usize),
            ("admissions_per_account_per_minute", self.admissions_per_account_per_minute as usize),
        ] {
            ensure!(value >= 1, "limits.{key} is at least 1");
        }
        Ok(())
    }

    /// For a game with this number of new players per second, where nothing else is said.
    pub fn limits(&self, joins_per_second: u32) -> Limits {
        Limits {
            handshakes_max: self.handshakes_max,
            handshakes_unproven_max: self.handshakes_unproven_max,
            handshakes_per_address_max: self.handshakes_per_address_max,
            per_address_max: self.per_address_max,
            joins_per_second: self.joins_per_second.unwrap_or(joins_per_second),
            joins_per_address_per_minute: self.joins_per_address_per_minute,
            admissions_per_account_per_minute: self.admissions_per_account_per_minute,
        }
    }
}

impl Default for PageKeys {
    fn default() -> PageKeys {
        PageKeys {
            listen: Some((LOOPBACK, 8080).into()),
            origin: None,
            proxies: vec!["127.0.0.0/8".into(), "::1".into()],
            megabits_per_second: 100,
            folder: None,
        }
    }
}

impl Default for MetricsKeys {
    fn default() -> MetricsKeys {
        MetricsKeys { listen: Some((LOOPBACK, 9464).into()), hosts: Vec::new() }
    }
}

impl Default for LogKeys {
    fn default() -> LogKeys {
        LogKeys { filter: "info".into(), format: LogFormat::Text }
    }
}

impl Config {
    /// What no type of a key says.
    ///
    /// # Errors
    /// One sentence: which key is wrong, and what is accepted.
    pub fn check(&self) -> Result<()> {
        ensure!(self.server.idle_timeout_s >= 1, "server.idle_timeout_s is at least 1");
        ensure!(
            Account::new(&self.access.audience).is_some(),
            "access.audience has 1 to 64 bytes and no control characters"
        );
        self.session.check()?;
        self.limits.check()?;
        ensure!(self.page.megabits_per_second >= 1, "page.megabits_per_second is at least 1");
        let files = (&self.certificates.chain, &self.certificates.key);
        ensure!(files.0.is_some() == files.1.is_some(), "certificates.chain and certificates.key: both or none");
        for (name, file) in [("chain", files.0), ("key", files.1)] {
            let Some(file) = file else { continue };
            File::open(file).with_context(|| format!("certificates.{name}: {} can't be read", file.display()))?;
        }
        ensure!(
            !self.access.guests || self.access.token_key.is_none(),
            "either access.guests or access.token_key: a server knows one issuer"
        );
        self.token_key().map(drop)
    }

    /// The public key of the issuer, when there is one.
    pub fn token_key(&self) -> Result<Option<[u8; 32]>> {
        let Some(text) = &self.access.token_key else { return Ok(None) };
        match STANDARD.decode(text).ok().and_then(|key| key.try_into().ok()) {
            Some(key) => Ok(Some(key)),
            None => bail!("access.token_key is 32 bytes in base64: 44 characters, the last of them `=`"),
        }
    }

    pub fn drain(&self) -> Duration {
        Duration::from_secs(self.server.drain_s.into())
    }
}

/// An address, or an empty text for none.
mod nowhere {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use std::net::SocketAddr;

    pub fn serialize<S: Serializer>(address: &Option<SocketAddr>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&address.map_or_else(String::new, |address| address.to_string()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
        let text = String::deserialize(from)?;
        let wrong = |_| de::Error::custom("an address with a port, like 127.0.0.1:9464, or \"\" for none");
        (!text.is_empty()).then(|| text.parse().map_err(wrong)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_configuration_is_the_default_and_has_every_key() {
        let printed: Config = toml::from_str(DEFAULT).expect("well-formed");
        assert_eq!(printed, Config::default());
        // With the commented keys too.
        let all = DEFAULT.lines().map(|line| match line.strip_prefix("# ") {
            Some(key) if key.split_once(" = ").is_some_and(|(name, _)| !name.contains([' ', '`'])) => key,
            _ => line,
        });
        let all: Config = toml::from_str(&all.collect::<Vec<_>>().join("\n")).expect("well-formed");
        let keys = |config: &Config| {
            let table = toml::Table::try_from(config).expect("a table");
            table.values().map(|section| section.as_table().expect("a section").len()).sum::<usize>()
        };
        let full = Config {
            server: ServerKeys { state_dir: Some("x".into()), ..ServerKeys::default() },
            session: SessionKeys { players_max: Some(64), ..SessionKeys::default() },
            access: AccessKeys { token_key: Some("x".into()), ..AccessKeys::default() },
            certificates: CertificateKeys { chain: Some("x".into()), key: Some("x".into()) },
            limits: LimitKeys { joins_per_second: Some(4), ..LimitKeys::default() },
            page: PageKeys { origin: Some("x".into()), folder: Some("x".into()), ..PageKeys::default() },
            ..Config::default()
        };
        assert_eq!(keys(&all), keys(&full));
        assert!(all.token_key().expect("a key").is_some());
    }
}
