/** What a run trains on, read from its tasks file: the tasks of its split, or the conversations made of them. Knows no replicas. */
import type { Catalog } from "../environment/catalog.ts";
import { Mistake } from "../mistake.ts";
import type { Tokenizer } from "../model/tokenizer.ts";
import type { RunConfig } from "../run/config.ts";
import type { Task } from "../trajectory/task.ts";
import { readTasks } from "../trajectory/file.ts";
import { buildCorpus, corpusSize, type Corpus } from "./corpus.ts";

export interface RunGround {
  readonly tasks: readonly Task[];
  readonly corpus?: Corpus;
  readonly servers: readonly string[];
}

/** Throws a `Mistake` where the file holds nothing to train on. `onTask` is told how many have been worked. */
export async function groundOf(config: RunConfig, catalog: Catalog, tokenizer: Tokenizer, onTask: (n: number) => void): Promise<RunGround> {
  const tasks: Task[] = [];
  for await (const task of readTasks(config.tasks)) if (task.split === config.split) tasks.push(task);
  if (tasks.length === 0) throw new Mistake(`${config.tasks} holds no tasks of the split ${config.split}`, "synthesize some, or choose another split");
  const servers = [...new Set(tasks.flatMap(it => it.servers.map(server => server.name)))];
  if (config.method === "grpo") return { tasks, servers };
  const { corpus } = await buildCorpus(tasks, { catalog, tokenizer, settings: config.sft, seed: config.seed, onTask });
  if (corpus.kept === 0 || corpusSize(corpus) === 0) throw new Mistake(`every conversation of ${config.tasks} is longer than the student can hold`, "synthesize with --menu chain");
  return { tasks, corpus, servers };
}
