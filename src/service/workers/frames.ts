/**
 * The messages between processes of a service: a length, a number that pairs an answer with its
 * request, a head of JSON, and a body of bytes that is not looked into.
 */
import type { Socket } from "node:net";

export interface Frame {
  readonly number: number;
  /** JSON text. */
  readonly head: string;
  readonly body: Buffer;
}

/** Two lengths and the number. */
const prefixBytes = 12;

/** Writes a frame. Frames that are written at the same time are sent together. */
export function writeFrame(
  socket: Socket,
  number: number,
  head: string,
  body: Uint8Array | string | undefined,
): void {
  const headBytes = Buffer.byteLength(head);
  const bodyBytes = body === undefined ? 0 : Buffer.byteLength(body);
  const isText = typeof body === "string";
  const frame = Buffer.allocUnsafe(prefixBytes + headBytes + (isText ? bodyBytes : 0));
  frame.writeUInt32LE(headBytes, 0);
  frame.writeUInt32LE(bodyBytes, 4);
  frame.writeUInt32LE(number, 8);
  frame.write(head, prefixBytes, "utf8");
  if (isText) frame.write(body, prefixBytes + headBytes, "utf8");
  if (socket.writableCorked === 0) {
    socket.cork();
    process.nextTick(() => socket.uncork());
  }
  socket.write(frame);
  if (!isText && body !== undefined && bodyBytes > 0) socket.write(body);
}

/** Calls back with each frame that arrives at a socket. */
export function readFrames(socket: Socket, onFrame: (frame: Frame) => void): void {
  let waiting: Buffer[] = [];
  let length = 0;
  /** The bytes without which the next frame is not complete. */
  let needed = prefixBytes;
  socket.on("data", (chunk: Buffer) => {
    waiting.push(chunk);
    length += chunk.length;
    if (length < needed) return;
    let rest = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting);
    for (;;) {
      needed = prefixBytes;
      if (rest.length < prefixBytes) break;
      const headBytes = rest.readUInt32LE(0);
      const bodyAt = prefixBytes + headBytes;
      needed = bodyAt + rest.readUInt32LE(4);
      if (rest.length < needed) break;
      onFrame({
        number: rest.readUInt32LE(8),
        head: rest.toString("utf8", prefixBytes, bodyAt),
        body: rest.subarray(bodyAt, needed),
      });
      rest = rest.subarray(needed);
    }
    waiting = rest.length > 0 ? [rest] : [];
    length = rest.length;
  });
}
