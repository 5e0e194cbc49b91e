/** The flat's scenes, which move many devices at once, and the automations that activate them. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import {
  findEntity,
  refuse,
  createToolFactory,
  type ToolContext,
} from "../../environment/server.ts";
import { addDays, getWeekday } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import { carried, isOn, movable, settleClimate, switchOff, switchOn, turnBolt } from "./acting.ts";
import { drawIn, drawOf } from "./physics.ts";
import { sceneId, title } from "./words.ts";
import {
  answering,
  be,
  clockTime,
  deviceOf,
  Home,
  modes,
  placed,
  rhythms,
  rowsOf,
  type Action,
  type Device,
  type Scene,
  type Trigger,
} from "./state.ts";

const tool = createToolFactory(Home);

const mostScenes = 60;
const mostAutomations = 60;

const sceneOf = (home: Home, scene_id: string): Scene =>
  findEntity(home.scenes, scene_id, "scene", "iot_devices_list_scenes gives the ids");

const names = [
  "Movie night",
  "Reading hour",
  "Dinner for six",
  "Yoga",
  "Video call",
  "Deep clean",
  "Siesta",
  "Rainy Sunday",
  "Painting afternoon",
  "Guests arrive",
  "Late snack",
  "Board games",
];

/** Refuses a scene that names devices which are no longer there. */
function complete(home: Home, scene_id: string, { name, actions }: Scene): void {
  const gone = actions
    .filter(it => !Object.hasOwn(home.devices, it.device_id))
    .map(it => home.removed[it.device_id]);
  if (gone.length > 0)
    refuse(
      "precondition_failed",
      `scene ${scene_id} (${name}) uses ${gone.map(it => (it ? `the ${it.name}, removed on ${it.on}` : "a device that is gone")).join(" and ")}`,
      "create a new scene without it, or choose another scene",
    );
}

/** Whether the device is as the action wants it. */
function isDone(device: Device, { do: what, level }: Action): boolean {
  switch (what) {
    case "on":
      return isOn(device);
    case "off":
      return !isOn(device);
    case "open":
      return device.kind === "blinds" && device.position === (level ?? 100);
    case "close":
      return device.kind === "blinds" && device.position === 0;
    case "lock":
      return device.kind === "lock" && device.is_locked;
    case "set":
      return device.kind === "light"
        ? device.is_on && device.brightness === level
        : device.kind === "thermostat"
          ? device.is_on && device.target === level
          : device.kind === "fan" && device.speed === level;
    default:
      return what satisfies never;
  }
}

/** Carries an action out on the draft. */
function act(
  home: Home,
  device: Device,
  { device_id, do: what, level = 100 }: Action,
  by: string,
  context: Pick<ToolContext, "now" | "newId">,
): void {
  const { now } = context;
  answering(home, device_id, device);
  if (what === "off") switchOff(home, device_id, device, now);
  else if (what === "open" || what === "close")
    movable(home, device_id, what === "close" ? 0 : level).position = what === "close" ? 0 : level;
  else if (what === "lock" && device.kind === "lock") {
    if (device.ajar)
      refuse(
        "precondition_failed",
        `the ${device.name} (${device_id}) is not shut`,
        "somebody has to shut it first",
      );
    turnBolt(home, device_id, device, true, by, context);
  } else if (what === "set" && device.kind === "thermostat") {
    settleClimate(home, device.room_id, now);
    Object.assign(device, { is_on: true, target: level });
  } else {
    if (!isOn(device)) switchOn(home, device_id, device, now);
    if (what === "set" && device.kind === "light") device.brightness = level;
    if (what === "set" && device.kind === "fan") device.speed = Math.min(device.speeds, level);
  }
}

const scenes = {
  list_scenes: tool({
    effect: "read",
    summary:
      "List scenes with how many devices each moves, all of them or only those whose name contains some words or that use one device.",
    input: {
      name: label("scene").optional().describe("Only scenes whose name contains this"),
      device_id: id("device").optional().describe("Only scenes that use this device"),
      mode: z.enum(modes).optional().describe("Only scenes that set this mode"),
      limit: z.int().min(1).max(50).optional().describe("At most this many, 30 if not given"),
    },
    returns: {
      scenes: z.array(
        z.object({
          scene: label("scene"),
          scene_id: id("scene"),
          devices: z.int(),
          mode: z.string().optional(),
        }),
      ),
    },
    run(home, { name, device_id, mode, limit = 30 }) {
      if (device_id) deviceOf(home, device_id);
      const found = rowsOf(home.scenes).filter(
        ([, it]) =>
          (!name || containsText(it.name, name)) &&
          (!device_id || it.actions.some(action => action.device_id === device_id)) &&
          (!mode || it.mode === mode),
      );
      found.sort(([a, x], [b, y]) => (x.name < y.name ? -1 : x.name > y.name ? 1 : a < b ? -1 : 1));
      return {
        scenes: found.slice(0, limit).map(([scene_id, it]) => ({
          scene: it.name,
          scene_id,
          devices: it.actions.length,
          ...(it.mode ? { mode: it.mode } : {}),
        })),
      };
    },
  }),
  create_scene: tool({
    effect: "write",
    summary:
      "Make a scene that turns some devices on and others off, and may set the mode of the flat.",
    input: {
      name: title.describe("Name of the scene").meta({ examples: names }),
      turn_on: z
        .array(id("device"))
        .min(1)
        .max(10)
        .optional()
        .describe("Ids of lights, plugs, fans and heating to turn on"),
      turn_off: z
        .array(id("device"))
        .min(1)
        .max(10)
        .optional()
        .describe("Ids of lights, plugs, fans and heating to turn off"),
      brightness: z
        .int()
        .min(1)
        .max(100)
        .optional()
        .describe("Brightness of the lights that it turns on, in percent")
        .meta({ examples: [10, 20, 25, 30, 40, 50, 60, 75, 80] }),
      mode: z.enum(modes).optional().describe("Mode that the scene sets"),
    },
    returns: { scene: label("scene"), scene_id: id("scene"), devices: z.int() },
    run(home, { name, turn_on = [], turn_off = [], brightness, mode }, { newId }) {
      const used = [...turn_on, ...turn_off];
      if (used.length === 0)
        refuse(
          "invalid_params",
          "a scene needs a device to turn on or off",
          "give turn_on or turn_off",
        );
      if (new Set(used).size < used.length)
        refuse(
          "invalid_params",
          "a device is named twice",
          "name each device once, in turn_on or in turn_off",
        );
      const known = rowsOf(getOriginal(home).scenes).find(
        ([, it]) => it.name.toLowerCase() === name.toLowerCase(),
      );
      if (known)
        refuse(
          "conflict",
          `there is already a scene ${known[1].name} (${known[0]})`,
          "choose another name",
        );
      if (Object.keys(getOriginal(home).scenes).length >= mostScenes)
        refuse("limit_exceeded", `the flat has ${mostScenes} scenes already, as many as it keeps`);
      const actions = used.map((device_id, i): Action => {
        const device = deviceOf(home, device_id);
        if (device.kind === "blinds" || device.kind === "lock" || device.kind === "vacuum")
          refuse(
            "precondition_failed",
            `${placed(home, device_id, device)} ${be(device)} not turned on and off`,
            "name lights, plugs, fans or heating",
          );
        if (i >= turn_on.length && device.kind === "plug" && device.essential)
          refuse(
            "permission_denied",
            `${placed(home, device_id, device)} has to stay on`,
            "leave it out",
          );
        const dims =
          i < turn_on.length && brightness !== undefined && device.kind === "light" && device.dims;
        return dims
          ? { device_id, do: "set", level: brightness }
          : { device_id, do: i < turn_on.length ? "on" : "off" };
      });
      const scene_id = newId("scn");
      home.scenes[scene_id] = { name, actions, ...(mode ? { mode } : {}) };
      return { scene: name, scene_id, devices: actions.length };
    },
  }),
  activate_scene: tool({
    effect: "write",
    summary:
      "Activate a scene: all its devices at once do what it says, and the flat takes its mode. Refused as a whole if one of them cannot.",
    input: { scene_id: sceneId },
    returns: {
      scene: label("scene"),
      scene_id: id("scene"),
      changed: z.int().describe("Devices that did something"),
      mode: z.string(),
    },
    run(home, { scene_id }, context) {
      const scene = sceneOf(home, scene_id);
      complete(home, scene_id, scene);
      const frozen = getOriginal(home);
      const todo = frozen.scenes[scene_id]!.actions.filter(
        it => !isDone(frozen.devices[it.device_id]!, it),
      );
      if (todo.length === 0 && (!scene.mode || scene.mode === home.mode))
        refuse(
          "conflict",
          `everything in scene ${scene_id} (${scene.name}) is as it wants already`,
        );
      if (scene.mode) home.mode = scene.mode;
      for (const it of todo)
        act(home, home.devices[it.device_id]!, it, `the ${scene.name} scene`, context);
      const moved = todo.map(it => it.device_id);
      const rooms = new Map(moved.map(it => [frozen.devices[it]!.room_id, 0]));
      for (const room of rooms.keys()) {
        const sum = (of: Home) =>
          moved
            .filter(it => frozen.devices[it]!.room_id === room)
            .reduce((total, it) => total + drawOf(frozen, of.devices[it]!, context.now), 0);
        const extra = sum(home) - sum(frozen);
        if (extra > 0) carried(home, room, Math.round(extra), drawIn(frozen, room, context.now));
      }
      scene.last = context.now;
      return { scene: scene.name, scene_id, changed: todo.length, mode: home.mode };
    },
  }),
};

/** `on weekdays at 07:00`, `when living room temperature is above 24` */
function saidOf(home: Home, when: Trigger): string {
  if (when.kind === "time")
    return `${when.days === "daily" ? "daily" : `on ${when.days}`} at ${when.at}`;
  const { name, tripped } = home.sensors[when.sensor_id]!;
  const bound = when.above === undefined ? `below ${when.below}` : `above ${when.above}`;
  return tripped === undefined ? `when ${name} is ${bound}` : `when ${name} reports`;
}

const automations = {
  list_automations: tool({
    effect: "read",
    summary:
      "List automations: when each activates which scene. All of them, only those whose name contains some words, or only those of one scene.",
    input: {
      name: label("automation").optional().describe("Only automations whose name contains this"),
      scene_id: sceneId.optional().describe("Only automations that activate this scene"),
      enabled: z
        .boolean()
        .optional()
        .describe("True for those that are switched on, false for those that rest"),
      limit: z.int().min(1).max(50).optional().describe("At most this many, 20 if not given"),
    },
    returns: {
      automations: z.array(
        z.object({
          automation: label("automation"),
          automation_id: id("automation"),
          when: z.string(),
          scene: label("scene"),
          enabled: z.boolean(),
        }),
      ),
    },
    run(home, { name, scene_id, enabled, limit = 20 }) {
      if (scene_id) sceneOf(home, scene_id);
      const found = rowsOf(home.automations).filter(
        ([, it]) =>
          (!name || containsText(it.name, name)) &&
          (!scene_id || it.scene_id === scene_id) &&
          (enabled === undefined || it.enabled === enabled),
      );
      found.sort(([a, x], [b, y]) => (x.name < y.name ? -1 : x.name > y.name ? 1 : a < b ? -1 : 1));
      return {
        automations: found.slice(0, limit).map(([automation_id, it]) => ({
          automation: it.name,
          automation_id,
          when: saidOf(home, it.when),
          scene: home.scenes[it.scene_id]!.name,
          enabled: it.enabled,
        })),
      };
    },
  }),
  create_automation: tool({
    effect: "write",
    summary:
      "Activate a scene by itself from now on: at a time of day, or when a sensor reads above or below a value or reports motion, water or smoke.",
    input: {
      name: title.describe("Name of the automation").meta({
        examples: [
          "Wake up gently",
          "Evening lights",
          "Airing reminder",
          "Weekend breakfast",
          "Quiet hours",
          "Leaving for work",
          "Laundry off",
          "Sunset blinds",
        ],
      }),
      scene_id: sceneId,
      at: clockTime()
        .optional()
        .describe("Time of day, HH:MM; give this or sensor_id")
        .meta({
          examples: [
            "06:30",
            "07:00",
            "07:45",
            "08:15",
            "12:30",
            "17:00",
            "18:30",
            "20:00",
            "21:15",
            "22:30",
            "23:00",
          ],
        }),
      days: z.enum(rhythms).optional().describe("On which days, daily if not given"),
      sensor_id: id("sensor")
        .optional()
        .describe("Sensor that sets it off, as iot_devices_list_sensors gives it"),
      above: z
        .number()
        .min(-20)
        .max(5000)
        .optional()
        .describe("It is set off by a reading above this")
        .meta({ examples: [22, 23, 24, 25, 26] }),
      below: z
        .number()
        .min(-20)
        .max(5000)
        .optional()
        .describe("It is set off by a reading below this")
        .meta({ examples: [16, 17, 18, 19, 20] }),
    },
    returns: {
      automation: label("automation"),
      automation_id: id("automation"),
      scene: label("scene"),
      scene_id: id("scene"),
      when: z.string(),
      next: minute().optional(),
    },
    run(home, { name, scene_id, ...wanted }, { now, newId }) {
      const scene = sceneOf(home, scene_id);
      complete(home, scene_id, scene);
      const when = triggerOf(home, wanted);
      const all = Object.values(getOriginal(home).automations);
      const alike = all.find(
        it =>
          it.name.toLowerCase() === name.toLowerCase() ||
          (it.scene_id === scene_id && JSON.stringify(it.when) === JSON.stringify(when)),
      );
      if (alike)
        refuse(
          "conflict",
          `automation ${alike.name} has that name, or does the same`,
          "choose another name, scene or time",
        );
      if (all.length >= mostAutomations)
        refuse(
          "limit_exceeded",
          `the flat has ${mostAutomations} automations already, as many as it keeps`,
        );
      const automation_id = newId("aut");
      home.automations[automation_id] = { name, scene_id, when, enabled: true };
      return {
        automation: name,
        automation_id,
        scene: scene.name,
        scene_id,
        when: saidOf(home, when),
        ...(when.kind === "time" ? { next: nextAt(when, now) } : {}),
      };
    },
  }),
};

interface Wanted {
  at?: string | undefined;
  days?: (typeof rhythms)[number] | undefined;
  sensor_id?: string | undefined;
  above?: number | undefined;
  below?: number | undefined;
}

function triggerOf(home: Home, { at, days = "daily", sensor_id, above, below }: Wanted): Trigger {
  if ((at === undefined) === (sensor_id === undefined))
    refuse(
      "invalid_params",
      "an automation starts either at a time or by a sensor",
      "give at or sensor_id, and not both",
    );
  if (at !== undefined) {
    if (above !== undefined || below !== undefined)
      refuse("invalid_params", "above and below belong to a sensor", "leave them out with at");
    return { kind: "time", at, days };
  }
  const sensor = findEntity(
    home.sensors,
    sensor_id!,
    "sensor",
    "iot_devices_list_sensors gives the ids",
  );
  if (sensor.tripped !== undefined) {
    if (above !== undefined || below !== undefined)
      refuse(
        "invalid_params",
        `${sensor.name} (${sensor_id}) reports ${sensor.kind} and has no values`,
        "leave above and below out",
      );
    return { kind: "sensor", sensor_id: sensor_id! };
  }
  if ((above === undefined) === (below === undefined))
    refuse(
      "invalid_params",
      `${sensor.name} (${sensor_id}) needs a value that sets it off`,
      "give above or below, and not both",
    );
  return {
    kind: "sensor",
    sensor_id: sensor_id!,
    ...(above === undefined ? { below: below! } : { above }),
  };
}

/** The next time that a clock trigger comes round. */
function nextAt({ at, days }: Extract<Trigger, { kind: "time" }>, now: string): string {
  for (let ahead = 0; ; ahead++) {
    const date = addDays(now, ahead);
    const isWeekend = [0, 6].includes(getWeekday(date));
    const next = `${date}T${at}`;
    if (next > now && (days === "daily" || isWeekend === (days === "weekends"))) return next;
  }
}

export const staging = { ...scenes, ...automations };
