/** Writes the model folder of a student with one small layer, random weights and 700 tokens. */
import { mkdirSync, readFileSync } from "node:fs";
import { startBackend } from "../../src/compute/backend.ts";
import { studentLimits } from "../../src/model/student/compactChat.ts";
import { copyWeights, createConfig, writeModelFolder } from "../../src/model/modelFolder.ts";
import { trainTokenizer } from "../../src/model/student/tokenizer.ts";
import { initializeModel } from "../../src/model/transformer/transformer.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { programs } from "../compute/numbers.ts";

/** `tasks`: a file with tasks on the server banking, from which the tokenizer is learned. */
export async function writeTinyStudent(folder: string, tasks: string): Promise<void> {
  const servers = await loadServers();
  const tools = servers.find(it => it.name === "banking")!.tools;
  const texts = readFileSync(tasks, "utf8").trim().split("\n");
  const tokenizer = trainTokenizer(texts, [...tools.keys()], [], 700);
  await startBackend("wasm", { programs });
  const architecture = {
    vocabulary: tokenizer.size,
    width: 32,
    layers: 1,
    heads: 2,
    kvHeads: 1,
    headWidth: 16,
    hidden: 64,
    context: studentLimits.context,
    ropeBase: 10_000,
  };
  const model = initializeModel(architecture, 3);
  mkdirSync(folder);
  const config = createConfig("tiny", architecture, tokenizer);
  await writeModelFolder(folder, { config, tokenizer, weights: await copyWeights(model) }, "F16");
  model.dispose();
}
