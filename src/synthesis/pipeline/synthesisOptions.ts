/** The options of a synthesis. */
import type { Catalog } from "../../environment/catalog.ts";
import type { Task } from "../../trajectory/task.ts";
import type { EdgeVerdicts } from "../graph/edgeVerdicts.ts";
import type { ServerScenario } from "../text/scenarios.ts";
import type { LlmRoles } from "../teachers/llmRoles.ts";
import type { MenuKind, Preset } from "./presets.ts";

export interface SynthesisOptions {
  readonly catalog: Catalog;
  /** The product's `resources` folder, which holds templates and personas. */
  readonly resources: string;
  readonly seed: number;
  /** Names of the servers to make tasks on. */
  readonly servers: readonly string[];
  /** Those of the servers that a task can begin on; all of them where absent. */
  readonly homes?: readonly string[];
  readonly menu: MenuKind;
  /** The paper's mixture where absent. */
  readonly preset?: Preset["name"];
  /** The number of tasks, which also fixes the number of each kind; unlimited where absent. */
  readonly count?: number;
  /** Only tasks of this split. */
  readonly split?: Task["split"];
  /** Share of tasks with a single user turn; the preset's where absent. */
  readonly oneTurnShare?: number;
  /** Share of the normal tasks that need several servers; the preset's where absent. */
  readonly crossServerShare?: number;
  /** The number of worlds; the preset's where absent and `variantsPerFixture` is not given. */
  readonly worlds?: number;
  /** Without worlds: variants of each fixture with other ids; 0 for the fixtures as they are. */
  readonly variantsPerFixture?: number;
  /** Verdicts on the edges of the dependency graphs; the shipped ones where absent. */
  readonly edgeVerdicts?: EdgeVerdicts;
  /** What users come for; the shipped scenarios where absent. */
  readonly scenarios?: readonly ServerScenario[];
  /** Whether tasks that make the same calls as an earlier one are rejected; true by default. */
  readonly rejectsDuplicates?: boolean;
  /** The language model in the roles of user and teacher, in place of the graph teacher. */
  readonly llmRoles?: LlmRoles;
  readonly signal?: AbortSignal;
}
