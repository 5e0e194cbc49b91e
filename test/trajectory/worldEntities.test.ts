/** Finding entities by their ids in the states of servers. */
import { expect, test } from "vitest";
import { findEntityPath, getEntity } from "../../src/trajectory/entities.ts";
import { catalog } from "./sampleTasks.ts";

const worldOf = (server: string) => catalog.getFixture(server, "full").state;

test("an entity is found by its id, in collections at any level", () => {
  expect(findEntityPath(worldOf("banking"), "acc_101")).toEqual(["accounts", "acc_101"]);
  const line = Object.keys(
    getEntity(worldOf("shopping"), ["cart", "lines"]) as Record<string, object>,
  )[0]!;
  expect(findEntityPath(worldOf("shopping"), line)).toEqual(["cart", "lines", line]);
});

test("of several entities with one id, the one of the wanted kind is found", () => {
  const world = worldOf("trading");
  expect(findEntityPath(world, "HLYN", "symbol")).toEqual(["symbols", "HLYN"]);
  expect(findEntityPath(world, "HLYN", "position")).toEqual(["positions", "HLYN"]);
});

test("an entity is found by a field that only it has, and a file by its path", () => {
  const bookings = worldOf("travel_booking")["flight_bookings"] as Record<string, object>;
  const [id, booking] = Object.entries(bookings)[0]!;
  const { reference } = booking as { reference: string };
  expect(findEntityPath(worldOf("travel_booking"), reference, "flight_booking")).toEqual([
    "flight_bookings",
    id,
  ]);
  const home = findEntityPath(worldOf("filesystem"), "/home/ana")!;
  expect(getEntity(worldOf("filesystem"), home)).toMatchObject({ type: "directory" });
  expect(findEntityPath(worldOf("filesystem"), "~/projects")).toEqual([
    ...home,
    "entries",
    "projects",
  ]);
});

test("an unknown id and a field that many entities have lead nowhere", () => {
  expect(findEntityPath(worldOf("banking"), "acc_999")).toBeUndefined();
  expect(findEntityPath(worldOf("banking"), "open")).toBeUndefined();
  expect(findEntityPath(worldOf("filesystem"), "/home/nobody")).toBeUndefined();
});
