// The scenes of lanes: how much of the room a lane shows and around whom, and what its figures mean. A scene that is not
// here is one of the session.

export const BENCHES = {
  styles: {
    /** Metres to each side of the middle of the picture. */
    half: 4,
    /** The role that stays in the picture; without one the whole room is shown. */
    follow: "server",
    /** How many frames of its way are drawn behind each cube. */
    trail: 150,
    explain: "One owner sends position and velocity over your network; each lane shows it by another method.",
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
