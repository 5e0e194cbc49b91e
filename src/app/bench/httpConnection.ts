/** A connection to a measured HTTP server, which takes little of the processor's time. */
import { connect, type Socket } from "node:net";

/** A connection with one request at a time, which is opened again if the server has closed it. */
export class HttpConnection {
  readonly #url: URL;
  #socket: Socket;
  #text = "";
  #resolve: (answer: string) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(url: URL) {
    this.#url = url;
    this.#socket = this.#connect();
  }

  request(method: string, path: string, body: string, more = ""): Promise<string> {
    // servers close connections that are idle, as these are while the other server is measured
    if (!this.#socket.writable) this.#socket = this.#connect();
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #connect(): Socket {
    const socket = connect(Number(this.#url.port), this.#url.hostname)
      .setNoDelay(true)
      .setEncoding("latin1");
    this.#text = "";
    // an earlier connection may report its end after the next one was opened
    const rejectIfCurrent = (error: Error) => {
      if (socket === this.#socket) this.#reject(error);
    };
    socket.on("data", (chunk: string) => {
      if (socket === this.#socket) this.#read(chunk);
    });
    socket.on("error", rejectIfCurrent);
    socket.on("close", () =>
      rejectIfCurrent(new Error(`${this.#url.host} closed the connection before it answered`)),
    );
    return socket;
  }

  #read(chunk: string): void {
    this.#text += chunk;
    const head = this.#text.indexOf("\r\n\r\n");
    if (head < 0) return;
    const length = /content-length: (\d+)/i.exec(this.#text.slice(0, head))?.[1];
    const isWhole =
      length === undefined
        ? this.#text.endsWith("0\r\n\r\n")
        : this.#text.length >= head + 4 + Number(length);
    if (!isWhole) return;
    const answer = this.#text;
    this.#text = "";
    this.#resolve(answer);
  }
}
