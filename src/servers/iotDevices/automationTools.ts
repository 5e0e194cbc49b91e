/** Tools that list and create automations. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addDays, getWeekday } from "../../environment/time.ts";
import { ascending, contains, equals, getSchemas, refersTo } from "../kit/table.ts";
import { requireAllDevices } from "./sceneTools.ts";
import {
  automations,
  clockTime,
  disarms,
  Home,
  rhythms,
  scenes,
  sensors,
  type Scene,
  type Trigger,
} from "./state.ts";
import { title } from "./parameters.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Home);

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
