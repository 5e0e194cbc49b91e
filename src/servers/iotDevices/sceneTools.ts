/** Tools that list, create and activate scenes and automations. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { ascending, contains, equals, getSchemas, meets, refersTo } from "../kit/table.ts";
import {
  requireMovableBlinds,
  requireOpenableBlinds,
  requireCircuitCapacity,
  requireHeatable,
  isOn,
  settleClimate,
  switchOff,
  switchOn,
} from "./switchTools.ts";
import { requireLockableDoor, turnBolt } from "./doorLockTools.ts";
import {
  computeClimate,
  computeRoomDraw,
  computeDraw,
  devices,
  scenes,
  Home,
  requireNoChildLock,
  requireOnline,
  disarms,
  isOrAre,
  modes,
  formatDevice,
  listRows,
  type Action,
  type Device,
  type Scene,
  title,
  automations,
  clockTime,
  rhythms,
  sensors,
  type Trigger,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { addDays, getWeekday } from "../../environment/time.ts";

const tool = createToolFactory(Home);

export const maxScenes = 60;

/** Refuses a scene that uses removed devices. */
function requireAllDevices(home: Home, scene_id: string, { name, actions }: Scene): void {
  const missingDevices = actions
    .filter(it => !Object.hasOwn(home.devices, it.device_id))
    .map(it => home.removed[it.device_id]);
  if (missingDevices.length > 0)
    refuse(
      "precondition_failed",
      `scene ${scene_id} (${name}) uses ${missingDevices.map(it => (it ? `the ${it.name}, removed on ${it.on}` : "a device that is gone")).join(" and ")}`,
      "create a new scene without it, or choose another scene",
    );
}

/** Whether the device is already in the state that the action sets. */
function isDone(device: Device, { do: verb, level }: Action): boolean {
  switch (verb) {
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
      return verb satisfies never;
  }
}

/** Executes an action on the draft. */
function executeAction(
  home: Home,
  device: Device,
  { device_id, do: verb, level = 100 }: Action,
  by: string,
  context: Pick<ToolContext, "now" | "newId">,
): void {
  const { now } = context;
  requireOnline(home, device_id, device);
  if (verb === "off") switchOff(home, device_id, device, now);
  else if (verb === "open") requireOpenableBlinds(home, device_id, level).position = level;
  else if (verb === "close") requireMovableBlinds(home, device_id, 0).position = 0;
  else if (verb === "lock")
    turnBolt(home, device_id, requireLockableDoor(home, device_id), true, by, context);
  else if (verb === "set" && device.kind === "thermostat") {
    requireNoChildLock(home, device_id, device);
    const { temperature } = computeClimate(getOriginal(home), device.room_id, now);
    requireHeatable(home, device.room_id, level, temperature);
    settleClimate(home, device.room_id, now);
    Object.assign(device, { is_on: true, target: level });
  } else {
    if (verb === "set" && device.kind === "fan") requireNoChildLock(home, device_id, device);
    if (!isOn(device)) switchOn(home, device_id, device, now);
    if (verb === "set" && device.kind === "light") device.brightness = level;
    if (verb === "set" && device.kind === "fan") device.speed = Math.min(device.speeds, level);
  }
}

/** Refuses to leave a device on that must not run while nobody is in. */
function requireNothingAttended(home: Home): void {
  const running = listRows(home.devices).find(
    ([, it]) => it.kind === "plug" && it.attended && it.is_on && !it.offline,
  );
  if (!running) return;
  const deviceText = formatDevice(home, ...running);
  refuse(
    "precondition_failed",
    `${deviceText} is on and must not run while nobody is in, as in away mode`,
    "iot_devices_turn_off turns it off first",
  );
}

const sceneRow = scenes.fields({
  scene: [label("scene"), it => it.name],
  scene_id: scenes.idField,
});
const switchedIds = z.array(id("device")).min(1).max(10).optional();

export const sceneTools = {
  list_scenes: scenes.list({
    summary:
      "List scenes with how many devices each moves, all of them or only those whose name contains some words or that use one device.",
    filters: {
      name: contains(label("scene"), "Only scenes whose name contains this", it => it.name),
      device_id: meets(
        devices.id,
        "Only scenes that use this device",
        (it, deviceId: string) => it.actions.some(action => action.device_id === deviceId),
        (home, deviceId) => devices.find(home, deviceId) && deviceId,
      ),
      mode: equals(z.enum(modes), "Only scenes that set this mode", it => it.mode),
    },
    order: ascending(it => it.name),
    limit: 30,
    row: { ...sceneRow, devices: [z.int(), it => it.actions.length], mode: z.string().optional() },
  }),
  create_scene: tool({
    effect: "write",
    summary:
      "Make a scene that turns some devices on and others off, and may set the mode of the flat.",
    input: {
      name: title.describe("Name of the scene").meta({ examples: vocabulary.scenes }),
      turn_on: switchedIds.describe("Ids of lights, plugs, fans and heating to turn on"),
      turn_off: switchedIds.describe("Ids of lights, plugs, fans and heating to turn off"),
      brightness: z
        .int()
        .min(1)
        .max(100)
        .optional()
        .describe("Brightness of the lights that it turns on, in percent")
        .meta({ examples: vocabulary.sceneBrightness }),
      mode: z.enum(modes).optional().describe("Mode that the scene sets"),
    },
    returns: { ...getSchemas(sceneRow), devices: z.int() },
    run(home, { name, turn_on = [], turn_off = [], brightness, mode }, { newId }) {
      const deviceIds = [...turn_on, ...turn_off];
      if (deviceIds.length === 0)
        refuse(
          "invalid_params",
          "a scene needs a device to turn on or off",
          "give turn_on or turn_off",
        );
      if (new Set(deviceIds).size < deviceIds.length)
        refuse(
          "invalid_params",
          "a device is named twice",
          "name each device once, in turn_on or in turn_off",
        );
      const duplicate = listRows(getOriginal(home).scenes).find(
        ([, it]) => it.name.toLowerCase() === name.toLowerCase(),
      );
      if (duplicate)
        refuse(
          "conflict",
          `there is already a scene ${duplicate[1].name} (${duplicate[0]})`,
          "choose another name",
        );
      if (home.mode === "away" && disarms(mode))
        refuse(
          "precondition_failed",
          `the alarm is armed in away mode: a scene that sets ${mode} mode would disarm it`,
          "make it once the flat is in home mode, or leave out mode",
        );
      if (Object.keys(getOriginal(home).scenes).length >= maxScenes)
        refuse("limit_exceeded", `the flat has ${maxScenes} scenes already, as many as it keeps`);
      const actions = deviceIds.map((device_id, i): Action => {
        const device = devices.find(home, device_id);
        if (device.kind === "blinds" || device.kind === "lock" || device.kind === "vacuum")
          refuse(
            "precondition_failed",
            `${formatDevice(home, device_id, device)} ${isOrAre(device)} not turned on and off`,
            "name lights, plugs, fans or heating",
          );
        if (i >= turn_on.length && device.kind === "plug" && device.essential)
          refuse(
            "permission_denied",
            `${formatDevice(home, device_id, device)} has to stay on`,
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
    input: { scene_id: scenes.id },
    returns: {
      ...getSchemas(sceneRow),
      changed: z.int().describe("Devices that did something"),
      mode: z.string(),
    },
    run(home, { scene_id }, context) {
      const scene = scenes.find(home, scene_id);
      requireAllDevices(home, scene_id, scene);
      const original = getOriginal(home);
      const pendingActions = original.scenes[scene_id]!.actions.filter(
        it => !isDone(original.devices[it.device_id]!, it),
      );
      if (pendingActions.length === 0 && (!scene.mode || scene.mode === home.mode))
        refuse(
          "conflict",
          `everything in scene ${scene_id} (${scene.name}) is as it wants already`,
        );
      if (scene.mode) home.mode = scene.mode;
      for (const it of pendingActions)
        executeAction(home, home.devices[it.device_id]!, it, `the ${scene.name} scene`, context);
      const changedDevices = pendingActions.map(it => it.device_id);
      const rooms = new Map(changedDevices.map(it => [original.devices[it]!.room_id, 0]));
      for (const room of rooms.keys()) {
        const addUpDraw = (of: Home) =>
          changedDevices
            .filter(it => original.devices[it]!.room_id === room)
            .reduce((total, it) => total + computeDraw(original, of.devices[it]!, context.now), 0);
        const extraDraw = addUpDraw(home) - addUpDraw(original);
        if (extraDraw > 0)
          requireCircuitCapacity(
            home,
            room,
            Math.round(extraDraw),
            computeRoomDraw(original, room, context.now),
          );
      }
      if (scene.mode === "away") requireNothingAttended(home);
      scene.last = context.now;
      return { scene: scene.name, scene_id, changed: pendingActions.length, mode: home.mode };
    },
  }),
};

export const maxAutomations = 60;

/** `on weekdays at 07:00`, `when living room temperature is above 24` */
function describeTrigger(home: Home, when: Trigger): string {
  if (when.kind === "time")
    return `${when.days === "daily" ? "daily" : `on ${when.days}`} at ${when.at}`;
  const { name, tripped } = home.sensors[when.sensor_id]!;
  const bound = when.above === undefined ? `below ${when.below}` : `above ${when.above}`;
  return tripped === undefined ? `when ${name} is ${bound}` : `when ${name} reports`;
}

const automationRow = automations.fields({
  automation: [label("automation"), it => it.name],
  automation_id: automations.idField,
});

export const automationTools = {
  list_automations: automations.list({
    summary:
      "List automations: when each activates which scene. All of them, only those whose name contains some words, or only those of one scene.",
    filters: {
      name: contains(
        label("automation"),
        "Only automations whose name contains this",
        it => it.name,
      ),
      scene_id: refersTo(scenes, "Only automations that activate this scene", it => it.scene_id),
      enabled: equals(
        z.boolean(),
        "True for those that are switched on, false for those that rest",
        it => it.enabled,
      ),
    },
    order: ascending(it => it.name),
    limit: 20,
    row: {
      ...automationRow,
      when: [z.string(), (it, { world }) => describeTrigger(world, it.when)],
      scene: [label("scene"), (it, { world }) => world.scenes[it.scene_id]!.name],
      enabled: z.boolean(),
    },
  }),
  create_automation: tool({
    effect: "write",
    summary:
      "Activate a scene by itself from now on: at a time of day, or when a sensor reads above or below a value or reports motion, water or smoke.",
    input: {
      name: title.describe("Name of the automation").meta({
        examples: vocabulary.automations,
      }),
      scene_id: scenes.id,
      at: clockTime().optional().describe("Time of day, HH:MM; give this or sensor_id").meta({
        examples: vocabulary.times,
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
        .meta({ examples: vocabulary.upperBounds }),
      below: z
        .number()
        .min(-20)
        .max(5000)
        .optional()
        .describe("It is set off by a reading below this")
        .meta({ examples: vocabulary.lowerBounds }),
    },
    returns: {
      ...getSchemas(automationRow),
      scene: label("scene"),
      scene_id: id("scene"),
      when: z.string(),
      next: minute().optional(),
    },
    run(home, { name, scene_id, ...triggerRequest }, { now, newId }) {
      const scene = scenes.find(home, scene_id);
      requireAllDevices(home, scene_id, scene);
      const when = createTrigger(home, triggerRequest);
      requireAlarmKept(home, scene_id, scene, when);
      const existing = Object.values(getOriginal(home).automations);
      const duplicate = existing.find(
        it =>
          it.name.toLowerCase() === name.toLowerCase() ||
          (it.scene_id === scene_id && JSON.stringify(it.when) === JSON.stringify(when)),
      );
      if (duplicate)
        refuse(
          "conflict",
          `automation ${duplicate.name} has that name, or does the same`,
          "choose another name, scene or time",
        );
      if (existing.length >= maxAutomations)
        refuse(
          "limit_exceeded",
          `the flat has ${maxAutomations} automations already, as many as it keeps`,
        );
      const automation_id = newId("aut");
      home.automations[automation_id] = { name, scene_id, when, enabled: true };
      return {
        automation: name,
        automation_id,
        scene: scene.name,
        scene_id,
        when: describeTrigger(home, when),
        ...(when.kind === "time" ? { next: computeNextTime(when, now) } : {}),
      };
    },
  }),
};

/**
 * Refuses a sensor that would disarm the alarm: one that an intruder sets off, and any sensor while
 * the alarm is armed.
 */
function requireAlarmKept(home: Home, scene_id: string, { name, mode }: Scene, when: Trigger) {
  if (when.kind === "time" || !disarms(mode)) return;
  const sensor = home.sensors[when.sensor_id]!;
  if (home.mode === "away" || sensor.tripped !== undefined)
    refuse(
      "permission_denied",
      `scene ${scene_id} (${name}) sets ${mode} mode, so that the ${sensor.name} (${when.sensor_id}) would disarm the alarm`,
      "choose a time of day, or a scene that sets no mode",
    );
}

interface TriggerRequest {
  at?: string | undefined;
  days?: (typeof rhythms)[number] | undefined;
  sensor_id?: string | undefined;
  above?: number | undefined;
  below?: number | undefined;
}

function createTrigger(
  home: Home,
  { at, days = "daily", sensor_id, above, below }: TriggerRequest,
): Trigger {
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
  const sensor = sensors.find(home, sensor_id!);
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
function computeNextTime({ at, days }: Extract<Trigger, { kind: "time" }>, now: string): string {
  for (let daysAhead = 0; ; daysAhead++) {
    const date = addDays(now, daysAhead);
    const isWeekend = [0, 6].includes(getWeekday(date));
    const next = `${date}T${at}`;
    if (next > now && (days === "daily" || isWeekend === (days === "weekends"))) return next;
  }
}
