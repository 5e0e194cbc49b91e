/** The third-party servers that `own-servers` tries, and what they start from. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** How a server is installed and started. */
export interface TriedServer {
  readonly name: string;
  /** In the version that was tried. */
  readonly npm?: string;
  /** What pip installs into a virtual environment of its own. */
  readonly pip?: readonly string[];
  /** The program, as a path in the folder of what was installed. */
  readonly program: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Tools that read, of a server that does not say so of all. */
  readonly reads?: readonly string[];
  /** The argument with which it listens at an address, at the port that PORT names. */
  readonly http?: string;
  readonly writeSeed?: (folder: string) => void;
}

/** `${sandbox}` stands for the copy of the seed. */
const sandbox = "${sandbox}";

export const triedServers: readonly TriedServer[] = [
  {
    name: "memory",
    npm: "@modelcontextprotocol/server-memory@2026.8.31",
    program: "dist/index.js",
    env: { MEMORY_FILE_PATH: `${sandbox}/memory.jsonl` },
    writeSeed: folder => writeFiles(folder, { "memory.jsonl": formatLines(memories) }),
  },
  {
    name: "files",
    npm: "@modelcontextprotocol/server-filesystem@2026.8.31",
    program: "dist/index.js",
    args: [sandbox],
    writeSeed: folder => writeFiles(folder, files),
  },
  {
    name: "everything",
    npm: "@modelcontextprotocol/server-everything@2026.8.31",
    program: "dist/index.js",
    http: "streamableHttp",
  },
  {
    name: "sqlite",
    // later versions of the SDK lack what it uses
    pip: ["mcp-server-sqlite==2025.4.25", "mcp<2"],
    program: "mcp-server-sqlite",
    args: ["--db-path", `${sandbox}/shop.db`],
    writeSeed: writeDatabase,
  },
  {
    name: "git",
    pip: ["mcp-server-git==2026.10.19"],
    program: "mcp-server-git",
    args: ["--repository", sandbox],
    writeSeed: writeRepository,
  },
  {
    name: "clock",
    pip: ["mcp-server-time==2026.10.19"],
    program: "mcp-server-time",
    reads: ["get_current_time", "convert_time"],
  },
  {
    name: "requests",
    npm: "@kazuph/mcp-taskmanager@1.1.1",
    program: "dist/index.js",
    env: { TASK_MANAGER_FILE_PATH: `${sandbox}/tasks.json` },
    writeSeed: folder => writeFiles(folder, { "tasks.json": JSON.stringify({ requests }) }),
  },
];

/** The server that is reset from a template database. */
export const postgres = {
  name: "postgres",
  npm: "@modelcontextprotocol/server-postgres@0.6.2",
  program: "dist/index.js",
} satisfies TriedServer;

function writeFiles(folder: string, contents: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

const formatLines = (values: readonly object[]): string =>
  values.map(it => JSON.stringify(it)).join("\n");

const memories = [
  ...(
    [
      ["Anna Weber", "person", ["Works as a designer", "Prefers mail"]],
      ["Ben Okafor", "person", ["Lives in Leeds"]],
      ["Lumen Studio", "organization", ["Makes lamps"]],
      ["Harbor Clinic", "organization", ["Opens at eight"]],
      ["Desk lamp", "project", ["Due in June", "Has two colors"]],
      ["Spring catalog", "project", ["Needs photos"]],
    ] as const
  ).map(([name, entityType, observations]) => ({ type: "entity", name, entityType, observations })),
  ...(
    [
      ["Anna Weber", "Lumen Studio", "works at"],
      ["Ben Okafor", "Harbor Clinic", "works at"],
      ["Desk lamp", "Lumen Studio", "belongs to"],
    ] as const
  ).map(([from, to, relationType]) => ({ type: "relation", from, to, relationType })),
];

const files = {
  "notes/garden.md": "# Garden\n\nWater the roses on Monday.\n",
  "notes/travel.md": "# Travel\n\nBook the train to Oslo.\n",
  "reports/march.txt": "Sales rose by 4 percent.\n",
  "reports/april.txt": "Sales fell by 1 percent.\n",
  "archive/old.txt": "Nothing of interest.\n",
  "todo.txt": "Call the plumber\nPay the invoice\n",
  "config.json": '{"theme": "dark", "lines": 20}\n',
};

/** Tables of a shop, for SQLite and PostgreSQL. */
export const tables = `
create table products (id integer primary key, name text, price real, stock integer);
create table customers (id integer primary key, name text, city text);
create table orders (id integer primary key, customer_id integer, product_id integer, status text);
insert into products values (1, 'Desk lamp', 39.9, 12), (2, 'Oak shelf', 120, 3), (3, 'Rug', 75.5, 8);
insert into customers values (1, 'Anna Weber', 'Leeds'), (2, 'Ben Okafor', 'Oslo');
insert into orders values (1, 1, 2, 'paid'), (2, 2, 1, 'sent'), (3, 2, 3, 'open');
`;

function writeDatabase(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(join(folder, "shop.db"));
  database.exec(tables);
  database.close();
}

function writeRepository(folder: string): void {
  const date = "2026-01-05T10:00:00Z";
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  };
  const git = (...args: readonly string[]) => {
    execFileSync("git", args, { cwd: folder, env, stdio: "pipe" });
  };
  writeFiles(folder, {
    "README.md": "# Lamp\n",
    "src/lamp.py": "def on():\n    return True\n",
    "docs/use.md": "Press the button.\n",
  });
  git("init", "-q", "-b", "main");
  git("config", "user.name", "Dana Fox");
  git("config", "user.email", "dana@example.com");
  git("add", ".");
  git("commit", "-q", "-m", "Add the lamp");
  writeFiles(folder, { "docs/use.md": "Press the button twice.\n" });
  git("commit", "-q", "-a", "-m", "Press twice");
  for (const it of ["feature-color", "fix-switch"]) git("branch", it);
  git("tag", "v1");
  writeFiles(folder, {
    "README.md": "# Lamp\n\nA lamp for desks.\n",
    "notes.txt": "Try a blue light.\n",
    "src/color.py": "BLUE = 1\n",
  });
  git("add", "src/color.py");
  rmSync(join(folder, ".git/hooks"), { recursive: true, force: true });
}

const requests = [
  {
    requestId: "req-1",
    originalRequest: "Plan the fair",
    splitDetails: "The fair",
    completed: false,
    tasks: [
      {
        id: "task-1",
        title: "Book the hall",
        description: "Ask the town",
        done: true,
        approved: false,
        completedDetails: "Booked",
      },
      {
        id: "task-2",
        title: "Print the flyers",
        description: "Two hundred",
        done: false,
        approved: false,
        completedDetails: "",
      },
    ],
  },
  {
    requestId: "req-2",
    originalRequest: "Repair the bike",
    splitDetails: "The bike",
    completed: false,
    tasks: [
      {
        id: "task-3",
        title: "Buy a tire",
        description: "28 inches",
        done: true,
        approved: true,
        completedDetails: "Bought",
      },
      {
        id: "task-4",
        title: "Oil the chain",
        description: "Use little oil",
        done: false,
        approved: false,
        completedDetails: "",
      },
    ],
  },
];
