// Corrections as marks on the floor where they happened: they fade, and say why when they are pointed at.

/** For so long a mark is seen. */
const SEEN_MS = 4000;
/** More of them would hide the room. */
const MOST = 40;
/** Two of one cube that are nearer than this in place and time are one mark. */
const SAME_M = 0.5;
const SAME_MS = 250;
/** A finger or a mouse points at what is so near, in pixels. */
const NEAR_PX = 18;

export class Marks {
  constructor() {
    this.all = [];
  }

  /** What was corrected at `at`: [{number, x, z, metres, why}]. */
  add(corrections, at) {
    for (const made of corrections) {
      if (Number.isNaN(made.x)) continue;
      const last = this.all.findLast(({ number }) => number === made.number);
      const isSame = last && at - last.at < SAME_MS && Math.hypot(last.x - made.x, last.z - made.z) < SAME_M;
      if (isSame) Object.assign(last, { at, metres: Math.max(last.metres, made.metres) });
      else this.all.push({ ...made, at });
    }
    this.all = this.all.filter((mark) => at - mark.at < SEEN_MS).slice(-MOST);
  }

  /** Each as it is seen at `now`: with the share that is left of it, from 1 to 0. */
  seen(now) {
    return this.all.map((mark) => ({ ...mark, left: Math.max(0, 1 - (now - mark.at) / SEEN_MS) }));
  }

  /** The nearest mark to a point of the picture, by where `place` says that it is drawn, with its sentence; or none. */
  reason([x, y], place) {
    const near = this.all.map((mark) => ({ mark, at: place(mark) }));
    const far = ({ at }) => Math.hypot(at[0] - x, at[1] - y);
    const nearest = near.reduce((best, next) => (best && far(best) <= far(next) ? best : next), null);
    return nearest && far(nearest) <= NEAR_PX ? { mark: nearest.mark, text: sentence(nearest.mark), at: nearest.at } : null;
  }

  /** Whether a mark is still seen. */
  has(mark) {
    return this.all.includes(mark);
  }
}

function sentence({ number, own, metres, why }) {
  const whose = own ? "Your cube" : number ? `Player ${number}'s cube` : "The ball";
  const far = metres >= 0.095 ? `${metres.toFixed(1)} m` : metres >= 0.0095 ? `${(metres * 100).toFixed(0)} cm` : "less than 1 cm";
  return `${whose} was off by ${far}: ${why || "no cause is known"}.`;
}
