/** The tools of the example server: what they return, what they change, and what they refuse. */
import { join } from "node:path";
import { test } from "vitest";
import { createChecks, refuses, returns } from "../check.ts";
import { listOwnServers } from "../../../src/servers/own/ownServers.ts";

const fixtures = join(import.meta.dirname, "prove/fixtures");
const [server] = await listOwnServers([fixtures], []);
const { check, checkAllTools } = createChecks(server!, fixtures);

const [monstera, lemonTree] = ["plant_101", "plant_104"] as const;

test("the plants of a room are listed, those that need water soonest first", () => {
  check(
    [["list_plants", { room: "kitchen", limit: 2 }]],
    returns({
      plants: [
        { plant: "Big Monstera", plant_id: monstera, due: "2026-03-07" },
        { plant: "Big Lemon Tree", plant_id: lemonTree, due: "2026-03-09" },
      ],
    }),
  );
  check([["list_plants", { limit: 0 }]], refuses("invalid_params", /limit/));
});

test("a plant has its waterings, the latest first", () => {
  check(
    [["get_plant", { plant_id: monstera }]],
    returns({
      species: "Monstera deliciosa",
      keeper: "Farid Haddad",
      waterings: [{ day: "2026-02-27" }, { day: "2026-02-19" }],
    }),
  );
  check([["get_plant", { plant_id: "plant_1" }]], refuses("not_found", /no plant plant_1/));
});

test("a plant is watered at most once a day", () => {
  const water = ["water_plant", { plant_id: monstera, millilitres: 400 }] as const;
  check([water], returns({ plant: "Big Monstera", millilitres: 400 }));
  check([water, water], refuses("conflict", /got 400 ml today/));
  check([water, ["undo_watering", {}], water], returns({ plant: "Big Monstera" }));
});

test("only a watering of today is undone", () => {
  check(
    [
      ["water_plant", { plant_id: monstera, millilitres: 400 }],
      ["undo_watering", {}],
    ],
    returns({ plant: "Big Monstera", millilitres: 400 }),
  );
  check([["undo_watering", {}]], refuses("precondition_failed", /no plant was watered today/));
});

test("a watered plant is due after its interval", () => {
  check(
    [
      ["water_plant", { plant_id: monstera, millilitres: 400 }],
      ["list_plants", { name: "monstera" }],
    ],
    returns({ plants: [{ plant_id: monstera, due: "2026-03-17" }] }),
  );
});

test("a plant moves to another room", () => {
  check([["move_plant", { plant_id: monstera, room: "hall" }]], returns({ room: "hall" }));
  check(
    [["move_plant", { plant_id: monstera, room: "kitchen" }]],
    refuses("conflict", /in the kitchen already/),
  );
});

checkAllTools();
