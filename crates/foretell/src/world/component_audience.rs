//! Who is told a component, and who predicts it.

use super::PlayerId;

/// Some of the players, named by the game: a team, a squad, those who spectate. Who is in it is up to the game's
/// [`InterestRules::is_in_group`](super::InterestRules::is_in_group), and may change at any time.
///
/// ```
/// use foretell::{Group, State};
///
/// const TEAM: Group = Group(0);
///
/// #[derive(State, Clone, Copy)]
/// struct Soldier {
///     #[state(position)]
///     place: [f32; 3],
///     #[state(audience = group(TEAM))]
///     health: u8,
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Group(pub u8);

/// Who gets the rows of a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Audience {
    /// Every player.
    #[default]
    All,
    /// Only the player to whom it belongs.
    Owner,
    /// Every player but the one to whom it belongs.
    Others,
    /// The player to whom it belongs, and those of whom the game's [rules](super::InterestRules::is_in_group) say that they
    /// are in this group with the entity: where there are no rules nobody else.
    Group(Group),
}

impl Audience {
    /// Whether `player` gets what belongs to `owner`, as far as that does not depend on the game's rules: of a group this is
    /// the owner alone.
    pub fn includes(self, player: PlayerId, owner: PlayerId) -> bool {
        match self {
            Audience::All => true,
            Audience::Owner | Audience::Group(_) => player == owner,
            Audience::Others => player != owner,
        }
    }

    /// Whether players get what is not theirs, whatever the game's rules say of groups.
    pub(crate) fn includes_others(self) -> bool {
        matches!(self, Audience::All | Audience::Others)
    }
}

/// Whether a client that predicts an entity predicts its rows of one component.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub(crate) struct RowPrediction {
    pub audience: Audience,
    /// Whether nobody ever does.
    pub never: bool,
}

impl RowPrediction {
    /// Whether the client of `player` does, where it predicts what belongs to `owner`: not what it may not see, nor what it
    /// sees of others' by the game's rules, which may change.
    pub(crate) fn is_of(self, player: PlayerId, owner: PlayerId) -> bool {
        !self.never && self.audience.includes(player, owner)
    }

    /// Whether they are among what is predicted of such an entity. What a step makes of it that no client predicts stays so until the
    /// entity is shown as that.
    pub(crate) fn stays_with(self, player: PlayerId, owner: PlayerId) -> bool {
        self.audience.includes(player, owner)
    }

    /// Whether the owner's client may: it is told these rows exactly, all of one state.
    pub(crate) fn is_of_owner(self) -> bool {
        !self.never && self.audience != Audience::Others
    }

    /// Whether the owner is told these rows as others are: one by one.
    pub(crate) fn is_shown_to_owner(self) -> bool {
        self.never && self.audience != Audience::Others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_in_an_audience_goes_by_whose_it_is_and_of_a_group_the_owner_is_sure() {
        let [server, me, other] = [0, 1, 2].map(PlayerId::new);
        let audiences = [Audience::All, Audience::Owner, Audience::Others, Audience::Group(Group(3))];
        let of = |player, owner| audiences.map(|audience| audience.includes(player, owner));
        assert_eq!(of(me, me), [true, true, false, true]);
        assert_eq!(of(me, other), [true, false, true, false]);
        assert_eq!(of(me, server), [true, false, true, false]);
    }
}
