//! What Photon's users have today (PUN 2), for comparison: its transform view, its classic transform view with the
//! options, and its rigidbody view. Written from what they do, oddities included; positions alone.

use super::method::{Method, Receiver, ShownPosition, Update};
use super::pun_options::PunExtrapolation;
use crate::clock::FRAME_S;
use foretell::motion::vector::{add, length, lerp, move_towards, scale, sub};

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    length(sub(a, b))
}

/// The transform view: towards the update at the distance per interval.
///
/// Its "direction" is the way since the update before, not a velocity, and is multiplied by the lag in seconds: at 10 Hz
/// it extrapolates a tenth of the lag. It knows no teleport.
#[derive(Clone, Copy, Debug)]
pub struct TransformView {
    position: [f64; 3],
    goal: [f64; 3],
    distance: f64,
    is_first: bool,
}

impl TransformView {
    /// Nothing has come yet.
    pub fn new(start: [f64; 3]) -> TransformView {
        TransformView { position: start, goal: start, distance: 0.0, is_first: true }
    }
}

impl Method for TransformView {
    fn receive(&mut self, update: &Update, receiver: &Receiver) {
        self.goal = update.position;
        if core::mem::take(&mut self.is_first) {
            self.position = update.position;
            return;
        }
        self.goal = add(self.goal, scale(update.way, receiver.age_s(update)));
        self.distance = distance(self.position, self.goal);
    }

    fn show(&mut self, receiver: &Receiver) -> ShownPosition {
        self.position = move_towards(self.position, self.goal, self.distance * FRAME_S / receiver.interval_s);
        ShownPosition::at(self.position)
    }
}

/// The rigidbody view with synchronized velocity, at a fixed time step of a frame.
///
/// In each step it goes a share of the distance towards where the body was when the update came, 1 / rate of it however
/// long a step is, while the body flies on by itself: at high rates it is slow, and it is pulled back between updates.
#[derive(Clone, Copy, Debug)]
pub struct RigidbodyView {
    position: [f64; 3],
    velocity: [f64; 3],
    goal: [f64; 3],
    distance: f64,
}

impl RigidbodyView {
    /// Nothing has come yet.
    pub fn new(start: [f64; 3]) -> RigidbodyView {
        RigidbodyView { position: start, velocity: [0.0; 3], goal: start, distance: 0.0 }
    }
}

impl Method for RigidbodyView {
    fn receive(&mut self, update: &Update, receiver: &Receiver) {
        if distance(self.position, update.position) > receiver.pun.teleport_m {
            self.position = update.position;
        }
        self.velocity = update.velocity;
        self.goal = add(update.position, scale(update.velocity, receiver.age_s(update)));
        self.distance = distance(self.position, self.goal);
    }

    fn show(&mut self, receiver: &Receiver) -> ShownPosition {
        let towards = move_towards(self.position, self.goal, self.distance * receiver.interval_s);
        self.position = add(towards, scale(self.velocity, FRAME_S));
        ShownPosition::at(self.position)
    }
}

/// The classic view's interpolate option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interpolate {
    /// It is there at once.
    Disabled,
    FixedSpeed,
    /// By the way between the last two updates: its default.
    EstimatedSpeed,
    /// By the speed that was sent; at rest it is there at once.
    Synchronized,
    /// A share of the rest of the way in each frame.
    Lerp,
}

/// The classic transform view.
#[derive(Clone, Copy, Debug)]
pub struct ClassicView {
    interpolate: Interpolate,
    position: [f64; 3],
    newest: [f64; 3],
    /// The update before; `None` before the first update.
    before: Option<[f64; 3]>,
    velocity: [f64; 3],
    came_s: f64,
    /// Whether the newest update was looked at.
    is_seen: bool,
}

impl ClassicView {
    /// Nothing has come yet.
    pub fn new(interpolate: Interpolate, start: [f64; 3]) -> ClassicView {
        ClassicView {
            interpolate,
            position: start,
            newest: start,
            before: None,
            velocity: [0.0; 3],
            came_s: 0.0,
            is_seen: true,
        }
    }

    /// The way between the last two updates.
    fn way(&self) -> [f64; 3] {
        sub(self.newest, self.before.unwrap_or(self.newest))
    }

    fn ahead(&self, receiver: &Receiver) -> [f64; 3] {
        let passed_s = receiver.now_s - self.came_s + receiver.ping_s;
        match receiver.pun.extrapolation {
            PunExtrapolation::Disabled => [0.0; 3],
            PunExtrapolation::Synchronized => scale(self.velocity, passed_s),
            PunExtrapolation::Estimated => scale(self.way(), passed_s / receiver.interval_s),
            PunExtrapolation::Fixed => {
                let way = length(self.way());
                if way > 0.0 { scale(self.way(), receiver.pun.speed * passed_s / way) } else { [0.0; 3] }
            }
        }
    }
}

impl Method for ClassicView {
    fn receive(&mut self, update: &Update, receiver: &Receiver) {
        self.before = Some(if self.before.is_some() { self.newest } else { update.position });
        (self.newest, self.velocity) = (update.position, update.velocity);
        (self.came_s, self.is_seen) = (receiver.now_s, false);
    }

    fn show(&mut self, receiver: &Receiver) -> ShownPosition {
        let goal = add(self.newest, self.ahead(receiver));
        let towards = |speed: f64| move_towards(self.position, goal, speed * FRAME_S);
        let speed = length(self.velocity);
        self.position = match self.interpolate {
            Interpolate::Disabled if self.is_seen => self.position,
            Interpolate::Disabled => goal,
            Interpolate::FixedSpeed => towards(receiver.pun.speed),
            Interpolate::EstimatedSpeed if self.before.is_none() => self.position,
            Interpolate::EstimatedSpeed => towards(length(self.way()) / receiver.interval_s),
            Interpolate::Synchronized if speed == 0.0 => goal,
            Interpolate::Synchronized => towards(speed),
            Interpolate::Lerp => lerp(self.position, goal, receiver.pun.speed * FRAME_S),
        };
        self.is_seen = true;
        if distance(self.position, self.newest) > receiver.pun.teleport_m {
            self.position = self.newest;
        }
        ShownPosition::at(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenes::styles::pun_options::PunOptions;

    const TEN_HZ: f64 = 0.1;

    fn known(now_s: f64, extrapolation: PunExtrapolation) -> Receiver {
        let pun = PunOptions { extrapolation, speed: 3.0, teleport_m: 3.0 };
        Receiver { now_s, interval_s: TEN_HZ, ping_s: 0.1, pun }
    }

    fn update(sent: u32, x: f64, way: f64) -> Update {
        Update { sent, position: [x, 0.0, 0.0], velocity: [way / TEN_HZ, 0.0, 0.0], way: [way, 0.0, 0.0] }
    }

    fn shown(method: &mut dyn Method, receiver: &Receiver, frames: u32) -> f64 {
        (0..frames).map(|_| method.show(receiver).position[0]).last().expect("some")
    }

    #[test]
    fn the_transform_view_needs_an_interval_and_goes_a_tenth_of_the_lag_ahead_at_10_hz() {
        let mut view = TransformView::new([0.0; 3]);
        view.receive(&update(0, 1.0, 0.0), &known(0.1, PunExtrapolation::Disabled));
        assert_eq!(shown(&mut view, &known(0.1, PunExtrapolation::Disabled), 1), 1.0);
        // 0.1 s old, at 5 m/s: 0.5 m would be right, its way of 0.5 m times 0.1 is what it goes.
        view.receive(&update(6, 1.5, 0.5), &known(0.2, PunExtrapolation::Disabled));
        let at = known(0.2, PunExtrapolation::Disabled);
        assert!((shown(&mut view, &at, 3) - 1.275).abs() < 1e-9);
        assert!((shown(&mut view, &at, 3) - 1.55).abs() < 1e-9);
        assert!((shown(&mut view, &at, 9) - 1.55).abs() < 1e-9, "and no farther");
    }

    #[test]
    fn the_classic_view_moves_by_its_option() {
        let cases = [
            (Interpolate::Disabled, 2.0),
            (Interpolate::FixedSpeed, 1.0 + 3.0 / 60.0),
            (Interpolate::EstimatedSpeed, 1.0 + 10.0 / 60.0),
            (Interpolate::Synchronized, 1.0 + 10.0 / 60.0),
            (Interpolate::Lerp, 1.0 + 3.0 / 60.0),
        ];
        for (interpolate, expected) in cases {
            let mut view = ClassicView::new(interpolate, [1.0, 0.0, 0.0]);
            view.receive(&update(0, 1.0, 0.0), &known(0.0, PunExtrapolation::Disabled));
            shown(&mut view, &known(0.0, PunExtrapolation::Disabled), 1);
            view.receive(&update(6, 2.0, 1.0), &known(0.1, PunExtrapolation::Disabled));
            let at = shown(&mut view, &known(0.1, PunExtrapolation::Disabled), 1);
            assert!((at - expected).abs() < 1e-9, "{interpolate:?}: {at}");
        }
    }

    #[test]
    fn the_classic_view_extrapolates_by_its_option_and_the_round_trip() {
        let cases = [
            (PunExtrapolation::Disabled, 2.0),
            (PunExtrapolation::Synchronized, 2.0 + 10.0 * 0.15),
            (PunExtrapolation::Estimated, 2.0 + 10.0 * 0.15),
            (PunExtrapolation::Fixed, 2.0 + 3.0 * 0.15),
        ];
        for (extrapolation, expected) in cases {
            let mut view = ClassicView::new(Interpolate::Disabled, [1.0, 0.0, 0.0]);
            view.receive(&update(0, 1.0, 0.0), &known(0.0, extrapolation));
            view.receive(&update(6, 2.0, 1.0), &known(0.1, extrapolation));
            let at = shown(&mut view, &known(0.15, extrapolation), 1);
            assert!((at - expected).abs() < 1e-9, "{extrapolation:?}: {at}");
        }
    }

    #[test]
    fn beyond_the_teleport_distance_views_jump_but_the_transform_view() {
        let far = update(6, 9.0, 8.0);
        let at = known(0.1, PunExtrapolation::Disabled);
        let mut views: [Box<dyn Method>; 3] = [
            Box::new(ClassicView::new(Interpolate::FixedSpeed, [1.0, 0.0, 0.0])),
            Box::new(RigidbodyView::new([1.0, 0.0, 0.0])),
            Box::new(TransformView::new([1.0, 0.0, 0.0])),
        ];
        let after = views.each_mut().map(|view| {
            view.receive(&update(0, 1.0, 0.0), &at);
            view.receive(&far, &at);
            shown(&mut **view, &at, 1)
        });
        assert!(after[0] == 9.0 && after[1] >= 9.0 && after[2] < 3.0, "{after:?}");
    }

    #[test]
    fn the_rigidbody_view_flies_on_and_is_pulled_back() {
        let at = known(0.0, PunExtrapolation::Disabled);
        let mut view = RigidbodyView::new([0.0; 3]);
        view.receive(&update(0, 0.0, 0.5), &at);
        assert!(shown(&mut view, &at, 60) > 4.9, "at 5 m/s for a second: it is where the update was, so nothing pulls");
        view.receive(&update(60, 5.0, 0.0), &known(1.0, PunExtrapolation::Disabled));
        assert!((shown(&mut view, &known(1.0, PunExtrapolation::Disabled), 60) - 5.0).abs() < 1e-6);
    }
}
