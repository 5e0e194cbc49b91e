/** Finds a port for a program that cannot choose a free one itself. */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
