/** All servers' parts of a world, in the order in which they are made. Knows which there are, not what they hold. */
import type { Part } from "./part.ts";
import { emailPart } from "./email.ts";
import { handWrittenParts } from "./shipped.ts";
import { tradingPart } from "./trading.ts";
import { paymentsPart } from "./payments.ts";
import { mapsPart } from "./maps.ts";
import { iotDevicesPart } from "./iotDevices.ts";
import { crmPart } from "./crm.ts";
import { shoppingPart } from "./shopping.ts";

export const parts: readonly Part[] = [
  ...handWrittenParts,
  tradingPart,
  paymentsPart,
  emailPart,
  shoppingPart,
  mapsPart,
  iotDevicesPart,
  crmPart,
];
