/** The settings of a run as a list of names and values. Formats the numbers for display. */
import type { RunConfig, RunView } from "../../src/protocol/runPage.ts";
import { element } from "../element.ts";
import { formatCount, formatScientific, escapeInvisible, getFileName } from "../text.ts";

export const createSettings = ({ config, checkpoints }: RunView): HTMLElement =>
  element(
    "dl",
    { class: "settings" },
    ...[
      ...formatSettings(config),
      // another engine keeps its own
      ...(config.engine
        ? []
        : [
            [
              "checkpoints",
              checkpoints.length ? formatCount(checkpoints.length, "checkpoint") : "none yet",
            ] as const,
          ]),
    ].flatMap(([name, value]) => [
      element("dt", {}, name),
      element("dd", {}, escapeInvisible(value)),
    ]),
  );

/** The settings that the page shows, as pairs of name and value. */
export function formatSettings(config: RunConfig): readonly (readonly [string, string])[] {
  const { method, tasks, from, profile, engine, backend, trainedWith, workers, seed } = config;
  const settings = config.method === "grpo" ? config.grpo : config.sft;
  const ofMethod: readonly (readonly [string, string])[] =
    config.method === "grpo"
      ? [
          [
            "attempts per step",
            `${config.grpo.prompts} ${config.grpo.prompts === 1 ? "task" : "tasks"} × ${config.grpo.group}`,
          ],
          ["KL weight", String(config.grpo.kl)],
        ]
      : [["conversations per step", String(config.sft.conversations)]];
  return [
    ["method", method],
    ...(engine && from !== undefined ? [["model", from] as const] : []),
    ["tasks", getFileName(tasks)],
    ...(trainedWith?.aboutTasks?.map(it => ["about the tasks", it] as const) ?? []),
    ["reward", profile],
    ...ofMethod,
    ["learning rate", formatScientific(settings.learningRate)],
    ...(engine
      ? ([["engine", engine === "trl" ? "TRL" : "verl"]] as const)
      : ([
          ["backend", trainedWith ? `${trainedWith.backend}, ${trainedWith.device}` : backend],
          ...(trainedWith?.notes.map(note => ["about the backend", note] as const) ?? []),
          ["workers", String(workers)],
        ] as const)),
    ["seed", String(seed)],
  ];
}
