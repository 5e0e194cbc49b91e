/**
 * The smart home server, as used by a person who lives there. Also its rules, which hold
 * whichever tools are used.
 */
import {
  defineStateRule,
  defineWriteRule,
  isSameJson,
  listAddedRows,
  listChangedFields,
  listChangedRows,
  listChanges,
  listRemovedRows,
} from "../../environment/invariants.ts";
import { maxAutomations, automationTools, maxScenes, sceneTools } from "./sceneTools.ts";
import {
  minCharge,
  blindTools,
  maxAwayTemperature,
  climateTools,
  switchTools,
} from "./switchTools.ts";
import { computeDraw, disarms, type Device, Home, references } from "./state.ts";
import { defineServer } from "../../environment/server.ts";
import { deviceQueries, roomQueries, sensorQueries } from "./deviceQueries.ts";
import { doorLockTools, vacuumTools } from "./doorLockTools.ts";

const listChangedDevices = (home: Home, before: Home): [string, Device, Device][] =>
  listChangedRows(before.devices, home.devices);

/** What the lights, plugs and fans of a room draw, which does not depend on the time. */
const sumSwitchedDraw = (home: Home, roomId: string): number =>
  Object.values(home.devices)
    .filter(it => it.room_id === roomId && ["light", "plug", "fan"].includes(it.kind))
    .reduce((sum, it) => sum + computeDraw(home, it, ""), 0);

const invariants = [
  defineStateRule<Home>(
    "What must not run unattended is off in away mode.",
    function* ({ mode, devices }) {
      for (const [id, it] of Object.entries(devices))
        if (mode === "away" && it.kind === "plug" && it.attended && it.is_on && !it.offline)
          yield `${id} is on`;
    },
  ),
  defineWriteRule<Home>(
    "In away mode nothing is heated above its limit, opened or unlocked.",
    function* (home, before) {
      if (home.mode !== "away") return;
      for (const [id, it, previous] of listChangedDevices(home, before)) {
        if (it.kind === "thermostat" && it.is_on && it.target > maxAwayTemperature)
          yield `${id} is set to ${it.target}`;
        if (it.kind === "blinds" && previous.kind === "blinds" && it.position > previous.position)
          yield `${id} is opened`;
        if (it.kind === "lock" && !it.is_locked) yield `${id} is unlocked`;
      }
    },
  ),
  defineWriteRule<Home>(
    "What has a child lock, is offline or has to stay on stays as it is.",
    function* (home, before) {
      for (const [id, it, previous] of listChangedDevices(home, before)) {
        if ("child_lock" in previous && previous.child_lock) yield `${id} has a child lock`;
        if (previous.offline) yield `${id} is offline`;
        if (it.kind === "plug" && it.essential && !it.is_on) yield `${id} is off`;
      }
    },
  ),
  defineWriteRule<Home>(
    "Devices change only in what their controls set.",
    function* (home, before) {
      const controls = {
        light: ["is_on", "brightness", "color"],
        plug: ["is_on"],
        fan: ["speed"],
        thermostat: ["is_on", "target"],
        blinds: ["position"],
        lock: ["is_locked"],
        vacuum: ["activity", "since", "battery", "bin", "rooms"],
      };
      for (const { id, before: previous, after } of listChanges(before.devices, home.devices)) {
        if (!previous || !after) yield `${id} is ${after ? "new" : "gone"}`;
        else
          for (const field of listChangedFields(previous, after))
            if (!controls[after.kind].includes(field)) yield `${field} of ${id} has changed`;
      }
    },
  ),
  defineWriteRule<Home>(
    "Locks and blinds move only with enough charge, and a door is locked only when it is shut.",
    function* (home, before) {
      for (const [id, it] of listChangedDevices(home, before)) {
        if ((it.kind === "lock" || it.kind === "blinds") && it.battery < minCharge[it.kind])
          yield `${id} has ${it.battery} percent`;
        if (it.kind === "lock" && it.is_locked && it.ajar) yield `${id} is locked and not shut`;
      }
    },
  ),
  defineWriteRule<Home>(
    "A door is unlocked only with a valid code, and the log has each turn of a bolt.",
    function* (home, before) {
      const turns = listChangedDevices(home, before).filter(([, it]) => it.kind === "lock");
      const entries = listAddedRows(before.log, home.log).map(([, it]) => it);
      if (entries.length !== turns.length)
        yield `${entries.length} entries for ${turns.length} turns`;
      for (const { lock_id, action, by, at } of entries) {
        const lock = home.devices[lock_id];
        if (lock?.kind !== "lock" || lock.is_locked !== (action === "locked"))
          yield `${lock_id} is not ${action}`;
        else if (action === "unlocked") {
          const codes = lock.codes.filter(it => !it.until || it.until >= at.slice(0, 10));
          if (!codes.some(it => it.holder === by)) yield `${lock_id} is unlocked for ${by}`;
        }
      }
      for (const [id] of listChangedRows(before.log, home.log)) yield `${id} has changed`;
      for (const [id] of listRemovedRows(before.log, home.log)) yield `${id} is gone`;
    },
  ),
  defineWriteRule<Home>("No circuit is loaded beyond what it carries.", function* (home, before) {
    if (home.devices === before.devices) return;
    for (const [id, { circuit }] of Object.entries(home.rooms)) {
      const draw = sumSwitchedDraw(home, id);
      if (draw > circuit && draw > sumSwitchedDraw(before, id)) yield `${id} draws ${draw} W`;
    }
  }),
  defineWriteRule<Home>(
    "Vacuums start from their dock only, not at night, and not over thresholds.",
    function* (home, before) {
      for (const [id, it, previous] of listChangedDevices(home, before)) {
        if (it.kind !== "vacuum" || previous.kind !== "vacuum" || it.activity !== "cleaning")
          continue;
        if (previous.activity !== "docked") yield `${id} was ${previous.activity}`;
        if (home.mode === "night") yield `${id} cleans at night`;
        for (const room of it.rooms)
          if (home.rooms[room]!.threshold) yield `${id} cannot get to ${room}`;
      }
    },
  ),
  defineWriteRule<Home>("The mode changes only by a scene that sets it.", function* (home, before) {
    if (home.mode === before.mode) return;
    const isSet = listChangedRows(before.scenes, home.scenes).some(
      ([, it]) => it.mode === home.mode,
    );
    if (!isSet) yield `the mode is ${home.mode}, was ${before.mode}`;
  }),
  defineWriteRule<Home>(
    "Nothing is added that disarms the alarm: no scene while it is armed, no automation by a sensor that an intruder sets off or while it is armed.",
    function* (home, before) {
      const isArmed = before.mode === "away";
      for (const [id, { mode }] of listAddedRows(before.scenes, home.scenes))
        if (isArmed && disarms(mode)) yield `${id} sets ${mode} mode`;
      for (const [id, { scene_id, when }] of listAddedRows(before.automations, home.automations))
        if (
          when.kind === "sensor" &&
          disarms(home.scenes[scene_id]!.mode) &&
          (isArmed || home.sensors[when.sensor_id]!.tripped !== undefined)
        )
          yield `${when.sensor_id} disarms the alarm by ${id}`;
    },
  ),
  defineWriteRule<Home>(
    "Scenes and automations are only added, up to 60 each, with their own names.",
    function* (home, before) {
      for (const [table, max] of [
        ["scenes", maxScenes],
        ["automations", maxAutomations],
      ] as const) {
        const rows: Record<string, { name: string }> = home[table];
        const names = Object.values(rows).map(it => it.name.toLowerCase());
        if (names.length > max) yield `${names.length} ${table}`;
        for (const [id, it] of listAddedRows(before[table] as typeof rows, rows))
          if (names.filter(name => name === it.name.toLowerCase()).length > 1)
            yield `${id} has the name of another`;
        for (const [id, it, previous] of listChangedRows(before[table] as typeof rows, rows))
          if (listChangedFields(previous, it).join() !== "last") yield `${id} has changed`;
        for (const [id] of listRemovedRows(before[table] as typeof rows, rows))
          yield `${id} is gone`;
      }
    },
  ),
  defineWriteRule<Home>(
    "Calls change neither sensors nor rooms, except for the temperature at a time.",
    function* (home, before) {
      if (!isSameJson(home.sensors, before.sensors)) yield "a sensor has changed";
      for (const { id, before: previous, after } of listChanges(before.rooms, home.rooms))
        if (!previous || !after || listChangedFields(previous, after).some(it => it !== "climate"))
          yield `${id} has changed`;
    },
  ),
];

const { list_rooms, get_room_state, get_temperature } = roomQueries;
const { set_thermostat, set_fan_speed } = climateTools;
const { create_scene, activate_scene, list_scenes } = sceneTools;
const { create_automation, list_automations } = automationTools;

export const server = defineServer({
  name: "iot_devices",
  category: "IoT/Devices",
  summary:
    "rooms, lights, plugs, heating, fans, blinds, locks, vacuums, sensors, scenes and automations",
  schema: Home,
  references,
  invariants,
  tools: {
    list_rooms,
    ...deviceQueries,
    get_room_state,
    ...switchTools,
    set_thermostat,
    get_temperature,
    set_fan_speed,
    ...doorLockTools,
    ...blindTools,
    ...sensorQueries,
    ...vacuumTools,
    create_scene,
    activate_scene,
    list_scenes,
    create_automation,
    list_automations,
  },
});
