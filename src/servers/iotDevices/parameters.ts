/** Parameters that several tools share. */
import { id, phrase } from "../../environment/fieldSchemas.ts";

const createDeviceId = (kind: string, source: string) =>
  id(kind).describe(`Device id of the ${kind}, as iot_devices_${source}`);
export const lightId = createDeviceId("light", "get_room_state gives it");
export const fanId = createDeviceId("fan", "get_room_state gives it");
export const blindsId = createDeviceId("blinds", "list_devices gives it");
export const lockId = createDeviceId("lock", "get_lock_log gives it");
export const vacuumId = createDeviceId("vacuum", "list_devices gives it in the room of its dock");

export const title = phrase(2, 40);
