// The cubes of the arena: what each one is, and the outline that tells it apart without its colour.

/** Drawn in this order. `dash` is in CSS pixels; `label` is where its name stands, as a direction from the cube. */
export const ROLES = [
  { role: "other", name: "other", explain: "another player", dash: [], fill: 0.55, label: [0, -1.5] },
  { role: "ghost", name: "snapshot", explain: "the newest received", dash: [1.5, 3], fill: 0.08, label: [-1.25, 0.75] },
  { role: "client", name: "client", explain: "what you play", dash: [], fill: 0.9, label: [1.2, -1.15] },
  { role: "local", name: "local", explain: "you without a network", dash: [], fill: 0.1, label: [-1.2, -1.15] },
  { role: "server", name: "server", explain: "the truth, not yet here", dash: [6, 4], fill: 0.1, label: [1.25, 0.75] },
];

const SVG = "http://www.w3.org/2000/svg";

function swatch({ dash, fill }) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const box = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ x: 2, y: 2, width: 12, height: 12, "fill-opacity": fill, "stroke-dasharray": dash.length ? dash.map((d) => d * 0.7).join(" ") : "none" })) {
    box.setAttribute(name, value);
  }
  svg.append(box);
  return svg;
}

/** Fills `list` with one button for each role; returns the set of hidden roles, which the buttons keep current. */
export function buildLegend(list, onChange) {
  const hidden = new Set();
  for (const kind of [...ROLES].reverse().sort((a, b) => LEGEND.indexOf(a.role) - LEGEND.indexOf(b.role))) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = kind.role;
    button.setAttribute("aria-pressed", "true");
    const name = document.createElement("b");
    name.textContent = kind.name;
    const explain = document.createElement("span");
    explain.textContent = kind.explain;
    button.append(swatch(kind), name, explain);
    button.addEventListener("click", () => {
      const hide = !hidden.has(kind.role);
      if (hide) hidden.add(kind.role);
      else hidden.delete(kind.role);
      button.setAttribute("aria-pressed", String(!hide));
      onChange();
    });
    const item = document.createElement("li");
    item.append(button);
    list.append(item);
  }
  return hidden;
}

const LEGEND = ["local", "client", "server", "ghost", "other"];
