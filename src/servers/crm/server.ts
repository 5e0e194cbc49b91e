/** The CRM server: the CRM of a studio as used by a member of its staff. */
import { defineServer } from "../../environment/server.ts";
import { activityTools } from "./activityTools.ts";
import { contactTools } from "./contactTools.ts";
import { dealTools } from "./dealTools.ts";
import { invariants } from "./invariants.ts";
import { leadConversion } from "./leadConversion.ts";
import { leadTools } from "./leadTools.ts";
import { Crm, references } from "./state.ts";

export const server = defineServer({
  name: "crm",
  category: "Knowledge/CRM",
  summary: "leads, contacts and their firms, deals with stages, notes, tasks",
  schema: Crm,
  references,
  tools: { ...leadTools, ...leadConversion, ...contactTools, ...dealTools, ...activityTools },
  invariants,
});

export type { Crm } from "./state.ts";
