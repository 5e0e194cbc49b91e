/** Tools for thermostats and fans. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { requireCircuitCapacity, requireHeatable, settleClimate } from "./deviceSwitching.ts";
import { computeClimate, computeRoomDraw, formatDegrees, findThermostat } from "./houseModel.ts";
import { Home, formatDevice, findReadyDevice, rooms, requireNoChildLock } from "./state.ts";
import { fanId } from "./parameters.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Home);

export const climateTools = {
  set_thermostat: tool({
    effect: "write",
    summary:
      "Set how warm a room should become, which also turns its heating on. Refused at an open window.",
    input: {
      room_id: rooms.id,
      target: z
        .number()
        .min(5)
        .max(28)
        .multipleOf(0.5)
        .describe("Degrees Celsius, in steps of a half")
        .meta({ examples: vocabulary.targets }),
    },
    returns: {
      room: label("room"),
      room_id: id("room"),
      target: z.string(),
      temperature: z.string().describe("How warm it is now"),
      heating: z.string(),
    },
    run(home, { room_id, target }, { now }) {
      const { name } = rooms.find(home, room_id);
      const thermostatEntry =
        findThermostat(getOriginal(home), room_id) ??
        refuse(
          "precondition_failed",
          `the ${name} (${room_id}) has no heating of its own`,
          "choose another room",
        );
      const thermostat = findReadyDevice(home, thermostatEntry[0], "thermostat");
      requireNoChildLock(home, thermostatEntry[0], thermostat);
      if (thermostat.is_on && thermostat.target === target)
        refuse("conflict", `the heating in the ${name} is already set to ${target} °C`);
      const { temperature, heating } = computeClimate(getOriginal(home), room_id, now);
      requireHeatable(home, room_id, target, temperature);
      if (target > temperature && !heating)
        requireCircuitCapacity(
          home,
          room_id,
          thermostat.watts,
          computeRoomDraw(getOriginal(home), room_id, now),
        );
      settleClimate(home, room_id, now);
      thermostat.is_on = true;
      thermostat.target = target;
      return {
        room: name,
        room_id,
        target: formatDegrees(target),
        temperature: formatDegrees(temperature),
        heating: target > temperature ? "warming up" : "warm enough",
      };
    },
  }),
  set_fan_speed: tool({
    effect: "write",
    summary: "Set the speed of a fan, from 1 to as many as it has; a fan that is off starts.",
    input: { device_id: fanId, speed: z.int().min(1).max(5).describe("Speed, 1 is the lowest") },
    returns: { name: label("fan"), device_id: id("fan"), speed: z.int(), was: z.int() },
    run(home, { device_id, speed }, { now }) {
      const fan = findReadyDevice(home, device_id, "fan");
      const deviceText = formatDevice(home, device_id, fan);
      requireNoChildLock(home, device_id, fan);
      if (speed > fan.speeds)
        refuse(
          "limit_exceeded",
          `${deviceText} has speeds 1 to ${fan.speeds}, not ${speed}`,
          `choose at most ${fan.speeds}`,
        );
      if (speed === fan.speed) refuse("conflict", `${deviceText} already runs at speed ${speed}`);
      requireCircuitCapacity(
        home,
        fan.room_id,
        fan.watts * (speed - fan.speed),
        computeRoomDraw(getOriginal(home), fan.room_id, now),
      );
      const previousSpeed = fan.speed;
      fan.speed = speed;
      return { name: fan.name, device_id, speed, was: previousSpeed };
    },
  }),
};
