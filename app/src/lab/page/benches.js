// The scenes of lanes: how much of the room a lane shows and around whom, and what its figures mean. A scene that is not
// here is one of the session.

export const BENCHES = {
  styles: {
    /** So many metres to each side of the middle of the picture are in it at least. */
    half: 2.6,
    /** The role that stays in the picture; without one the whole room is shown. */
    follow: "server",
    /** How many frames of its way are drawn behind each cube. */
    trail: 110,
    /** Where the axis of each chart begins: what differs by powers of ten is read on powers of ten. */
    feet: [1, 0.1, 0.1],
    figures: {
      "RMS now": "root mean square of the distance from where the owner is now; as all figures, of the last 5 s",
      delay: "how long ago the owner was where the lane shows it, as fits best",
      "RMS then": "root mean square of the distance from where the owner was then: what is wrong but late",
      "p95 now": "the distance from where the owner is now that 95 % of the frames are not beyond",
      "extra step": "how much larger its largest step in a frame is than the owner's largest",
      unsteady: "root mean square of the change from one frame's step to the next",
    },
  },
};
