/** The model names of the generated devices. */
import type { Device } from "./state.ts";

export const models: Readonly<Record<Device["kind"], readonly string[]>> = {
  light: ["Lumo E27", "Lumo Strip 2", "Glim Spot", "Glim Panel 40", "Halden LED"],
  plug: ["Plugwell S1", "Plugwell S2", "Norra Socket", "Volten Mini"],
  fan: ["Breeza 30", "Breeza Ceiling", "Airon Silent"],
  thermostat: ["Thermia Valve 3", "Thermia Floor", "Kelvo T1"],
  blinds: ["Rollo Battery", "Rollo Solar", "Tendo Shade"],
  lock: ["Bolto Pro", "Bolto Mini", "Keyra Home"],
  vacuum: ["Sweepa 5", "Sweepa 7 Mop", "Cleanbot Air"],
};
