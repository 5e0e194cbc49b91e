/** Lines out of a socket. A connection that breaks ends them; the socket's own `close` tells. */
import type { Socket } from "node:net";

export function onLines(socket: Socket, heard: (line: string) => void): void {
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop()!;
    for (const line of lines) heard(line);
  });
  socket.on("error", () => socket.destroy()); // told by `close`, which always follows
}
