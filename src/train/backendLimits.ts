/** Refuses a model that the backend of a run cannot hold, before that backend is started. */
import { wasmLimits, type BackendLimits } from "../compute/runningBackend.ts";
import { checkSize } from "../model/huggingface/weights.ts";
import type { StoredModel } from "../model/modelFolder.ts";
import type { RunConfig } from "../run/config.ts";
import { listInstalledBackends } from "../run/nativeBackends.ts";

/**
 * Throws a `UserError` if the weights of a model are too large. `backends` is the folder of native
 * backends: if one is installed, `auto` may take it, and its limits are known when it has started.
 */
export function checkBackendLimits(
  { folder, config, adapters }: Pick<StoredModel, "folder" | "config" | "adapters">,
  backend: RunConfig["backend"],
  backends: string,
): void {
  const limits = findLimits(backend, backends);
  if (limits) checkSize(config.architecture, adapters?.base ?? folder, limits);
}

function findLimits(backend: RunConfig["backend"], backends: string): BackendLimits | undefined {
  const isWasm =
    backend === "auto" ? listInstalledBackends(backends).length === 0 : backend === "wasm";
  return isWasm ? wasmLimits : undefined;
}
