// What the charts ask: three sets of rows, each a question with its curves. A new curve is a line here and a field of the
// program's `Chart`.

/** A curve is [field of a frame's `chart`, name, colour, how it is drawn: line, dash or stem]. A shown value is
 *  (value - from) * factor; `least` is the smallest span of the axis; `late` shades what is below 0; `even` puts 0 into
 *  the middle; `none` is said where there is nothing to see. */
export const SETS = [
  {
    name: "Prediction",
    rows: [
      { question: "How wrong, what is seen? (log)", unit: "cm", factor: 100, least: 1000, decimals: 1, log: 0.1, curves: [["misprediction_m", "misprediction", "server", "line"], ["correction_m", "correction", "client", "line"]] },
      { question: "How far is the server?", unit: "ms", factor: 1, least: 50, decimals: 0, curves: [["rtt_ms", "RTT", "client", "line"]] },
      { question: "Do inputs come in time?", unit: "ticks", factor: 1, least: 4, decimals: 1, late: true, curves: [["margin_ticks", "input margin", "client", "line"]] },
      { question: "What goes over the wire?", unit: "kB/s", factor: 0.001, least: 2, decimals: 1, curves: [["up_bytes_per_s", "up", "client", "line"], ["down_bytes_per_s", "down", "server", "dash"]] },
      { question: "What does it cost?", unit: "ticks", factor: 1, least: 10, decimals: 0, none: "no tick was simulated again", curves: [["resimulated_ticks", "resimulated", "client", "stem"]] },
    ],
  },
  {
    name: "Pacing",
    rows: [
      { question: "Do inputs come in time?", unit: "ticks", factor: 1, least: 4, decimals: 1, late: true, curves: [["margin_ticks", "smallest margin", "client", "line"]] },
      { question: "How many come too late?", unit: "%", factor: 100, least: 5, decimals: 1, curves: [["input_miss_rate", "input misses", "server", "line"]] },
      { question: "What is there to spare?", unit: "ticks", factor: 1, least: 4, decimals: 1, curves: [["slack_asked_ticks", "asked for", "server", "dash"], ["slack_ticks", "slack", "client", "line"]] },
      { question: "What lead does that take?", unit: "ms", factor: 1, least: 100, decimals: 0, curves: [["spare_lead_ms", "beyond one way", "client", "line"]] },
      { question: "How fast is your clock?", unit: "%", factor: 100, from: 1, least: 10, decimals: 1, even: true, curves: [["speed", "beyond nominal", "client", "line"]] },
    ],
  },
  {
    name: "Playout",
    rows: [
      { question: "How late are others shown?", unit: "ms", factor: 1, least: 100, decimals: 0, curves: [["playout_delay_ms", "playout delay", "client", "line"]] },
      { question: "How far are they guessed?", unit: "ms", factor: 1, least: 100, decimals: 0, curves: [["beyond_ms", "beyond newest", "other", "line"]] },
      { question: "How far per frame? (log)", unit: "cm", factor: 100, least: 100, decimals: 0, log: 1, curves: [["true_step_m", "true step", "server", "dash"], ["shown_step_m", "shown step", "other", "line"]] },
      { question: "How fast is their time?", unit: "%", factor: 100, from: 1, least: 10, decimals: 1, even: true, curves: [["playout_speed", "beyond nominal", "client", "line"]] },
      { question: "How far is the server?", unit: "ms", factor: 1, least: 50, decimals: 0, curves: [["rtt_ms", "RTT", "client", "line"]] },
    ],
  },
];

/** Every curve of every set, once. */
export const CURVES = [...new Set(SETS.flatMap(({ rows }) => rows.flatMap(({ curves }) => curves.map(([name]) => name))))];
