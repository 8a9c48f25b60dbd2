//! Measures what a rollback takes on a client, with foretell in Bevy and with lightyear: many bodies that fly, eight ticks, the same
//! step. Processor time of this thread, by turns; the least of all rounds, as whatever disturbs only adds to it.

mod foretell_in_bevy;
mod lightyear;

/// How many ticks are simulated again.
const TICKS: u16 = 8;
/// How often each is measured.
const ROUNDS: usize = 300;

/// A client in the middle of a session.
trait Client {
    /// A rollback, and the ticks since.
    fn rollback(&mut self) -> Spent;
}

/// What a rollback took, in microseconds.
#[derive(Clone, Copy)]
struct Spent {
    /// With what was done beside it.
    all: f64,
    /// What is done beside it where nothing is rolled back.
    beside: f64,
}

fn main() {
    println!("| entities | foretell, µs | lightyear, µs |\n|---:|---:|---:|");
    for entities in [10, 100, 1_000] {
        let mut clients: [Box<dyn Client>; 2] =
            [Box::new(foretell_in_bevy::Game::with(entities)), Box::new(lightyear::Session::with(entities))];
        let mut least = [Spent { all: f64::MAX, beside: f64::MAX }; 2];
        for _ in 0..ROUNDS {
            for (least, client) in least.iter_mut().zip(&mut clients) {
                let spent = client.rollback();
                *least = Spent { all: least.all.min(spent.all), beside: least.beside.min(spent.beside) };
            }
        }
        let [ours, theirs] = least.map(|least| least.all - least.beside);
        println!("| {entities} | {ours:.0} | {theirs:.0} |");
    }
}

/// Where a body is in metres, and how it moves in m/s, after a tick of 1/64 s: between two walls.
fn fly([x, v]: [[f32; 2]; 2]) -> [[f32; 2]; 2] {
    let to: [f32; 2] = core::array::from_fn(|axis| x[axis] + v[axis] / 64.0);
    let turned = core::array::from_fn(|axis| if to[axis].abs() > 20.0 { -v[axis] } else { v[axis] });
    [to.map(|x| x.clamp(-20.0, 20.0)), turned]
}
