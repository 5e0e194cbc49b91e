/** Renders the page of a task's policy: how to work, what a server refuses, and the rules. */
import { join } from "node:path";
import { z } from "zod";
import { isJsonObject, type Json } from "../../environment/json.ts";
import { readJsonFile } from "../../storage/parseJson.ts";
import type { TaskRule } from "../../trajectory/taskRules.ts";
import { UserError } from "../../userError.ts";
import type { ServerPage } from "./serverPolicies.ts";

const conductSchema = z.strictObject({
  format: z.literal("prove/policy-page@1"),
  /** What `needs` names is in the page only with such a rule. */
  conduct: z
    .array(
      z.strictObject({ say: z.string(), needs: z.enum(["confirm", "never", "proof"]).optional() }),
    )
    .min(1),
});

/** How an assistant works, on every page. */
export type Conduct = z.infer<typeof conductSchema>["conduct"];

export const readConduct = (resources: string): Conduct =>
  readJsonFile(conductSchema, join(resources, "policyPage.json")).conduct;

/** The part of a page about one server. */
interface PagePart {
  readonly server: string;
  readonly page: ServerPage | undefined;
  readonly rules: readonly TaskRule[];
  /** The state of the server, from which numbers come; only the rules are listed without it. */
  readonly state?: Json;
}

/** The page in Markdown. It begins with a heading. */
export function renderPolicyPage(parts: readonly PagePart[], conduct: Conduct): string {
  const rules = parts.flatMap(it => it.rules);
  const own = conduct.filter(
    ({ needs }) => needs === undefined || rules.some(it => it.demands === needs),
  );
  return ["# Policy", "## How to work", list(own.map(it => it.say)), ...parts.flatMap(render)].join(
    "\n\n",
  );
}

function render({ server, page, rules, state }: PagePart): string[] {
  const sections =
    state === undefined
      ? []
      : (page?.sections ?? []).flatMap(it => [
          `### ${it.title}`,
          list(it.statements.map(({ say }) => fillNumbers(say, state, server))),
        ]);
  if (sections.length + rules.length === 0) return [];
  const texts = list(rules.map(it => it.text));
  return [
    `## ${page?.title ?? server}`,
    ...sections,
    ...(rules.length === 0 ? [] : sections.length === 0 ? [texts] : ["### Rules", texts]),
  ];
}

const list = (texts: readonly string[]): string => texts.map(it => `- ${it}`).join("\n");

/** The text with the numbers of the state. Throws a `UserError` where there is none. */
function fillNumbers(text: string, state: Json, server: string): string {
  return text.replaceAll(/\{([\w.]+)\}/g, (_, path: string) => {
    const value = path.split(".").reduce(getField, state);
    if (typeof value !== "number")
      throw new UserError(
        `a statement of the policies of ${server} names {${path}}, and the state has no number there`,
        "correct that statement",
      );
    return String(value);
  });
}

const getField = (of: Json, key: string): Json => (isJsonObject(of) ? (of[key] ?? null) : null);
