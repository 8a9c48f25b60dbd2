//! What a sweep is asked for.

use std::path::PathBuf;

/// What is run, and where it is written what came out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SweepOptions {
    /// Plan files, or names of the plans that are built in; empty for all that are built in.
    pub plans: Vec<PathBuf>,
    /// A short run: the first seed of each plan; of curves the first seed and a tenth of the time.
    pub quick: bool,
    /// Where every row is written as JSON. The same plans and seeds give the same bytes.
    pub json: Option<PathBuf>,
    /// Where a table and charts are written as one HTML file that needs nothing from the network.
    pub report: Option<PathBuf>,
    /// What each network costs is written here as a table in Markdown, and as another what the second article's system would
    /// have cost, whose server is stepped by arriving inputs.
    pub compare: Option<PathBuf>,
    /// No plan is run, but every curve by which others can be shown; how well each shows them is written here as tables in
    /// Markdown.
    pub curves: Option<PathBuf>,
    /// The directory into which flight recordings of the first row are written: of its server and of each client.
    pub record: Option<PathBuf>,
}
