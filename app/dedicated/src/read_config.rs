//! Reads the configuration: a file, and single keys over it.

use super::address;
use super::config::Config;
use anyhow::{Context, Result, anyhow};
use std::path::Path;

/// Reads a file, where there is one, and sets single keys over it, each as `key=value` with a value of TOML.
///
/// # Errors
/// One sentence: which key is wrong, and what is accepted.
pub fn read(file: Option<&Path>, settings: &[String]) -> Result<Config> {
    let text =
        file.map(|file| std::fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display())));
    let name = file.map_or("the configuration".into(), |file| file.display().to_string());
    let text = text.transpose()?.unwrap_or_default();
    let mut table: toml::Table = toml::from_str(&text).map_err(|error| anyhow!("{name}: {error}"))?;
    for setting in settings {
        set(&mut table, setting).with_context(|| format!("--set {setting}"))?;
    }
    let wrong = |error: toml::de::Error| anyhow!("{name}: {}", error.to_string().trim_end().replace('\n', " "));
    let mut config: Config = table.try_into().map_err(wrong)?;
    config.check()?;
    address::settle(&mut config)?;
    Ok(config)
}

/// Sets `a.b=value` in a table. What is no value of TOML is a text.
fn set(table: &mut toml::Table, setting: &str) -> Result<()> {
    let (path, value) = setting.split_once('=').context("a setting is KEY=VALUE, as in session.players_max=16")?;
    let (section, key) = path.split_once('.').context("a key has two parts, as in session.players_max")?;
    let value = value.parse::<toml::Value>().unwrap_or_else(|_| toml::Value::String(value.into()));
    let section = table.entry(section).or_insert_with(|| toml::Table::new().into());
    section.as_table_mut().with_context(|| format!("{path} is in no table"))?.insert(key.into(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(settings: &[&str]) -> String {
        let settings: Vec<_> = settings.iter().map(|&setting| setting.into()).collect();
        format!("{:#}", read(None, &settings).expect_err("refused"))
    }

    #[test]
    fn a_single_key_is_set_over_the_file() {
        let settings = ["session.players_max=7", "metrics.listen=", "server.host=play.example.org"].map(str::to_owned);
        let config = read(None, &settings).expect("well-formed");
        assert_eq!((config.session.players_max, config.metrics.listen), (Some(7), None));
        assert_eq!(config.server.host, "play.example.org");
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_accepted() {
        for (settings, named) in [
            (&["session.player_max=7"][..], "players_max"),
            (&["session.players_max=-1"], "u16"),
            (&["players_max=1"], "two parts"),
            (&["session.players_max"], "KEY=VALUE"),
            (&["metrics.listen=here"], "127.0.0.1:9464"),
            (&["access.token_key=abc"], "32 bytes in base64"),
            (&["access.guests=true", "access.token_key=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="], "one issuer"),
            (&["access.audience=\"a\\nb\""], "no control characters"),
            (&["session.game=chess"], "`arena` or `pile`"),
            (&["session.cubes=101"], "session.cubes is 0 to 100"),
            (&["session.game=pile", "session.players_max=17"], "session.players_max is 0 to 16 in the pile"),
            (&["session.snapshot_rate=0"], "1 to 60"),
            (&["session.snapshot_rate=61"], "1 to 60"),
            (&["certificates.key=a.pem"], "both or none"),
            (&["certificates.key=Cargo.toml", "certificates.chain=no.pem"], "certificates.chain: no.pem can't be read"),
            (&["certificates.key=no.pem", "certificates.chain=Cargo.toml"], "certificates.key: no.pem can't be read"),
            (&["page.origin=https://play.example.org/arena"], "like https://play.example.org"),
            (&["page.proxies=[\"proxy.example\"]"], "10.0.0.0/8"),
            (&["page.megabits_per_second=0"], "page.megabits_per_second is at least 1"),
            (&["limits.joins_per_second=0"], "limits.joins_per_second is at least 1"),
            (&["log.format=xml"], "json"),
        ] {
            let sentence = refused(settings);
            assert!(sentence.contains(named), "{settings:?}: {sentence}");
        }
    }
}
