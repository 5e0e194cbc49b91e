/** Answers the requests that other processes of the service pass to this one. */
import type { IncomingHttpHeaders } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import type { UnboundServer } from "../httpServer.ts";
import { checkJsonType, parseJsonBody } from "../requestBody.ts";
import { CollectedResponse } from "./collectedResponse.ts";
import { readFrames, writeFrame, type Frame } from "./frames.ts";

/** Creates the server, which does not listen yet. */
export function createPeerServer({ answer, answerInternal }: UnboundServer): Server {
  const answerFrame = async (socket: Socket, { number, head, body }: Frame): Promise<void> => {
    const [method, url, headers] = JSON.parse(head) as [string, string, IncomingHttpHeaders];
    const send = (status: number, own: object, text: Uint8Array | string) => {
      if (socket.writable) writeFrame(socket, number, JSON.stringify([status, own]), text);
    };
    const json = () => (body.length > 0 ? parseJsonBody(body) : undefined);
    const internal = url.startsWith("/") ? undefined : answerInternal(url, json());
    if (internal) {
      const { status, text } = await internal;
      return send(status, {}, text);
    }
    const readJson = async () => {
      checkJsonType(headers["content-type"]);
      return parseJsonBody(body);
    };
    await answer(
      { method, url, headers, readJson },
      new CollectedResponse(it => send(it.status, it.headers, it.body)),
    );
  };
  return createServer(socket => {
    // the other process has ended
    socket.on("error", () => socket.destroy());
    readFrames(socket, frame => {
      answerFrame(socket, frame).catch((error: unknown) => {
        // the other process passes its requests on again, or says that they cannot be
        socket.destroy(error as Error);
      });
    });
  });
}
