/** Parameters and result fields that several tools share. */
import { z } from "zod";
import { day, id, label, money, spokenId, phrase } from "../../environment/fieldSchemas.ts";
import { ascending, type RowContext } from "../kit/table.ts";
import { contacts, deals, tasks, type Crm, type Task } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

/** Colleagues are identified by their names, not by ids. */
export const person = () => spokenId("person");
export const owner = person().optional();

export const email = z.email().max(80);
export const emails = vocabulary.emails;
export const phone = z
  .string()
  .regex(/^\+?[0-9][0-9 ]{5,18}$/)
  .meta({ examples: vocabulary.phones });
export const personName = phrase(2, 60).meta({ examples: vocabulary.people });
export const firmName = phrase(2, 60).meta({ examples: vocabulary.firms });
export const title = phrase(3, 80)
  .describe("Title of the deal")
  .meta({ examples: vocabulary.titles });
export const amount = money().meta({ examples: vocabulary.amounts });

export const firmFields = contacts.fields({
  firm: [label("firm"), (it, { world }) => world.firms[it.firm_id]!.name],
  firm_id: id("firm"),
});
export const dealRow = deals.fields({
  title: label("deal"),
  deal_id: deals.idField,
  stage: z.string(),
});
export const taskRow = tasks.fields({
  task: [label("task"), it => it.title],
  task_id: tasks.idField,
  due: day(),
});
/** The open tasks of a contact or a deal, the most urgent first. */
export const openTasks = (where: (task: Task, owner: RowContext<Crm>) => boolean) =>
  tasks.related({
    row: taskRow,
    where: (it, owner) => it.status === "open" && where(it, owner),
    order: ascending(it => it.due),
  });
