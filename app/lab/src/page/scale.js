// Axis scales for the charts: round numbers, few ticks, and no trembling.

const STEPS = [1, 2, 5];

/** The smallest step of the form 1, 2 or 5 times a power of ten that is not below `rough`. */
export function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const step of STEPS) if (step * power >= rough * (1 - 1e-9)) return step * power;
  return 10 * power;
}

/** A linear scale over [low, high] with about `count` steps: {low, high, ticks, decimals, part(value): 0..1}; `least` is the smallest span shown. */
export function niceScale(low, high, least, count) {
  const [from, to] = [Math.min(low, 0), Math.max(high, 0)];
  const span = Math.max(to - from, least);
  const step = niceStep(span / count);
  const bottom = Math.floor(from / step + 1e-9) * step;
  const top = Math.max(Math.ceil(to / step - 1e-9) * step, bottom + Math.ceil(least / step - 1e-9) * step);
  const ticks = [];
  for (let i = Math.round(bottom / step); i <= Math.round(top / step); i += 1) ticks.push(i * step);
  return { low: bottom, high: top, ticks, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), part: (value) => (value - bottom) / (top - bottom) };
}

/** A scale of powers of ten from `low` to at least `least`; what is smaller than `low` stands at its foot. */
export function logScale(low, high, least) {
  const top = 10 ** Math.ceil(Math.log10(Math.max(high, least)) - 1e-9);
  const decades = Math.round(Math.log10(top / low));
  const ticks = Array.from({ length: decades + 1 }, (_, i) => low * 10 ** i);
  return { low, high: top, ticks, decimals: null, part: (value) => Math.max(0, Math.log10(value / low)) / decades };
}
