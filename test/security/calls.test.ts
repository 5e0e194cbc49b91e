/** Attacks through tool calls, which a policy in training finds if they pay. */
import { expect, test } from "vitest";
import { z } from "zod";
import { openSessionByName } from "../../src/environment/catalog.ts";
import { fixtureFormat, parseFixture, type Fixture } from "../../src/environment/fixture.ts";
import { createToolFactory, defineServer } from "../../src/environment/server.ts";
import { maxStateSize, openSession, type Session } from "../../src/environment/session.ts";
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
  // each round packs two copies of the last archive
  const pack = () => {
    call("rm", { path: "~/bomb", recursive: true, permanent: true });
    call("mkdir", { path: "~/bomb" });
    call("mv", { source: "~/x.zip", destination: "~/bomb" });
    const copied = call("cp", { source: "~/bomb/x.zip", destination: "~/bomb", name: "y.zip" });
    return copied.kind === "ok" ? call("zip", { source: "~/bomb", archive: "~/x.zip" }) : copied;
  };
  let outcome = pack();
  for (let round = 1; round < 20 && outcome.kind === "ok"; round++) outcome = pack();
  expect(outcome).toMatchObject({ kind: "refused", type: "limit_exceeded" });
  expect(measure(session, "filesystem")).toBeLessThan(maxStateSize);
  // what is there can still be deleted
  run("rm", { path: "~/bomb", recursive: true, permanent: true });
});

test("a tool that keeps what it is given does not fill the memory", () => {
  const schema = z.strictObject({ notes: z.array(z.string()) });
  const tool = createToolFactory(schema);
  const server = defineServer({
    name: "notes",
    category: "test",
    summary: "notes without a limit of their own",
    schema,
    tools: {
      add: tool({
        effect: "write",
        summary: "Add a note.",
        input: { text: z.string() },
        returns: { count: z.int() },
        run: (state, { text }) => ({ count: state.notes.push(text) }),
      }),
      clear: tool({
        effect: "write",
        summary: "Delete all notes.",
        input: {},
        returns: {},
        run(state) {
          state.notes = [];
          return {};
        },
      }),
    },
  });
  const fixture: Fixture = {
    format: fixtureFormat,
    server: "notes",
    name: "empty",
    now: "2026-03-09T09:00",
    state: { notes: [] },
  };
  const session = openSession({ servers: [{ server, fixture }], seed: 1 });
  const add = () => session.call("notes_add", { text: "x".repeat(90_000) }).outcome;
  const outcomes = Array.from({ length: 12 }, add);
  expect(outcomes.filter(it => it.kind === "ok")).toHaveLength(11);
  expect(outcomes[11]).toMatchObject({
    kind: "refused",
    type: "limit_exceeded",
    message: expect.stringContaining(`${maxStateSize} are the most`) as string,
  });
  expect(measure(session, "notes")).toBeLessThan(maxStateSize);
  expect(session.call("notes_clear", {}).outcome.kind).toBe("ok");
  expect(add().kind).toBe("ok");
});

test("a fixture near the end of the calendar does not make the clock leave it", () => {
  const server = catalog.getServer("banking");
  const fixture = { ...catalog.getFixture("banking", "small"), now: "9999-12-31T23:59" };
  expect(() => parseFixture(server, JSON.stringify(fixture), "late.fixture.json")).toThrow(
    "must be in the years 1000 to 9899",
  );
});
