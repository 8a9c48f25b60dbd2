//! Rounded rows, and how they are told (section 4.8).

use super::*;

/// How a field is told.
#[derive(Clone, Copy)]
enum How {
    Exact,
    Steps(f64),
    Turn(f64),
}

/// A field: how it is told, its lanes and the bits of each; of a position the velocity that moves it.
struct Field {
    how: How,
    lanes: usize,
    bits: u32,
    moved_by: Option<usize>,
}

/// Those of a buoy or of a chest.
fn fields(component: u64) -> Vec<Field> {
    let field = |how, lanes, bits, moved_by| Field { how, lanes, bits, moved_by };
    match component {
        0 => vec![
            field(How::Steps(0.5), 2, 64, Some(1)),
            field(How::Steps(0.25), 2, 64, None),
            field(How::Turn(0.001), 4, 32, None),
            field(How::Exact, 1, 1, None),
        ],
        _ => vec![field(How::Exact, 1, 32, None)],
    }
}

/// A field as it is told.
#[derive(Clone, PartialEq, Debug)]
pub enum Group {
    AsItIs(Vec<u64>),
    Steps(Vec<i64>),
    /// The largest part, and the steps of the others.
    Turn(u64, [i64; 3]),
}

/// The fields of a row.
pub type Rounded = Vec<Group>;

fn value(bits: u64, width: u32) -> f64 {
    if width == 64 { f64::from_bits(bits) } else { f64::from(f32::from_bits(number(bits))) }
}

fn bits_of(value: f64, width: u32) -> u64 {
    if width == 64 { value.to_bits() } else { u64::from((value as f32).to_bits()) }
}

fn steps(value: f64, step: f64) -> Option<i64> {
    // Halves away from zero.
    let steps = (value / step).round();
    (steps.abs() < 2_147_483_000.0).then_some(steps as i64)
}

fn round_turn(parts: &[f64], step: f64) -> Option<Group> {
    let norm = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
    if !(0.5..=2.0).contains(&norm) {
        return None;
    }
    let largest = (0..4).rev().max_by(|a, b| parts[*a].abs().total_cmp(&parts[*b].abs()))?;
    let sign = if parts[largest] < 0.0 { -1.0 } else { 1.0 };
    let others: Vec<i64> =
        (0..4).filter(|nth| *nth != largest).filter_map(|nth| steps(parts[nth] * (sign / norm), step)).collect();
    Some(Group::Turn(largest as u64, others.try_into().ok()?))
}

pub fn round(component: u64, lanes: &[u64]) -> Rounded {
    let mut lanes = lanes.iter().copied();
    let round = |Field { how, lanes: count, bits, .. }: &Field| {
        let raw: Vec<u64> = lanes.by_ref().take(*count).collect();
        let values: Vec<f64> = raw.iter().map(|lane| value(*lane, *bits)).collect();
        let rounded = match how {
            How::Exact => None,
            How::Steps(step) => {
                values.iter().map(|value| steps(*value, *step)).collect::<Option<Vec<_>>>().map(Group::Steps)
            }
            How::Turn(step) => round_turn(&values, *step),
        };
        rounded.unwrap_or(Group::AsItIs(raw))
    };
    fields(component).iter().map(round).collect()
}

/// The lanes of a row that is told.
pub fn restore(component: u64, rounded: &[Group]) -> Vec<u64> {
    let restore = |(Field { how, bits, .. }, group): (&Field, &Group)| match (how, group) {
        (_, Group::AsItIs(lanes)) => lanes.clone(),
        (How::Steps(step), Group::Steps(lanes)) => {
            lanes.iter().map(|lane| bits_of(*lane as f64 * step, *bits)).collect()
        }
        (How::Turn(step), Group::Turn(largest, others)) => {
            let mut parts = others.map(|other| other as f64 * step).to_vec();
            let last = (1.0 - parts.iter().map(|part| part * part).sum::<f64>()).max(0.0).sqrt();
            parts.insert(usize::try_from(*largest).expect("few"), last);
            parts.iter().map(|part| bits_of(*part, *bits)).collect()
        }
        _ => panic!("a field is told as it is or as it is declared"),
    };
    fields(component).iter().zip(rounded).flat_map(restore).collect()
}

const WIDTHS: [u32; 15] = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 18, 32];

/// What the lanes of a field in steps are without a difference.
fn expected(fields: &[Field], nth: usize, before: Option<(&Rounded, u64)>) -> Vec<i64> {
    let field = &fields[nth];
    let Some((before, age)) = before else { return vec![0; field.lanes] };
    let mut lanes = match &before[nth] {
        Group::Steps(lanes) => lanes.clone(),
        _ => vec![0; field.lanes],
    };
    if let Some((Group::Steps(velocity), group)) = field.moved_by.map(|group| (&before[group], group))
        && let (How::Steps(of), How::Steps(step)) = (fields[group].how, field.how)
    {
        for (lane, velocity) in lanes.iter_mut().zip(velocity) {
            *lane += (*velocity as f64 * (of / step) * (age as f64 / 64.0)).round() as i64;
        }
    }
    lanes
}

fn turn_before(nth: usize, before: Option<(&Rounded, u64)>) -> (u64, [i64; 3]) {
    match before.map(|(before, _)| &before[nth]) {
        Some(Group::Turn(largest, others)) => (*largest, *others),
        _ => (0, [0; 3]),
    }
}

fn zigzag(difference: i64) -> u64 {
    let value = difference as i32;
    u64::from((value << 1 ^ value >> 31).cast_unsigned())
}

fn read_difference(reader: &mut Reader, width: u32) -> i64 {
    let read = number(reader.take(width));
    i64::from((read >> 1 ^ (read & 1).wrapping_neg()).cast_signed())
}

/// Reads a row, told against the same row in an older state.
pub fn read(reader: &mut Reader, component: u64, before: Option<(&Rounded, u64)>) -> Rounded {
    let fields = fields(component);
    let read = |nth: usize| {
        let Field { how, lanes, bits, .. } = &fields[nth];
        let as_it_is = |reader: &mut Reader| Group::AsItIs((0..*lanes).map(|_| reader.take(*bits)).collect());
        let code = match how {
            How::Exact if reader.take(1) == 1 => return as_it_is(reader),
            How::Exact => return before.map_or(Group::AsItIs(vec![0; *lanes]), |(before, _)| before[nth].clone()),
            _ => reader.take(4),
        };
        if code == 15 {
            return as_it_is(reader);
        }
        let width = WIDTHS[code as usize];
        if let How::Steps(_) = how {
            let lanes = expected(&fields, nth, before);
            return Group::Steps(lanes.iter().map(|lane| lane + read_difference(reader, width)).collect());
        }
        let (largest_before, others_before) = turn_before(nth, before);
        let largest = largest_before ^ reader.take(2);
        let others = if largest == largest_before { others_before } else { [0; 3] };
        Group::Turn(largest, others.map(|other| other + read_difference(reader, width)))
    };
    let read: Vec<Group> = (0..fields.len()).map(read).collect();
    read
}

fn put_differences(writer: &mut Writer, differences: &[u64], largest: Option<u64>) {
    let most = differences.iter().max().map_or(0, |most| 64 - most.leading_zeros());
    let code = WIDTHS.iter().position(|width| *width >= most).expect("32 bits at most");
    writer.put(code as u64, 4);
    if let Some(largest) = largest {
        writer.put(largest, 2);
    }
    for difference in differences {
        writer.put(*difference, WIDTHS[code]);
    }
}

/// Writes a row, told against the same row in an older state.
pub fn put(writer: &mut Writer, component: u64, rounded: &Rounded, before: Option<(&Rounded, u64)>) {
    let fields = fields(component);
    for (nth, Field { how, bits, lanes, .. }) in fields.iter().enumerate() {
        match &rounded[nth] {
            Group::AsItIs(words) => {
                let nothing = Group::AsItIs(vec![0; *lanes]);
                let is_same = before.map_or(&nothing, |(before, _)| &before[nth]) == &rounded[nth];
                match how {
                    How::Exact => writer.put(u64::from(!is_same), 1),
                    _ => writer.put(15, 4),
                };
                if !(is_same && matches!(how, How::Exact)) {
                    for word in words {
                        writer.put(*word, *bits);
                    }
                }
            }
            Group::Steps(lanes) => {
                let differences: Vec<u64> =
                    lanes.iter().zip(expected(&fields, nth, before)).map(|(now, was)| zigzag(now - was)).collect();
                put_differences(writer, &differences, None);
            }
            Group::Turn(largest, others) => {
                let (largest_before, others_before) = turn_before(nth, before);
                let was = if *largest == largest_before { others_before } else { [0; 3] };
                let differences: Vec<u64> = others.iter().zip(was).map(|(now, was)| zigzag(now - was)).collect();
                put_differences(writer, &differences, Some(largest ^ largest_before));
            }
        }
    }
}
