//! The scenes, and what is said of each.

/// What the page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scene {
    /// Of the session: the person's own cube, and what becomes of its predictions.
    Prediction,
    /// Of the session: the others, as the person's client shows them.
    Remote,
    /// Beside it: one owner, shown by every curve in a lane of its own.
    Styles,
    /// Beside it: the first article's three architectures.
    Qiita,
    /// Beside it: the second article's server, which is stepped by arriving inputs, and a session.
    Stepping,
    /// Beside it: an owner that moves by frame, by every strategy.
    Shared,
    /// Beside it: rigid bodies in an exact session, in 3D.
    Physics,
    /// Beside it: hundreds of entities, of which a budget of bytes tells.
    Crowd,
    /// Beside it: two who shoot at each other at a corner, and how the server judges that.
    Peek,
}

impl Scene {
    /// All, in the order of their codes.
    pub const ALL: [Scene; 9] = [
        Scene::Prediction,
        Scene::Remote,
        Scene::Styles,
        Scene::Qiita,
        Scene::Stepping,
        Scene::Shared,
        Scene::Physics,
        Scene::Crowd,
        Scene::Peek,
    ];
    /// Those of the session.
    pub const OF_SESSION: [Scene; 2] = [Scene::Prediction, Scene::Remote];
    /// Those of a session with a person in it, whichever engine runs it.
    pub const WITH_PERSON: [Scene; 4] = [Scene::Prediction, Scene::Remote, Scene::Stepping, Scene::Physics];

    /// Whether it shows the session itself, and not an engine beside it.
    pub fn is_of_session(self) -> bool {
        Scene::OF_SESSION.contains(&self)
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Scene::Prediction => "prediction",
            Scene::Remote => "remote",
            Scene::Styles => "styles",
            Scene::Qiita => "qiita",
            Scene::Stepping => "stepping",
            Scene::Shared => "shared",
            Scene::Physics => "physics",
            Scene::Crowd => "crowd",
            Scene::Peek => "peek",
        }
    }

    /// What it is about, in a line, where the own cube is predicted or not.
    pub fn title(self, predicted: bool) -> &'static str {
        match self {
            Scene::Prediction if predicted => "You play ahead of the server",
            Scene::Prediction => "You wait for the server",
            Scene::Remote => "The others are shown in the past",
            Scene::Styles => "One path, drawn by different methods",
            Scene::Qiita => "Who decides where you are?",
            Scene::Stepping => "Who keeps the server's time?",
            Scene::Shared => "Moved in frames, sent in ticks",
            Scene::Physics => "A whole pile is predicted",
            Scene::Crowd => "More moves than can be sent",
            Scene::Peek => "You shoot at what was",
        }
    }

    /// What to look at in it, in a sentence or two.
    pub fn look(self, predicted: bool) -> &'static str {
        match self {
            Scene::Prediction if predicted => {
                "Your cube answers at once; the server's comes after it. Where they come apart, yours slides back, and a \
                 mark says why."
            }
            Scene::Prediction => {
                "A key travels there, and what comes of it back, before your cube moves. The green outline is where it would \
                 be without a network."
            }
            Scene::Remote => {
                "A line joins where you see another player to where they are by now. Smooth and late, or in time and \
                 guessed: that is the choice."
            }
            Scene::Styles => {
                "Each lane gets the same few updates. Compare the path it draws with the true one, faint below it, and how \
                 late it is."
            }
            Scene::Qiita => {
                "One key in three architectures: look on whose screen your cube moves at once, and who waits for a round \
                 trip."
            }
            Scene::Stepping => {
                "The article's server waits for your inputs; a session's keeps its own time. Lose some, \
                 and see who stands still and who is corrected."
            }
            Scene::Shared => {
                "The player who holds the cube moves it in frames; ticks capture it for the others. Hold a direction, and \
                 see whose steps are uneven."
            }
            Scene::Physics => {
                "Your cube drives into the pile, and all that it pushes moves at once on your screen. The outlines are the \
                 server's bodies, which come after."
            }
            Scene::Crowd => {
                "You get only so many bytes a second: what is near comes first, and what turns orange is old. Halve the budget, or \
                 slow the link."
            }
            Scene::Peek => {
                "Space shoots at the other where you see them. The server looks back and judges the shot there, at the \
                 amber outline."
            }
        }
    }
}
