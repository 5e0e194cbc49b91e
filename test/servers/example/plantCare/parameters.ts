/** Parameters and result fields that several tools of the plant care server share. */
import { z } from "zod";
import { id, label } from "../../../../src/environment/fieldSchemas.ts";
import { rooms } from "./state.ts";

export const plantId = id("plant").describe("Plant id, as plant_care_list_plants gives it");

export const room = z.enum(rooms);

/** The fields by which each result names a plant. */
export const plantFields = { plant: label("plant"), plant_id: id("plant") };
