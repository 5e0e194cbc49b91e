/**
 * An MCP server whose ids are numbers: issues, projects and people in a file of the folder that is
 * its first argument. The same numbers are ids of different things, counts, pages and priorities.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

interface Issue {
  number: number;
  title: string;
  project_id: number;
  priority: number;
  is_open: boolean;
}
interface Named {
  readonly id: number;
  readonly name: string;
}
interface Tracker {
  readonly issues: Issue[];
  readonly projects: readonly Named[];
  readonly people: readonly Named[];
  readonly labels: string[];
}
interface Args {
  readonly issue_number: number;
  readonly project_id: number;
  readonly id: number;
  readonly priority: number;
  readonly title: string;
  readonly page?: number;
  readonly limit?: number;
  readonly from_zone: string;
  readonly to_zone: string;
  readonly time: string;
  readonly label: string;
}
interface Tool {
  readonly description: string;
  readonly input: Readonly<Record<string, object>>;
  readonly optional?: readonly string[];
  readonly run: (tracker: Tracker, args: Args) => object;
}

const file = join(process.argv[2]!, "issues.json");
const pageSize = 4;
const integer = (description: string) => ({ type: "integer", description });
const issueNumber = { issue_number: integer("The number of the issue") };
const findIssue = ({ issues }: Tracker, number: number): Issue => {
  const issue = issues.find(it => it.number === number);
  if (!issue) throw new Error(`no issue ${number}`);
  return issue;
};
const findProject = ({ projects }: Tracker, id: number): Named => {
  const project = projects.find(it => it.id === id);
  if (!project) throw new Error(`no project ${id}`);
  return project;
};
const row = ({ number, title, project_id }: Issue) => ({ number, title, project_id });

const tools: Readonly<Record<string, Tool>> = {
  list_issues: {
    description: "List the open issues.",
    input: { page: integer("Which page"), limit: integer("At most this many") },
    optional: ["page", "limit"],
    run({ issues }, { page = 1, limit = pageSize * 2 }) {
      const open = issues.filter(it => it.is_open);
      return { issues: open.slice((page - 1) * limit, page * limit).map(row), total: open.length };
    },
  },
  get_issue: {
    description: "Get an issue.",
    input: issueNumber,
    run: (tracker, { issue_number: number }) => findIssue(tracker, number),
  },
  list_projects: {
    description: "List the projects.",
    input: {},
    run: ({ projects }) => ({ projects }),
  },
  get_project: {
    description: "Get a project with the number of its issues.",
    input: { id: integer("The id of the project") },
    run: (tracker, { id }) => ({
      ...findProject(tracker, id),
      issues: tracker.issues.filter(it => it.project_id === id).length,
    }),
  },
  list_people: {
    description: "List the people.",
    input: {},
    run: ({ people }) => ({ people }),
  },
  close_issue: {
    description: "Close an issue.",
    input: issueNumber,
    run(tracker, { issue_number: number }) {
      const issue = findIssue(tracker, number);
      if (!issue.is_open) throw new Error(`issue ${number} is closed`);
      issue.is_open = false;
      return row(issue);
    },
  },
  set_priority: {
    description: "Set the priority of an issue.",
    input: { ...issueNumber, priority: { ...integer("From 1 to 5"), minimum: 1, maximum: 5 } },
    run(tracker, { issue_number: number, priority }) {
      findIssue(tracker, number).priority = priority;
      return { number, priority };
    },
  },
  move_issue: {
    description: "Move an issue to another project.",
    input: { ...issueNumber, project_id: integer("The id of the project") },
    run(tracker, { issue_number: number, project_id }) {
      findIssue(tracker, number).project_id = findProject(tracker, project_id).id;
      return { number, project_id };
    },
  },
  list_labels: {
    description: "List the labels.",
    input: {},
    run: ({ labels }) => ({ labels: labels.map(label => ({ label })) }),
  },
  get_label: {
    description: "Get a label.",
    input: { label: { type: "string" } },
    run({ labels }, { label }) {
      if (!labels.includes(label)) throw new Error(`no label ${label}`);
      return { label, position: labels.indexOf(label) };
    },
  },
  create_label: {
    description: "Create a label.",
    input: { label: { type: "string" } },
    run({ labels }, { label }) {
      if (labels.includes(label)) throw new Error(`${label} already exists`);
      labels.push(label);
      return { label };
    },
  },
  convert_time: {
    description: "Convert a time of day between time zones.",
    input: {
      from_zone: {
        type: "string",
        description: "An IANA name, such as 'Europe/Berlin' or 'Asia/Tokyo'",
      },
      time: { type: "string", description: "The time of day (HH:MM)" },
      to_zone: {
        type: "string",
        description: "An IANA name, such as 'America/Lima' or 'Asia/Tokyo'",
      },
    },
    run(_, { from_zone, to_zone, time }) {
      for (const timeZone of [from_zone, to_zone]) Intl.DateTimeFormat("en", { timeZone });
      if (!/^\d\d:\d\d$/.test(time)) throw new Error(`invalid time ${time}`);
      return { time, from: from_zone, to: to_zone };
    },
  },
  add_issue: {
    description: "Add an issue.",
    input: { title: { type: "string" }, project_id: integer("The id of the project") },
    run(tracker, { title, project_id }) {
      const number = Math.max(0, ...tracker.issues.map(it => it.number)) + 1;
      findProject(tracker, project_id);
      tracker.issues.push({ number, title, project_id, priority: 3, is_open: true });
      return { number, title };
    },
  },
};

const listed = Object.entries(tools).map(([name, { description, input, optional = [] }]) => ({
  name,
  description,
  inputSchema: {
    type: "object",
    properties: input,
    required: Object.keys(input).filter(it => !optional.includes(it)),
  },
}));

function answer(name: string, args: Args): object {
  const tracker = JSON.parse(readFileSync(file, "utf8")) as Tracker;
  try {
    const value = tools[name]!.run(tracker, args);
    writeFileSync(file, JSON.stringify(tracker, null, 1));
    return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
  } catch (error) {
    return { isError: true, content: [{ type: "text", text: (error as Error).message }] };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as {
    id?: number;
    method: string;
    params: { name: string; arguments: Args; protocolVersion: string };
  };
  if (id === undefined) continue;
  const result =
    method === "initialize"
      ? {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "issues", version: "1" },
        }
      : method === "tools/list"
        ? { tools: listed }
        : answer(params.name, params.arguments);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
