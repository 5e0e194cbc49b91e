/** Tools that list and create automations. */
import { z } from "zod";
import { id, label, minute, rowLimit } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { addDays, getWeekday } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import { requireAllDevices } from "./sceneTools.ts";
import { findScene } from "./sceneLookup.ts";
import { Home, clockTime, disarms, rhythms, listRows, type Scene, type Trigger } from "./state.ts";
import { sceneId, title } from "./parameters.ts";

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

export const automationTools = {
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
      limit: rowLimit(20),
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
      if (scene_id) findScene(home, scene_id);
      const matches = listRows(home.automations).filter(
        ([, it]) =>
          (!name || containsText(it.name, name)) &&
          (!scene_id || it.scene_id === scene_id) &&
          (enabled === undefined || it.enabled === enabled),
      );
      matches.sort(([a, x], [b, y]) =>
        x.name < y.name ? -1 : x.name > y.name ? 1 : a < b ? -1 : 1,
      );
      return {
        automations: matches.slice(0, limit).map(([automation_id, it]) => ({
          automation: it.name,
          automation_id,
          when: describeTrigger(home, it.when),
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
    run(home, { name, scene_id, ...triggerRequest }, { now, newId }) {
      const scene = findScene(home, scene_id);
      requireAllDevices(home, scene_id, scene);
      const when = createTrigger(home, triggerRequest);
      requireAlarmKept(home, scene_id, scene, when);
      const automations = Object.values(getOriginal(home).automations);
      const duplicate = automations.find(
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
      if (automations.length >= maxAutomations)
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
function computeNextTime({ at, days }: Extract<Trigger, { kind: "time" }>, now: string): string {
  for (let daysAhead = 0; ; daysAhead++) {
    const date = addDays(now, daysAhead);
    const isWeekend = [0, 6].includes(getWeekday(date));
    const next = `${date}T${at}`;
    if (next > now && (days === "daily" || isWeekend === (days === "weekends"))) return next;
  }
}
