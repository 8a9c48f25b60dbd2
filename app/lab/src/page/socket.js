// The WebSockets to the program. The first opens while the other modules still load; what it says before anybody hears it is kept.

const scheme = location.protocol === "https:" ? "wss:" : "ws:";
const begin = () => new WebSocket(`${scheme}//${location.host}/ws`);

let first = begin();
const kept = [];
first.onmessage = ({ data }) => kept.push(data);

/** A socket that opens or has opened; `hear` is called with each of its messages, from the first on. */
export function openSocket(hear) {
  const early = first?.readyState <= WebSocket.OPEN;
  const socket = early ? first : begin();
  first = null;
  // Whoever hears it has the socket by then.
  if (early) queueMicrotask(() => kept.splice(0).forEach((data) => hear(data)));
  socket.onmessage = ({ data }) => hear(data);
  return socket;
}
