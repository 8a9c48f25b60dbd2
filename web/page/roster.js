// Who is here: a name and a colour each, cut with a count where there are many.

import { element } from "./element.js";
import { toneOf } from "./tone.js";

/** Where the page stands one below the other; play.css has the same. */
export const STACKED = "(max-width: 640px), (max-width: 1024px) and (orientation: portrait)";
/** How many rows there are at most, the last of them the count of the others. */
const ROWS = { wide: 10, narrow: 3 };

export class Roster {
  constructor(list) {
    Object.assign(this, { list, narrow: matchMedia(`${STACKED}, (max-height: 480px)`) });
    /** Where it stands in the picture. */
    this.box = { left: 0, top: 0, width: 0, height: 0 };
  }

  /** Shows the players among `cubes`, the own one first. */
  show(cubes) {
    this.write(cubes);
    const [own, around] = [this.list, this.list.parentElement].map((box) => box.getBoundingClientRect());
    this.box = { left: own.left - around.left, top: own.top - around.top, width: own.width, height: own.height };
  }

  /** The rows, where they have changed. */
  write(cubes) {
    const players = cubes.filter(({ number }) => number > 0).sort((a, b) => b.own - a.own || a.number - b.number);
    const rows = this.narrow.matches ? ROWS.narrow : ROWS.wide;
    const named = players.length > rows ? players.slice(0, rows - 1) : players;
    const names = named.map(({ number, own }) => (own ? `player ${number}, you` : `player ${number}`));
    const more = players.length - named.length;
    const told = [...names, more].join();
    if (this.told === told) return;
    this.told = told;
    const items = named.map(({ number }, i) => {
      const colour = element("i");
      colour.style.background = toneOf(number);
      return element("li", "", colour, names[i]);
    });
    if (more) items.push(element("li", "", `and ${more} more`));
    this.list.replaceChildren(...items);
  }
}
