//! What must hold of the scene *Peek*.

use super::*;
use crate::controls::{Key, control};

#[test]
fn it_plays() {
    let mut settings = Settings::default();
    for (key, value) in [(Key::Latency, 60.0)] {
        settings.set(key, control(key).nearest(value));
    }
    let mut scene = Peek::new(4);
    for frame in 0..600 {
        let keys = scene.opening(frame).unwrap_or(0);
        let lanes = scene.frame(frame, keys, &settings);
        for shot in &lanes.shots {
            println!("{frame} {shot:?}");
        }
        if frame % 60 == 0 {
            println!("{:?}", lanes.lanes[0].figures.iter().map(|f| (f.label, f.value)).collect::<Vec<_>>());
        }
    }
}
