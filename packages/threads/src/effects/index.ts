// Entry point of effects.
export type { EffectStore } from "./effect-record.ts";
export { type DamagedEffect, type DueEffect, EffectWorker, type EffectWorkerParts } from "./effect-worker.ts";
export { ThreadEffects, type ThreadEffectsParts } from "./thread-effects.ts";
