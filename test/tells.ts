/**
 * `npm run audit:tells -- F.tasks.jsonl`: prints how well the words of the first turn alone, and
 * the shape of the menu alone, predict whether a task's first turn calls a tool.
 */
import { TellsAudit } from "../src/evaluation/tells.ts";
import { loadServers } from "../src/servers/catalog.ts";
import { readTasks } from "../src/trajectory/file.ts";

const files = process.argv.slice(2);
if (files.length === 0) throw new Error("name one or more tasks files");
const servers = await loadServers();
const tools = new Map(servers.flatMap(it => [...it.tools]));
const audit = new TellsAudit(it => tools.get(it));
for (const file of files) for await (const task of readTasks(file)) audit.add(task);
const report = audit.report();
if (!report) console.log("all first turns call a tool, or none does");
else {
  const { tasks, withoutCall, words, pairs, menu } = report;
  console.log(`${tasks} tasks, ${withoutCall} without a call in the first turn`);
  console.log(`words: AUC ${words.auc.toFixed(3)}`);
  console.log(`  for a call: ${words.forCall.join(" ")}`);
  console.log(`  for no call: ${words.forNoCall.join(" ")}`);
  for (const it of words.byKind)
    console.log(`  ${it.kind} (${it.tasks}): AUC ${it.auc.toFixed(3)}`);
  if (pairs) {
    const reworded =
      pairs.reworded === undefined
        ? ""
        : `, of those with other words ${pairs.reworded.toFixed(3)}`;
    console.log(
      `${pairs.count} pairs (${pairs.sameText} with the same words): AUC ${pairs.auc.toFixed(3)}${reworded}; the right order in ${(100 * pairs.within).toFixed(1)}%`,
    );
  }
  console.log(`menu shape: AUC ${menu.auc.toFixed(3)}`);
}
