//! Which entities are to be predicted: those of the own player, of others whose inputs are known, what is near, and single
//! ones.

use super::changed_entities::ChangedEntities;
use super::let_go::is_let_go;
use super::near_entities::{NearEntities, Predictable};
use super::ownership_changes::{Handed, OwnershipChanges};
use crate::rollback::NewestPredictions;
use crate::session::client::authority::AuthorityGrants;
use crate::session::client::client_settings::{ClientSettings, EntityMode};
use crate::session::client::config::Predict;
use crate::session::client::snapshots::{Look, ShownRows, Snapshot, Snapshots};
use crate::world::{
    Audience, ComponentId, ComponentSchema, Entity, Owned, PlayerId, PredictionSet, Row, RowKey, RowPrediction, Rows,
    Schema,
};
use alloc::vec::Vec;

/// By what it is decided who is to be predicted.
pub(crate) struct Known<'a> {
    /// The state that was compared last.
    pub snapshot: &'a Snapshot,
    pub snapshots: &'a Snapshots,
    /// Where others are shown.
    pub shown: Option<Look>,
    pub authority: &'a AuthorityGrants,
}

/// Lives as long as a session.
pub(crate) struct PredictedEntities {
    wanted: PredictionSet,
    owners: OwnershipChanges,
    /// Those that nobody could foresee to be on one side only of what is compared, ascending: they have changed hands, or are there and
    /// not told exactly any more.
    moved: Vec<Entity>,
    /// Whether some of what others have was predicted and some not, in the state that is compared, and in the one before.
    in_part: [bool; 2],
    near: NearEntities,
    changed: ChangedEntities,
}

impl PredictedEntities {
    pub(crate) fn new(schema: &Schema, player: PlayerId) -> PredictedEntities {
        let owners = OwnershipChanges::new(schema);
        PredictedEntities {
            wanted: PredictionSet::own(player),
            owners,
            moved: Vec::new(),
            in_part: [false; 2],
            near: NearEntities::default(),
            changed: ChangedEntities::new(schema),
        }
    }

    pub(crate) fn wanted(&self) -> &PredictionSet {
        &self.wanted
    }

    /// Takes in whose entities are in the state that is to be compared with the predicted one. Those are returned, ascending, that
    /// nobody could foresee to be on one side only.
    pub(crate) fn note_owners(
        &mut self,
        snapshot: &Snapshot,
        snapshots: &Snapshots,
        NewestPredictions { players: predicted, present, newest, .. }: NewestPredictions<'_>,
    ) -> &[Entity] {
        let (rows, others) = (&snapshot.rows, snapshots.rows().unwrap_or(&snapshot.rows));
        self.owners.note(rows, others, predicted.player(), present);
        self.moved.clear();
        self.moved.extend_from_slice(self.owners.just_handed());
        let is_shown = || others.iter().any(|row| !predicted.contains(row.owned()));
        let in_part = predicted.predicts_others() && (snapshot.is_crowded || is_shown());
        self.in_part = [in_part, self.in_part[0]];
        if in_part {
            let left = told_otherwise(snapshot, others).filter(|of| predicted.contains(*of));
            let left = left.filter(|of| !is_let_go(newest, of.entity));
            self.moved.extend(left.map(|of| of.entity));
            self.moved.sort_unstable();
        }
        &self.moved
    }

    /// Whether of what others have some was predicted and some not, in the state that is compared or in the one before.
    pub(crate) fn are_in_part(&self) -> bool {
        self.in_part != [false; 2]
    }

    /// Whether anything that is to be predicted has changed hands with the state that is compared.
    pub(crate) fn any_just_handed(&self) -> bool {
        let just_handed = self.owners.just_handed();
        let is_just = |of: &Owned| just_handed.binary_search(&of.entity).is_ok();
        self.owners.handed().filter(is_just).any(|of| self.wanted.contains(of))
    }

    /// Wants everything that is in a state, and whatever will be.
    pub(crate) fn want_everything(&mut self, full: &Rows) {
        self.wanted.clear();
        self.wanted.insert_all();
        full.iter().for_each(|row| self.wanted.insert(row.owner));
    }

    /// Whether the inputs of a player that a snapshot tells are worth the memory.
    pub(crate) fn may_want(&self, player: PlayerId, snapshots: &Snapshots, settings: &ClientSettings) -> bool {
        let owner = |entity: Entity| snapshots.rows().and_then(|rows| rows.owner(entity));
        let is_single =
            |(entity, mode): (Entity, &EntityMode)| *mode == EntityMode::Predicted && owner(entity) == Some(player);
        let is_near = matches!(settings.config.predict, Predict::Near { .. });
        is_near || settings.wants(player) || settings.entities.iter().any(is_single)
    }

    /// Decides whom to predict.
    pub(crate) fn choose(&mut self, known: &Known<'_>, predictable: &Predictable<'_>, settings: &ClientSettings) {
        if settings.rules.exact {
            return self.want_everything(&known.snapshot.rows);
        }
        self.wanted.clear();
        self.forget_handed(known, predictable);
        let has_kinds = settings.rules.schema.components().iter().any(ComponentSchema::is_never_predicted);
        let singly = has_kinds
            || !settings.entities.is_empty()
            || !known.authority.is_empty()
            || !self.owners.is_empty()
            || predictable.states.players.predicts_others();
        if settings.config.predict == Predict::Own && !settings.names_players() && !singly {
            return;
        }
        for row in known.snapshot.rows.iter().filter(|row| settings.wants(row.owner)) {
            if (predictable.is_known)(row.owner) {
                self.wanted.insert(row.owner);
            }
        }
        self.leave_others(known, &predictable.states);
        self.near.choose(&mut self.wanted, known.snapshot, predictable, settings);
        self.choose_single(known, predictable, settings);
    }

    /// What is not told exactly can't be predicted.
    fn leave_others(&mut self, known: &Known<'_>, states: &NewestPredictions<'_>) {
        let Some(rows) = known.snapshots.rows().filter(|_| self.wanted.players().len() > 1) else { return };
        for of in told_otherwise(known.snapshot, rows) {
            if self.wanted.contains_player(of.owner) && !is_let_go(states.newest, of.entity) {
                self.wanted.insert_single(of, false);
            }
        }
    }

    /// What has changed hands, what the game has said of single entities, and what it or another player's client moves itself.
    fn choose_single(&mut self, known: &Known<'_>, predictable: &Predictable<'_>, settings: &ClientSettings) {
        let (snapshot, own) = (known.snapshot, self.wanted.player());
        // What a step here has made of what was given away since stays on the screen until that is shown, or what it has become.
        let is_as_before = |of: Owned| {
            let shown = known.shown.and_then(|look| known.snapshots.tracks().owner(of.entity, &look));
            shown.is_some_and(|shown| shown != of.owner)
        };
        let newest = predictable.states.newest;
        for of in self.owners.handed() {
            let yes = self.wanted.contains(of) || is_let_go(newest, of.entity) && is_as_before(of);
            self.wanted.insert_single(of, yes);
        }
        for (entity, mode) in settings.entities.iter() {
            let Some(owner) = snapshot.rows.owner(entity) else { continue };
            let yes = *mode == EntityMode::Predicted && !settings.spectates();
            if !yes || owner == own || (predictable.is_known)(owner) {
                self.wanted.insert_single(Owned { entity, owner }, yes);
            }
        }
        if let Some(look) = known.shown.filter(|_| !settings.spectates()) {
            let shown = ShownRows { tracks: known.snapshots.tracks(), look };
            self.changed.keep(&mut self.wanted, &snapshot.rows, shown, &predictable.states);
        }
        for entity in known.authority.unpredicted(snapshot.tick) {
            self.wanted.insert_single(known.snapshots.owned(entity), false);
        }
        for (entity, _) in snapshot.holders.iter().filter(|(_, holder)| holder.player != own) {
            // No step moves it.
            let of = known.snapshots.owned(entity);
            if self.wanted.contains(of) {
                self.wanted.insert_single(of, false);
            }
        }
        self.leave_kinds(known, &predictable.states, &settings.rules.schema);
    }

    /// What is of a kind that is never predicted, whatever was said, and of what no component can be.
    fn leave_kinds(&mut self, known: &Known<'_>, states: &NewestPredictions<'_>, schema: &Schema) {
        for id in schema.ids() {
            match schema.component(id).prediction() {
                RowPrediction { never: true, .. } => self.leave_never(id, known, states, schema),
                RowPrediction { audience: Audience::Group(_), .. } => self.leave_group(id, known, schema),
                _ => {}
            }
        }
    }

    /// What has a row of a component that is never predicted, as it is told by itself, or shown still.
    fn leave_never(
        &mut self,
        id: ComponentId,
        known: &Known<'_>,
        NewestPredictions { players, newest, .. }: &NewestPredictions<'_>,
        schema: &Schema,
    ) {
        // What a step here has made so stays on the screen as that until it is shown, but where other rows of it are moved on.
        let stays = |of: &Owned| {
            let key = RowKey { component: id, entity: of.entity };
            let is_variant = |row: Row<'_>| schema.other_variants(key).any(|other| other == row.key());
            newest.is_some_and(|rows| rows.words(key).is_some()) && known.snapshot.rows.of(of.entity).all(is_variant)
        };
        // What is simulated may have been so for a moment.
        let is_simulated = |of: &Owned| {
            let mut rows = newest.iter().flat_map(|rows| rows.of(of.entity));
            players.contains(*of) && rows.any(|row| !schema.component(row.component).is_never_predicted())
        };
        let told = known.snapshots.rows().into_iter().flat_map(|rows| rows.component(id)).map(|row| row.owned());
        let shown = known.shown.iter().flat_map(|look| known.snapshots.tracks().owned(id, look));
        for of in told.filter(|of| !stays(of)).chain(shown.filter(|of| !is_simulated(of))) {
            if self.wanted.contains(of) {
                self.wanted.insert_single(of, false);
            }
        }
    }

    /// What has a row of a component for a group, and none that can be predicted; what is shown still is so to its end.
    fn leave_group(&mut self, id: ComponentId, known: &Known<'_>, schema: &Schema) {
        let (own, tracks, rows) = (self.wanted.player(), known.snapshots.tracks(), &known.snapshot.rows);
        let can_be = |component: ComponentId, owner| schema.component(component).prediction().is_of(own, owner);
        let told = rows.component(id).map(|row| row.owned());
        let told = told.filter(|of| !rows.of(of.entity).any(|row| can_be(row.component, row.owner)));
        let shown = known.shown.iter().flat_map(|look| {
            let is_there = move |component, entity| tracks.has(RowKey { component, entity }, look);
            let has_any = move |of: &Owned| schema.ids().any(|id| can_be(id, of.owner) && is_there(id, of.entity));
            tracks.owned(id, look).filter(move |of| !has_any(of))
        });
        for of in told.chain(shown) {
            if self.wanted.contains(of) {
                self.wanted.insert_single(of, false);
            }
        }
    }

    /// Forgets what has changed hands so long ago that nothing says another owner.
    fn forget_handed(&mut self, known: &Known<'_>, Predictable { states, horizon, .. }: &Predictable<'_>) {
        if self.owners.is_empty() {
            return;
        }
        self.owners.forget(|Handed { of, noted }| {
            let shown = known.shown.and_then(|look| known.snapshots.tracks().owner(of.entity, &look));
            shown.is_some_and(|shown| shown != of.owner) || states.present.since(noted) < *horizon
        });
    }
}

/// The entities of others that are there and not among what is told exactly of a state. Of what was spawned later it is not known
/// whether it is.
fn told_otherwise<'a>(snapshot: &'a Snapshot, known: &'a Rows) -> impl Iterator<Item = Owned> + 'a {
    let is_other = |of: &Owned| of.entity.tick() < snapshot.tick && !snapshot.rows.has(of.entity);
    known.iter().map(|row| row.owned()).filter(is_other)
}
