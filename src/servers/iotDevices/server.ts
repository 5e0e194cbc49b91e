/** The smart home server, as used by a person who lives there. */
import { defineServer } from "../../environment/server.ts";
import { automationTools } from "./automationTools.ts";
import { blindTools } from "./blindTools.ts";
import { climateTools } from "./climateTools.ts";
import { deviceQueries } from "./deviceQueries.ts";
import { doorLockTools } from "./doorLockTools.ts";
import { invariants } from "./invariants.ts";
import { roomQueries } from "./roomQueries.ts";
import { sceneTools } from "./sceneTools.ts";
import { sensorQueries } from "./sensorQueries.ts";
import { Home, references } from "./state.ts";
import { switchTools } from "./switchTools.ts";
import { vacuumTools } from "./vacuumTools.ts";

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
