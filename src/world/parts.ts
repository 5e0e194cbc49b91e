/** All servers' parts of a world, in the order in which they are made. Knows which there are, not what they hold. */
import type { Part } from "./part.ts";
import { crmPart } from "./crm.ts";
import { handWrittenParts } from "./shipped.ts";
import { mapsPart } from "./maps.ts";
import { paymentsPart } from "./payments.ts";
import { iotDevicesPart } from "./iotDevices.ts";

export const parts: readonly Part[] = [
  ...handWrittenParts,
  paymentsPart,
  mapsPart,
  iotDevicesPart,
  crmPart,
];
