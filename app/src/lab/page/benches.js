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
    /** Of so many frames one is charted. */
    every: 3,
    /** The role that is drawn in the lane's own colour. */
    toned: "other",
    picture: "the owner, and where this lane shows it",
    figures: {
      "RMS now": "root mean square of the distance from where the owner is now; as all figures, of the last 5 s",
      delay: "how long ago the owner was where the lane shows it, as fits best",
      "RMS then": "root mean square of the distance from where the owner was then: what is wrong but late",
      "p95 now": "the distance from where the owner is now that 95 % of the frames are not beyond",
      "extra step": "how much larger its largest step in a frame is than the owner's largest",
      unsteady: "root mean square of the change from one frame's step to the next",
    },
  },
  qiita: {
    half: 4.5,
    follow: "local",
    trail: 90,
    picture: "you without a network, on your screen, on the server, and on another player's screen",
    /** What happens in the lanes is listed beside them. */
    steps: "The resync, step by step",
    figures: {
      "input lag": "how long after local your cube does the same on your screen, as fits the last 2 s best",
      "off local": "how far your cube on your screen is from where it would be without a network",
      resyncs: "how often the client had to begin anew from the server's position",
      refused: "what the server has clamped or refused: times, directions, distances",
      "others see": "how far another player has seen you go in the last second",
    },
  },
  shared: {
    half: 2.2,
    follow: "local",
    trail: 90,
    picture: "the owner without ticks, on its own screen, and on another player's screen",
    figures: {
      "mean step": "the distance from one capture to the next while the velocity is the same; as all figures, of the last 2 s of motion",
      "largest deviation": "how far a step from capture to capture was from an even one, at most",
      "own view off": "how far the owner's own screen was from where the keys have put it, at most",
      "input delay": "how long ago the owner was where its own screen shows it, on average",
    },
  },
  physics: {
    /** Its lanes show rigid bodies, in 3D. */
    bodies: true,
    picture: "your cube and the field in 3D, with the server's bodies and the last snapshot's as outlines",
    figures: {
      "own correction p99": "how far the own cube was from what the server confirmed: 99 % of the corrections of the last 20 s were not more",
      "bodies corrected": "how many bodies were corrected, each correction of each counted; as the following, of the last 5 s",
      "digests agreed": "how many of the states that came as a digest were predicted to the bit",
      "states agreed": "how many states of what was predicted were as predicted, within 3 mm and 1 cm/s",
      "states asked for": "how often the digests differed for long enough that the whole state was asked for",
      down: "server to client in the last second, without headers of IP and UDP",
      "simulated again": "ticks that were simulated again, because an input was not the one that was guessed, or a state came",
      "its CPU time": "what they cost on this machine, in real time",
    },
  },
};
