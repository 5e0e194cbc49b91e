/**
 * Trains LoRA adapters with PyTorch and PEFT, in a child process, to compare with. What is timed is
 * in `peft_training.py`.
 */
import { z } from "zod";
import { UserError } from "../../src/userError.ts";
import { workTimeSchema } from "./torch.ts";
import type { AppContext } from "../../src/app/context.ts";
import type { WorkTime } from "../../src/app/bench/benchmark.ts";
import { startPython } from "./pythonProgram.ts";

/** The packages, in the versions that the tests use. */
const packages = "torch==2.13.0 transformers==5.23.0 peft==0.21.2";

export interface AdapterWork {
  /** The length of the sequence. */
  readonly tokens: number;
  /** Whether each block is computed again in the backward pass. */
  readonly byBlock: boolean;
}

/** Millions of bytes, since the process started. */
export interface PeakMemory {
  readonly process: number;
  /** Of a graphics card. */
  readonly device?: number | undefined;
}

export interface Peft {
  measure(work: AdapterWork, repeat: number): Promise<WorkTime & { readonly memory: PeakMemory }>;
  close(): void;
}

export interface PeftOptions {
  /** The folder of the model, in the format of Hugging Face. */
  readonly model: string;
  readonly rank: number;
  readonly device: "cpu" | "cuda";
}

const problemSchema = z.object({ problem: z.string() });
const measuredSchema = workTimeSchema.extend({
  memory: z.number(),
  deviceMemory: z.number().optional(),
});

/** Starts Python and loads a model. `command` is a program's name or path. */
export async function startPeft(
  context: Pick<AppContext, "cwd" | "resources" | "signal">,
  command: string,
  { model, rank, device }: PeftOptions,
): Promise<Peft> {
  const process = await startPython(context, command, {
    script: "peft_training.py",
    deed: "train with PyTorch and PEFT",
    packages,
    pip: packages,
    firstLine: z.object({ peft: z.string() }),
    // on a slow machine that does other work
    answerLimit: 900_000,
  });
  const request = async <T extends object>(sent: object, schema: z.ZodType<T>): Promise<T> => {
    const answer = await process.request(sent, z.union([problemSchema, schema]));
    if (!("problem" in answer)) return answer;
    process.close();
    throw new UserError(
      `${command} cannot train ${model} with PEFT: ${answer.problem}`,
      "correct what it says, or leave out --python",
    );
  };
  await request({ load: model, rank, device }, z.object({ trained: z.int().min(1) }));
  return {
    async measure(work, repeat) {
      const { memory, deviceMemory, ...time } = await request({ ...work, repeat }, measuredSchema);
      return { ...time, memory: { process: memory, device: deviceMemory } };
    },
    close: () => process.close(),
  };
}
