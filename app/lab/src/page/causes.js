// Why a correction happened: for each cause one shape and one colour, the same in the charts, the legend and the card.

/** Shapes are SVG paths within a circle of radius 6 around the origin. */
const CAUSES = [
  { name: "own input late or substituted", short: "late input", colour: "late", path: "M-5.5 -4.5H5.5L0 5.5Z" },
  { name: "server event", short: "server event", colour: "event", path: "M0 -6L6 0L0 6L-6 0Z" },
  { name: "tolerance", short: "tolerance", colour: "tolerance", path: "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z" },
  { name: "spawn or despawn", short: "spawn", colour: "existence", path: "M-4.5 -4.5H4.5V4.5H-4.5Z" },
  { name: "resync", short: "resync", colour: "resync", path: "M-2 -6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z" },
  { name: "relayed input differed", short: "relayed input", colour: "relayed", path: "M-6 0L0 -5V-2H6V2H0V5Z" },
  { name: "other player or proxy", short: "other player", colour: "others", path: "M-6 -4.5L0 0L-6 4.5ZM6 -4.5L0 0L6 4.5Z" },
  { name: "own clock set or stood still", short: "own clock", colour: "off", path: "M-5 -6H5L-5 6H5Z" },
  { name: "step not deterministic", short: "chance", colour: "unexplained", path: "M-6 -6L0 -2L6 -6L2 0L6 6L0 2L-6 6L-2 0Z" },
];
const UNEXPLAINED = { name: "unexplained", short: "unexplained", colour: "unexplained", path: "M0 -6L5.2 3H-5.2Z" };

/** All causes that the legend explains. */
export const ALL_CAUSES = [...CAUSES, UNEXPLAINED];

/** The kind of one cause by its name; one that this page does not know keeps its name. */
export function causeKind(name) {
  return CAUSES.find((cause) => cause.name === name) ?? { ...UNEXPLAINED, name };
}

/** The kinds of a correction's causes; never empty. The first one decides its mark. */
export function causeKinds(correction) {
  return correction.causes.length ? correction.causes.map(causeKind) : [UNEXPLAINED];
}

/** The mark of `kind` as an inline picture for the page. */
export function causeIcon(kind) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "-7 -7 14 14");
  svg.setAttribute("class", `mark ${kind.colour}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", kind.path);
  svg.append(path);
  return svg;
}
