/** Parameters that several tools share, and the check that a sensor answers. */
import { z } from "zod";
import { id } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import type { Sensor } from "./state.ts";

export const roomId = id("room").describe("Room id, as iot_devices_list_rooms gives it");
export const deviceId = id("device").describe("Device id, as iot_devices_list_devices gives it");
export const lightId = id("light").describe(
  "Device id of the light, as iot_devices_get_room_state gives it",
);
export const fanId = id("fan").describe(
  "Device id of the fan, as iot_devices_get_room_state gives it",
);
export const blindsId = id("blinds").describe(
  "Device id of the blinds, as iot_devices_list_devices gives it",
);
export const lockId = id("lock").describe(
  "Device id of the lock, as iot_devices_get_lock_log gives it",
);
export const vacuumId = id("vacuum").describe(
  "Device id of the vacuum, as iot_devices_list_devices gives it in the room of its dock",
);
export const sceneId = id("scene").describe("Scene id, as iot_devices_list_scenes gives it");

export const title = z.string().min(2).max(40).regex(/\S/);

/** Refuses a sensor that is offline. */
export function requireOnlineSensor(sensorId: string, { name, offline, battery }: Sensor): void {
  if (offline)
    refuse(
      "precondition_failed",
      `sensor ${sensorId} (${name}) is offline with ${battery} percent of battery`,
      "its battery may have to be changed; iot_devices_get_room_state shows what the others in the room say",
    );
}
