/** A smart home as the person who lives there steers it: 25 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { acting } from "./acting.ts";
import { cleaning } from "./cleaning.ts";
import { looking } from "./looking.ts";
import { staging } from "./scenes.ts";
import { Home } from "./state.ts";

const {
  list_rooms,
  list_devices,
  get_device,
  get_room_state,
  get_temperature,
  get_lock_log,
  list_sensors,
  read_sensor,
} = looking;
const {
  turn_on,
  turn_off,
  set_brightness,
  set_color,
  set_thermostat,
  set_fan_speed,
  lock_door,
  unlock_door,
  open_blinds,
  close_blinds,
} = acting;
const { create_scene, activate_scene, list_scenes, create_automation, list_automations } = staging;

export const server = defineServer({
  name: "iot_devices",
  category: "IoT/Devices",
  summary:
    "rooms, lights, plugs, heating, fans, blinds, locks, vacuums, sensors, scenes and automations",
  schema: Home,
  tools: {
    list_rooms,
    list_devices,
    get_device,
    get_room_state,
    turn_on,
    turn_off,
    set_brightness,
    set_color,
    set_thermostat,
    get_temperature,
    set_fan_speed,
    lock_door,
    unlock_door,
    get_lock_log,
    open_blinds,
    close_blinds,
    list_sensors,
    read_sensor,
    ...cleaning,
    create_scene,
    activate_scene,
    list_scenes,
    create_automation,
    list_automations,
  },
});
