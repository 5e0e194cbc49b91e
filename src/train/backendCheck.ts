/** Refuses a backend that a run cannot use or that cannot hold its model, before it is started. */
import { createMissingError } from "../compute/loadError.ts";
import { wasmLimits } from "../compute/runningBackend.ts";
import { checkSize } from "../model/huggingface/weights.ts";
import type { StoredModel } from "../model/modelFolder.ts";
import type { RunConfig } from "../run/config.ts";
import { listInstalledBackends } from "../run/nativeBackends.ts";

/**
 * Throws a `UserError` if the backend is not installed, or the weights of the model are too large
 * for it. `backends` is the folder of native backends: if one is installed, `auto` may take it, and
 * its limits are known when it has started.
 */
export function checkBackend(
  { folder, config, adapters }: Pick<StoredModel, "folder" | "config" | "adapters">,
  backend: RunConfig["backend"],
  backends: string,
): void {
  const installed = listInstalledBackends(backends);
  if ((backend === "tensorflow" || backend === "webgpu") && !installed.includes(backend))
    throw createMissingError(backend);
  const isWasm = backend === "wasm" || (backend === "auto" && installed.length === 0);
  if (isWasm) checkSize(config.architecture, adapters?.base ?? folder, wasmLimits);
}
