/** Asks for the teacher of a synthesis: the dependency graph, an endpoint or an editor's model. */
import type { LanguageModelChat } from "vscode";
import { askText, pickOne, type Question } from "../shared/quickInput.ts";
import { validateAddress } from "./endpointKeys.ts";

/** The chosen teacher, without the key of an endpoint. */
export type TeacherChoice =
  | { readonly kind: "graph" }
  | { readonly kind: "endpoint"; readonly url: string; readonly model: string }
  | { readonly kind: "editor"; readonly model: string };

/** Asks for the kind of teacher. Its url and model are defaults for the next questions. */
export async function pickTeacher(
  current: TeacherChoice,
  question: Question,
  models: readonly LanguageModelChat[],
  endpoint: { readonly url: string; readonly model: string },
): Promise<TeacherChoice> {
  const items = [
    {
      label: "The dependency graph",
      description: "offline; the same seed gives the same tasks",
      teacher: "graph" as const,
    },
    {
      label: "An endpoint…",
      description: "a model behind an OpenAI-compatible address",
      teacher: "endpoint" as const,
    },
    ...(models.length
      ? [
          {
            label: "A language model of the editor…",
            description: `${models.length} available`,
            teacher: "editor" as const,
          },
        ]
      : []),
  ];
  const currentFirst = items.toSorted(
    (a, b) => Number(b.teacher === current.kind) - Number(a.teacher === current.kind),
  );
  const { teacher: kind } = await pickOne(currentFirst, question);
  if (kind === current.kind) return current;
  if (kind === "graph") return { kind };
  return kind === "editor" ? { kind, model: models[0]!.id } : { kind, ...endpoint };
}

export const askForEndpointUrl = (
  question: Omit<Question, "text">,
  current: string,
): Promise<string> =>
  askText(
    { ...question, text: "The endpoint's address, to which /chat/completions is added" },
    { value: current, placeholder: "http://127.0.0.1:8000/v1", validate: validateAddress },
  );

/** Asks for the model of an endpoint or of the editor. */
export async function askForModel(
  question: Omit<Question, "text">,
  teacher: Exclude<TeacherChoice, { kind: "graph" }>,
  models: readonly LanguageModelChat[],
  defaultModel: string,
): Promise<string> {
  if (teacher.kind === "endpoint")
    return askText(
      { ...question, text: "The model, as the endpoint names it" },
      {
        value: teacher.model || defaultModel,
        validate: it => (it.trim() ? undefined : "enter the name of the model"),
      },
    );
  const items = models.map(it => ({
    label: it.name,
    description: `${it.vendor} · ${it.family}`,
    id: it.id,
  }));
  return (await pickOne(items, { ...question, text: "Which of the editor's models" })).id;
}
