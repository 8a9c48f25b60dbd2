//! The command line.

use crate::bench::{self, BenchArgs};
use crate::bots::{self, BotsArgs};
use crate::join::{self, JoinArgs};
use crate::lab::{self, LabArgs};
use crate::replay::{self, ReplayArgs};
use crate::serve::{self, ServeArgs};
use crate::sweep::{self, SweepArgs};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Netcode for games: see and measure prediction, rollback and correction.
#[derive(Parser)]
#[command(name = "foretell", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    lab: LabArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Serves the lab, a page in which a session on a bad network is played and measured; the default.
    Lab(LabArgs),
    /// Runs plans on virtual time, prints what was measured, and exits with 1 where a threshold is not met.
    Sweep(SweepArgs),
    /// Runs a flight recording again, prints its corrections with their causes, and exits with 1 where it is not the same.
    Replay(ReplayArgs),
    /// Runs a dedicated server of the arena or of the pile, for players with programs and browsers.
    Serve(ServeArgs),
    /// Plays on a server from the terminal, and shows how the connection fares.
    Join(JoinArgs),
    /// Lets so many bots play on a server over the network, and prints what they and the server have measured.
    Bots(BotsArgs),
    /// Measures what the netcode costs on this machine, on virtual time and without a network.
    Bench(BenchArgs),
}

/// Runs the program. What goes wrong is one sentence on stderr.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            // Help or version; if stdout is closed nobody wants it.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{}", sentence(&error));
            return ExitCode::from(2);
        }
    };
    let done = match cli.command.unwrap_or(Command::Lab(cli.lab)) {
        Command::Lab(args) => lab::run(args).map(|()| ExitCode::SUCCESS),
        Command::Sweep(args) => Ok(sweep::run(args)),
        Command::Replay(args) => Ok(replay::run(&args)),
        Command::Join(args) => join::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Bots(args) => bots::run(&args),
        Command::Bench(args) => Ok(bench::run(args)),
        Command::Serve(args) => serve::run(args).map(|()| ExitCode::SUCCESS),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What clap has to say, without the usage.
fn sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or(&text);
    let first = first.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            // Of the command that was named before it, as clap names it in the usage.
            let (program, usage) = (Cli::command(), text.split("Usage: ").nth(1).unwrap_or_default());
            let words = usage.split_whitespace();
            let command = words.fold(&program, |above, word| above.find_subcommand(word).unwrap_or(above));
            let names: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
            format!("{first}; accepted are {}", names.join(", "))
        }
        ErrorKind::UnknownArgument => format!("{first}; --help lists those that are accepted"),
        _ => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(arguments: &[&str]) -> String {
        let arguments = ["foretell"].iter().chain(arguments);
        Cli::try_parse_from(arguments).err().map(|error| sentence(&error)).expect("it is refused")
    }

    #[test]
    fn a_wrong_value_gets_one_line_that_says_what_is_accepted() {
        for (arguments, accepted) in [
            (&["--port", "70000"][..], "a number from 0 to 65535"),
            (&["lab", "--port", "x"], "a number from 0 to 65535"),
            (&["--bind", "here"], "127.0.0.1"),
            (&["labb"], "accepted are lab"),
            (&["--prot", "1"], "--help"),
        ] {
            let complaint = complaint(arguments);
            assert!(complaint.contains(accepted) && complaint.lines().count() == 1, "{arguments:?}: {complaint}");
        }
    }

    #[test]
    fn an_unknown_word_after_a_command_is_answered_with_what_that_command_accepts() {
        for unknown in ["crwd", "xyz"] {
            let complaint = complaint(&["bench", unknown]);
            let expected = format!("error: unrecognized subcommand '{unknown}'; accepted are crowd");
            assert_eq!(complaint, expected);
        }
    }

    #[test]
    fn without_a_command_it_is_the_lab() {
        let cli = Cli::try_parse_from(["foretell", "--port", "0"]).expect("well-formed");
        assert!(cli.command.is_none() && cli.lab.port == 0);
        Cli::command().debug_assert();
    }
}
