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
    /** Under all others lies the way of this role, wide and faint. */
    under: "server",
    /** How many lanes are on at first. */
    first: 4,
    /** Whether the best figure of those that are shown is marked. */
    compared: true,
    /** What a figure needs of a line, in CSS pixels. */
    figure_px: 156,
    /** What a figure means, and of which ones less or more is better. */
    figures: {
      "RMS now": ["less", "root mean square of the distance from where the owner is now; as all figures, of the last 5 s"],
      delay: ["less", "how long ago the owner was where the lane shows it, as fits best"],
      "RMS then": ["less", "root mean square of the distance from where the owner was then: what is wrong but late"],
      "p95 now": ["less", "the distance from where the owner is now that 95 % of the frames are not beyond"],
      "extra step": ["less", "how much larger its largest step in a frame is than the owner's largest"],
      unsteady: ["less", "root mean square of the change from one frame's step to the next"],
    },
  },
  qiita: {
    half: 4.5,
    follow: "local",
    trail: 90,
    picture: "you without a network, on your screen, on the server, and on another player's screen",
    /** What happens in the lanes is listed beside them. */
    steps: "The resync, step by step",
    figure_px: 150,
    figures: {
      "input lag": ["less", "how long after local your cube does the same on your screen, as fits the last 2 s best"],
      "off local": ["less", "how far your cube on your screen is from where it would be without a network"],
      resyncs: [null, "how often the client had to begin anew from the server's position"],
      refused: [null, "what the server has clamped or refused: times, directions, distances"],
      "others see": [null, "how far another player has seen you go in the last second"],
    },
  },
  stepping: {
    half: 4.5,
    follow: "client",
    trail: 90,
    said: 1,
    compared: true,
    picture: "you without a network, on your screen, on the server, and in the newest state that has come",
    figure_px: 150,
    figures: {
      corrections: [null, "how often your cube was set elsewhere, by 1 mm or more; as all figures, of the last 10 s"],
      largest: [null, "how far the largest of these corrections moved your cube, which is hidden or not"],
      "wrong by": ["less", "how far you were shown from where the server then had you at the same tick: 95 % of the ticks were not beyond"],
      waits: ["less", "how long the server did not simulate you at a stretch, at most: others see you stand still for as long"],
      apart: ["less", "how far the server is behind your own simulation, on average: what you do counts so much later"],
      missing: ["less", "the share of the server's ticks for which it had no input when it came to them"],
      "run again": ["less", "ticks that your client has simulated again"],
      up: ["less", "client to server, without headers of IP and UDP"],
      down: ["less", "server to client, without headers of IP and UDP"],
    },
  },
  shared: {
    half: 2.2,
    follow: "local",
    trail: 90,
    /** On the cube of this role it says who holds it. */
    held: "client",
    compared: true,
    picture: "the owner without ticks, on its own screen, and on another player's screen",
    figure_px: 190,
    figures: {
      "mean step": [null, "the distance from one capture to the next while the velocity is the same; as all figures, of the last 120 values in motion: of steps there is one a tick, of the rest one a frame of the owner's"],
      "uneven by": ["less", "how far a step from capture to capture was from an even one, at most"],
      "own view off": ["less", "how far the owner's own screen was from where the keys have put it, at most"],
      "input delay": ["less", "how long ago the owner was where its own screen shows it, on average"],
    },
  },
  physics: {
    /** Its lanes show rigid bodies, in 3D. */
    bodies: true,
    /** How many sentences stand in a picture. */
    said: 1,
    picture: "your cube and the field in 3D, with the server's bodies and the last snapshot's as outlines",
    figure_px: 170,
    figures: {
      "correction p99": ["less", "how far the own cube was from what the server confirmed: 99 % of the corrections of the last 20 s were not more"],
      "bodies corrected": ["less", "how many bodies were corrected, each correction of each counted; as the following, of the last 5 s"],
      "digests agreed": ["more", "how many of the states that came as a digest were predicted to the bit"],
      "states agreed": ["more", "how many states of what was predicted were as predicted, within 3 mm and 1 cm/s"],
      "states asked for": ["less", "how often the digests differed for long enough that the whole state was asked for"],
      down: ["less", "server to client in the last second, without headers of IP and UDP"],
      "simulated again": ["less", "ticks that were simulated again, because an input was not the one that was guessed, or a state came"],
      "its CPU time": ["less", "what they cost on this machine, in real time"],
    },
  },
  peek: {
    /** Its lanes show a duel; the cards of its shots stand beside them. */
    shots: "Shots",
    half: [8.3, 5.8],
    trail: 24,
    picture: "the wall with its doorway, both players, and where the server judges a shot",
    curves: [
      [["you claim", "client", [1.5, 3]], ["you get", "client", "line"], ["the other gets", "other", "line"], ["at most", "server", "dash"]],
      [["on your screen", "client", "line"], ["on the other's", "other", "line"]],
    ],
    figure_px: 140,
    figures: {
      "claims": [null, "how long before the tick of an input is what its client shows when it makes the input"],
      "judged by": [null, "how much of that the server goes back: no more than can have been shown on the link, and no more than it goes back at most"],
      "off by": ["less", "how far the other is by now from where this screen shows it"],
      "sees first": ["more", "when both last came into view of each other: how much earlier on this screen than on the other"],
      hits: ["more", "how many shots have counted"],
      "taken back": ["less", "how many hits the client has told at once and the server did not count"],
    },
  },
  crowd: {
    /** Its lane shows hundreds of entities, from above. */
    crowd: true,
    picture: "you and the crowd around you from above, each entity in the colour of its age",
    /** The curves of each chart: name, colour and how it is drawn. */
    curves: [
      [["sent", "client", "line"], ["budget", "server", "dash"], ["link", "late", [1.5, 3]]],
      [["oldest age", "late", "line"], ["median age", "client", "line"]],
    ],
    /** Of this figure those that stand after it are parts. */
    whole: "sent to you",
    figure_px: 158,
    figures: {
      "you are told of": [null, "how many of the crowd your client shows"],
      "age, median": ["less", "how far beyond what it was told your client shows half of the crowd: on top of the playout delay, which all have"],
      "age, oldest": ["less", "the same of the one that was told longest ago: it goes on for 100 ms, and then comes to a stop"],
      "playout delay": ["less", "how far in the past the crowd is shown on purpose, so that mostly the next state is there"],
      "sent to you": ["less", "all that the server sends to you, without headers of IP and UDP; as all below, in the last half second"],
      position: ["less", "what the positions of the crowd take of it, told in steps of 1 mm"],
      rotation: ["less", "what their rotations take, in steps of 0.001"],
      velocity: ["less", "what their velocities take, in steps of 1 cm/s"],
      "which one": ["less", "what it takes to say which entity a row is about, and against which earlier one it is told"],
      "your own": ["less", "your own entity, exact to the bit, as you predict it"],
      "the rest": ["less", "headers of datagrams, clocks, acknowledgements, who is gone"],
    },
  },
};
