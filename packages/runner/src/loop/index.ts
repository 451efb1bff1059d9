// Entry point of the loop: the decider, its parts, and planners.
export type { KnownTools, LiveRun, LoopParts } from "./loop-parts.ts";
export { type ModelPlannerOptions, modelPlanner } from "./model-planner.ts";
export { planActReflectLoop } from "./plan-act-reflect.ts";
export { noProgress, type Progress, progressAfter } from "./progress.ts";
export { runnerError } from "./runner-error.ts";
export { stepsPlanner } from "./steps-planner.ts";
export type { PlannerManner } from "./system-text.ts";
