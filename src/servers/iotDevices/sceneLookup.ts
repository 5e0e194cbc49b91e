/** Finds a scene by its id. */
import { findEntity } from "../../environment/server.ts";
import { type Home, type Scene } from "./state.ts";

export const findScene = (home: Home, scene_id: string): Scene =>
  findEntity(home.scenes, scene_id, "scene", "iot_devices_list_scenes gives the ids");
