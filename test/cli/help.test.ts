/** Help of every command, and the messages for command lines that are not valid. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { runCommandLine } from "../../src/cli/commandLine.ts";
import { commands } from "../../src/cli/commands.ts";
import { UserError } from "../../src/userError.ts";
import { root } from "../contracts/transports.ts";
import { emptyFolder, run } from "./program.ts";
import { runArguments } from "./terminal.ts";

const listed = commands.filter(it => it.group !== undefined);

describe("prove-rl --help", () => {
  test("lists every command with its summary by group, on stdout", async () => {
    const { code, stdout, stderr } = await run(["--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    for (const { group, name, summary } of listed) {
      expect(stdout).toContain(`\n${group}:\n`);
      expect(stdout).toMatch(new RegExp(`^  ${name} +${summary}$`, "m"));
    }
    expect(stdout).not.toMatch(/^ {2}work /m);
    expect(listed.map(it => it.name)).toEqual(
      "servers tools call new-server connect record stdio serve world graph synthesize variants import report replay export train plan model loop engine warm-start backend score evaluate benchmark audit bench inspect schemas".split(
        " ",
      ),
    );
  });

  test("is what no argument, help and -h print too", async () => {
    const texts = await Promise.all([["--help"], [], ["help"], ["-h"]].map(it => run(it)));
    for (const it of texts) expect(it).toEqual(texts[0]);
  });

  test("a command's help is the same in three ways, whatever else is given", async () => {
    const ways = [
      ["help", "train"],
      ["train", "--help"],
      ["train", "--steps", "five", "--help"],
      ["train", "-h"],
    ];
    const texts = await Promise.all(ways.map(it => run(it)));
    for (const it of texts) expect(it).toEqual(texts[0]);
  });
});

/** What `prove-rl <name> --help` prints. */
async function printHelp(name: string): Promise<string> {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    const command = runArguments([name, "--help"], commands);
    await expect(command).rejects.toMatchObject({ code: "commander.helpDisplayed", exitCode: 0 });
    return write.mock.calls.map(([text]) => String(text)).join("");
  } finally {
    write.mockRestore();
  }
}

describe.each(commands)("prove-rl $name --help", entry => {
  test("describes arguments, options and defaults, and has examples", async () => {
    const definition = await entry.load();
    expect(definition.name).toBe(entry.name);
    const stdout = await printHelp(entry.name);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
    const text = stdout.replaceAll(/\s+/g, " ");
    const { arguments: positionals, options } = definition;
    for (const { name, description } of positionals) {
      expect(description).not.toBe("");
      expect(text).toContain(`${name.replaceAll(/[<>[\].]/g, "")} ${description}`);
    }
    for (const it of Object.values(options)) {
      expect(it.description).not.toBe("");
      if (it.isHidden) expect(text).not.toContain(it.flags);
      else expect(text).toContain(`${it.flags} ${it.description}`);
      if (it.default !== undefined)
        expect(text).toContain(`default: ${JSON.stringify(it.default)}`);
    }
    expect(stdout).toMatch(new RegExp(`\nExamples:\n(  prove-rl ${entry.name}( .*)?\n)+$`));
  });

  test("has examples that can be parsed", async () => {
    const cwd = emptyFolder();
    const { examples } = await entry.load();
    for (const example of examples) {
      const words = example
        .replace(/ < .*/, "")
        .match(/'[^']*'|\S+/g)!
        .map(it => it.replaceAll("'", ""));
      for (const it of words)
        if (/^[a-zA-Z][\w./-]+$/.test(it)) mkdirSync(join(cwd, it), { recursive: true });
      let isStarted = false;
      await runCommandLine(words, [entry], {
        cwd,
        start: async () => void (isStarted = true),
      });
      expect(isStarted).toBe(true);
    }
  });
});

/**
 * Runs the program from source with each command line, in one process, and returns the numerics'
 * modules that each has loaded.
 */
async function listNumericsLoaded(...lines: readonly string[][]): Promise<string[]> {
  const main = pathToFileURL(join(root, "src/cli/main.ts")).href;
  const program = `import { registerHooks } from "node:module";
    let line = "";
    registerHooks({ load(url, context, next) {
      if (/@tensorflow|src.(compute|model|train)\\b/.test(url))
        console.error("loaded by " + line + ": " + url);
      return next(url, context);
    } });
    for (const [i, args] of ${JSON.stringify(lines)}.entries()) {
      line = args.join(" ");
      process.argv = [process.execPath, "main.ts", ...args];
      await import("${main}?" + i);
      console.error("ran " + line);
    }`;
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", program],
    { cwd: emptyFolder() },
  ).catch((error: { stderr: string }) => error);
  for (const it of lines) expect(stderr).toContain(`ran ${it.join(" ")}\n`);
  return stderr.split("\n").filter(it => it.startsWith("loaded by "));
}

test("what needs no numerics does not load them, and train does once its options are valid", async () => {
  const without = [
    ["--help"],
    ["trian"],
    ["train", "--help"],
    ["train", "--stesp", "5"],
    ["evaluate", "--help"],
    ["loop", "--help"],
    ["warm-start", "--help"],
    ["bench", "--help"],
    ["servers"],
  ];
  const train = ["train", "--run", "r", "--tasks", join(root, "package.json"), "--from", root];
  const loaded = await listNumericsLoaded(...without, train);
  expect(loaded).not.toEqual([]);
  const byTrain = `loaded by ${train.join(" ")}: `;
  expect(loaded.filter(it => !it.startsWith(byTrain))).toEqual([]);
});

describe("a command line that is not valid", () => {
  const names = listed.map(it => it.name).join(", ");
  const help = (name: string) => `prove-rl ${name} --help lists the options`;
  const cases: [args: string, what: string, remedy: string][] = [
    [
      "trian",
      "there is no command trian (did you mean train?)",
      `choose one of ${names}; prove-rl --help describes them`,
    ],
    [
      "help trian",
      "there is no command trian (did you mean train?)",
      `choose one of ${names}; prove-rl --help describes them`,
    ],
    [
      "toString --help",
      "there is no command toString",
      `choose one of ${names}; prove-rl --help describes them`,
    ],
    [
      "--verson",
      "Unknown option '--verson' (did you mean --version?)",
      "prove-rl --help lists the options",
    ],
    [
      "synthesize --cuont 5",
      "synthesize: Unknown option '--cuont' (did you mean --count?)",
      help("synthesize"),
    ],
    ["servers -x", "servers: Unknown option '-x'", help("servers")],
    [
      "servers --json=yes",
      "servers: --json takes no value",
      `write --json alone; ${help("servers")}`,
    ],
    ["bench --tsaks 5", "bench: Unknown option '--tsaks' (did you mean --tasks?)", help("bench")],
    [
      "train --run 5",
      "--run 5 is a number, not a path",
      "give a path such as prove/runs/first, or ./5 for that name",
    ],
    [
      "train --run r --tasks 7",
      "--tasks: there is no file or folder 7",
      "give the path of a tasks file, such as prove-rl synthesize writes",
    ],
    [
      "evaluate --policy p --tasks nowhere.jsonl",
      "--tasks: there is no file or folder nowhere.jsonl",
      "give the path of a tasks file",
    ],
    [
      "synthesize --out 5 --count 3",
      "--out 5 is a number, not a path",
      "give a path such as prove/tasks/first.tasks.jsonl, or ./5 for that name",
    ],
    [
      "synthesize --out a --count five",
      "--count five is not a number of tasks",
      "give a whole number from 1 on",
    ],
    [
      "synthesize --out a --count -5",
      "--count -5 is not a number of tasks",
      "give a whole number from 1 on",
    ],
    [
      "synthesize --out a --count 3 --seed 1.5",
      "--seed 1.5 is not a whole number",
      "give a whole number from 0 on",
    ],
    [
      "train --run r --seconds soon",
      "--seconds soon is not a number above zero",
      "give a number such as 60",
    ],
    [
      "serve --port 99999",
      "--port 99999 is not a whole number from 0 to 65535",
      "give a whole number from 0 to 65535",
    ],
    [
      "synthesize --out a.tasks.jsonl",
      "synthesize needs to know how many tasks to make",
      "add --count, such as --count 300",
    ],
    ["train", "train needs a run folder", "add --run, such as --run prove/runs/first"],
    [
      "stdio",
      "stdio needs the name of a server",
      `usage: prove-rl stdio [options] <server>; ${help("stdio")}`,
    ],
    [
      "import when2call --out a",
      "import needs one file to read",
      `usage: prove-rl import [options] <format> <file>; ${help("import")}`,
    ],
    [
      "synthesize more --out a --count 3",
      "synthesize takes no more",
      `usage: prove-rl synthesize [options]; ${help("synthesize")}`,
    ],
    [
      "tools banking maps",
      "tools takes no further argument maps",
      `usage: prove-rl tools [options] [server]; ${help("tools")}`,
    ],
    ["synthesize --out= --count 3", "--out is empty", "give it a value, or leave --out out"],
    ["serve --port", "--port needs a value", `write --port <n>; ${help("serve")}`],
    [
      "synthesize --out --count 3",
      "--out needs a value, but --count follows",
      "write --out <file>; a file with such a name is ./--count",
    ],
    [
      "synthesize --out a --count 3 --menu foo",
      "there is no menu foo",
      "choose realistic or chain or full",
    ],
    [
      "synthesize --out a --count 3 --menu chian",
      "there is no menu chian (did you mean chain?)",
      "choose realistic or chain or full",
    ],
    [
      "score a.jsonl --profile papr",
      "there is no reward profile papr (did you mean paper?)",
      "choose one of paper, prove-plus, paper-literal, prove-plus-calls, paper-no-validity, paper-no-coverage, paper-no-efficiency, paper-no-name, paper-no-argument, paper-flat-budget, graduated, envfactory, tier",
    ],
    [
      "bench environmnt",
      "there is no benchmark environmnt (did you mean environment?)",
      "choose environment or synthesis or training or service",
    ],
    ["bench --workers 2", "--workers is for service", "write prove-rl bench service"],
    ["world --size tiny", "there is no size tiny", "choose full or small"],
  ];
  test.each(cases)("%s", async (args, what, remedy) => {
    const command = runArguments(args.split(" "), commands, { cwd: emptyFolder() });
    await expect(command).rejects.toThrow(UserError);
    await expect(command).rejects.toMatchObject({ what, remedy });
  });

  test("is refused with two lines on stderr, and exit code 2", async () => {
    const [args, what, remedy] = cases[0]!;
    expect(await run([args])).toEqual({
      code: 2,
      stdout: "",
      stderr: `prove-rl: ${what}\n  ${remedy}\n`,
    });
  });

  test("a folder whose name is a number can be read, and written as ./5", async () => {
    const cwd = emptyFolder();
    mkdirSync(join(cwd, "5"));
    for (const args of [
      ["train", "--run", "5", "--resume"],
      ["train", "--run", "./6", "--resume"],
    ])
      expect((await run(args, { cwd })).stderr).toMatch(/is not a run folder/);
  });
});
