/** Parameters of the tools that change issues. */
import { z } from "zod";
import { refuse } from "../../environment/server.ts";
import { priorities } from "./state.ts";
import { person } from "./parameters.ts";

export function requireFutureDueDay(date: string | undefined, now: string): void {
  if (date !== undefined && date < now.slice(0, 10))
    refuse(
      "precondition_failed",
      `the due day ${date} is past: today is ${now.slice(0, 10)}`,
      "choose today or a later day",
    );
}

export const priority = z.enum(priorities);

export const assignee = person().describe("Full name or e-mail address of a member of the project");
