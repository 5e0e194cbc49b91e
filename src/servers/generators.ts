/** The fixture generators of all servers, in the order in which they run. */
import type { FixtureGenerator } from "./shared/generator.ts";
import { generator as banking } from "./banking/generate.ts";
import { generator as calendar } from "./calendar/generate.ts";
import { generator as filesystem } from "./filesystem/generate.ts";
import { generator as trading } from "./trading/generate.ts";
import { generator as payments } from "./payments/generate.ts";
import { generator as email } from "./email/generate.ts";
import { generator as shopping } from "./shopping/generate.ts";
import { generator as marketplace } from "./marketplace/generate.ts";
import { generator as retailChain } from "./retailChain/generate.ts";
import { generator as travelBooking } from "./travelBooking/generate.ts";
import { generator as maps } from "./maps/generate.ts";
import { generator as socialMedia } from "./socialMedia/generate.ts";
import { generator as teamChat } from "./teamChat/generate.ts";
import { generator as iotDevices } from "./iotDevices/generate.ts";
import { generator as vehicle } from "./vehicle/generate.ts";
import { generator as crm } from "./crm/generate.ts";
import { generator as issueTracker } from "./issueTracker/generate.ts";
import { generator as budget } from "./budget/generate.ts";
import { generator as foodDelivery } from "./foodDelivery/generate.ts";
import { generator as videoMeeting } from "./videoMeeting/generate.ts";

export const generators: readonly FixtureGenerator[] = [
  banking,
  calendar,
  filesystem,
  trading,
  payments,
  email,
  shopping,
  marketplace,
  retailChain,
  travelBooking,
  maps,
  socialMedia,
  teamChat,
  iotDevices,
  vehicle,
  crm,
  issueTracker,
  budget,
  foodDelivery,
  videoMeeting,
];
