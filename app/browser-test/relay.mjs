// A network between a browser and a server: every datagram takes its time, both ways.
import { createSocket } from "node:dgram";

/** Passes datagrams on to 127.0.0.1:`port`, each `delayMs` later; where it is reached, and how to end it. */
export async function startRelay(port, delayMs) {
  const front = createSocket("udp4");
  /** The relay's own socket for each who sends to it. */
  const backs = new Map();
  const later = (send) => setTimeout(() => {
    try {
      send();
    } catch {
      // It has ended meanwhile.
    }
  }, delayMs);
  front.on("message", (datagram, from) => {
    const key = `${from.address}:${from.port}`;
    let back = backs.get(key);
    if (!back) {
      back = createSocket("udp4");
      back.on("message", (answer) => later(() => front.send(answer, from.port, from.address)));
      back.on("error", () => {});
      backs.set(key, back);
    }
    later(() => back.send(datagram, port, "127.0.0.1"));
  });
  front.on("error", () => {});
  await new Promise((resolve) => front.bind(0, "127.0.0.1", resolve));
  return {
    port: front.address().port,
    end: () => [front, ...backs.values()].forEach((socket) => socket.close()),
  };
}
