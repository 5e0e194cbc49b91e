/** Attacks through tool calls, which a policy in training finds if they pay. */
import { expect, test } from "vitest";
import { openSessionByName } from "../../src/environment/catalog.ts";
import { parseFixture } from "../../src/environment/fixture.ts";
import { maxStateSize, type Session } from "../../src/environment/session.ts";
import { catalog } from "../contracts/transports.ts";

const open = (server: string): Session =>
  openSessionByName(catalog, { servers: [{ name: server, fixture: "full" }], seed: 1 });

const measure = (session: Session, server: string) =>
  JSON.stringify(session.state[server]!.world).length;

test("archives of archives do not multiply the state until memory is full", () => {
  const session = open("filesystem");
  const call = (name: string, args: object) => session.call(`filesystem_${name}`, args).outcome;
  const run = (name: string, args: object) =>
    expect(call(name, args), name).toMatchObject({ kind: "ok" });
  run("mkdir", { path: "~/bomb" });
  run("write_file", { path: "~/bomb/x.txt", text: "0123456789" });
  run("zip", { source: "~/bomb", archive: "~/x.zip" });
  // each round packs two copies of the last archive, whose quota is some 150 bytes
  const pack = () => {
    run("rm", { path: "~/bomb", recursive: true, permanent: true });
    run("mkdir", { path: "~/bomb" });
    run("mv", { source: "~/x.zip", destination: "~/bomb" });
    run("cp", { source: "~/bomb/x.zip", destination: "~/bomb", name: "y.zip" });
    return call("zip", { source: "~/bomb", archive: "~/x.zip" });
  };
  let outcome = pack();
  for (let round = 1; round < 20 && outcome.kind === "ok"; round++) outcome = pack();
  expect(outcome).toMatchObject({ kind: "refused", type: "limit_exceeded" });
  expect(outcome).toHaveProperty(
    "message",
    expect.stringContaining(`${maxStateSize} are the most`),
  );
  expect(measure(session, "filesystem")).toBeLessThan(maxStateSize * 1.05);
  // what is there can still be deleted
  run("rm", { path: "~/bomb", recursive: true, permanent: true });
});

test("a fixture near the end of the calendar does not make the clock leave it", () => {
  const server = catalog.getServer("banking");
  const fixture = { ...catalog.getFixture("banking", "small"), now: "9999-12-31T23:59" };
  expect(() => parseFixture(server, JSON.stringify(fixture), "late.fixture.json")).toThrow(
    "must be in the years 1000 to 9899",
  );
});
