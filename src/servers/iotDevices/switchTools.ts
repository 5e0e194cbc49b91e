/** Tools that turn devices on and off and set brightness and color. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import {
  requireCircuitCapacity,
  computeDrawWhenOn,
  isOn,
  switchOff,
  switchOn,
  watts,
} from "./deviceSwitching.ts";
import { computeRoomDraw, computeDraw } from "./houseModel.ts";
import {
  requireOnline,
  isOrAre,
  colors,
  devices,
  formatDevice,
  findReadyDevice,
  Home,
  type Device,
} from "./state.ts";
import { lightId } from "./parameters.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Home);

const isSwitched = (device: Device): boolean => "is_on" in device || device.kind === "fan";

export const switchTools = {
  turn_on: tool({
    effect: "write",
    summary:
      "Turn on a light, plug, fan or heating. A light comes back with its last brightness, a fan at its lowest speed.",
    input: { device_id: devices.id },
    returns: { name: label("device"), device_id: id("device"), state: z.string(), watts },
    run(home, { device_id }, { now }) {
      const device = devices.find(home, device_id);
      requireOnline(home, device_id, device);
      if (isSwitched(device) && isOn(device))
        refuse(
          "conflict",
          `${formatDevice(home, device_id, device)} ${isOrAre(device)} already on`,
        );
      const currentDraw = computeRoomDraw(getOriginal(home), device.room_id, now);
      const extraDraw = computeDrawWhenOn(getOriginal(home), device, now);
      requireCircuitCapacity(home, device.room_id, extraDraw, currentDraw);
      switchOn(home, device_id, device, now);
      return { name: device.name, device_id, state: "on", watts: currentDraw + extraDraw };
    },
  }),
  turn_off: tool({
    effect: "write",
    summary:
      "Turn off a light, plug, fan or heating. What has to stay on, such as a fridge, is refused.",
    input: { device_id: devices.id },
    returns: { name: label("device"), device_id: id("device"), state: z.string(), watts },
    run(home, { device_id }, { now }) {
      const device = devices.find(home, device_id);
      requireOnline(home, device_id, device);
      if (isSwitched(device) && !isOn(device))
        refuse(
          "conflict",
          `${formatDevice(home, device_id, device)} ${isOrAre(device)} already off`,
        );
      const remainingDraw =
        computeRoomDraw(getOriginal(home), device.room_id, now) -
        computeDraw(getOriginal(home), getOriginal(home).devices[device_id]!, now);
      switchOff(home, device_id, device, now);
      return { name: device.name, device_id, state: "off", watts: remainingDraw };
    },
  }),
  set_brightness: tool({
    effect: "write",
    summary: "Dim a light or make it brighter, in percent; a light that is off comes on.",
    input: {
      device_id: lightId,
      brightness: z
        .int()
        .min(1)
        .max(100)
        .describe("Brightness in percent")
        .meta({ examples: vocabulary.brightness }),
    },
    returns: { name: label("light"), device_id: id("light"), brightness: z.int(), was: z.string() },
    run(home, { device_id, brightness }, { now }) {
      const light = findReadyDevice(home, device_id, "light");
      const deviceText = formatDevice(home, device_id, light);
      if (!light.dims)
        refuse(
          "precondition_failed",
          `${deviceText} cannot be dimmed`,
          "it can only be turned on and off",
        );
      if (light.is_on && light.brightness === brightness)
        refuse("conflict", `${deviceText} ${isOrAre(light)} already at ${brightness} percent`);
      const brighter = { ...getOriginal(light), brightness, is_on: true };
      const extraDraw =
        computeDraw(home, brighter, now) - computeDraw(home, getOriginal(light), now);
      if (extraDraw > 0)
        requireCircuitCapacity(
          home,
          light.room_id,
          extraDraw,
          computeRoomDraw(getOriginal(home), light.room_id, now),
        );
      const previousValue = light.is_on ? `${light.brightness} percent` : "off";
      light.brightness = brightness;
      light.is_on = true;
      return { name: light.name, device_id, brightness, was: previousValue };
    },
  }),
  set_color: tool({
    effect: "write",
    summary: "Give a light another color. It must be on, and be one that has colors.",
    input: { device_id: lightId, color: z.enum(colors).describe("The color") },
    returns: { name: label("light"), device_id: id("light"), color: z.string(), was: z.string() },
    run(home, { device_id, color }) {
      const light = findReadyDevice(home, device_id, "light");
      const deviceText = formatDevice(home, device_id, light);
      const previousValue =
        light.color ??
        refuse(
          "precondition_failed",
          `${deviceText} ${isOrAre(light)} of one white only`,
          "iot_devices_get_room_state shows which lights have a color",
        );
      if (!light.is_on)
        refuse(
          "precondition_failed",
          `${deviceText} ${isOrAre(light)} off`,
          "iot_devices_turn_on or iot_devices_set_brightness turns it on",
        );
      if (previousValue === color)
        refuse("conflict", `${deviceText} ${isOrAre(light)} already ${color}`);
      light.color = color;
      return { name: light.name, device_id, color, was: previousValue };
    },
  }),
};
