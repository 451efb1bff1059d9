// Entry point of the agents.
export { RunnerAgent } from "./agent.ts";
export { AgentService } from "./agent-service.ts";
export { DefaultRunner } from "./default-runner.ts";
export type { Metrics, ModelMetrics, ToolMetrics } from "./metrics.ts";
export { FixedClock } from "./seeded.ts";
export { type ReadResultOptions, readResult } from "./session.ts";
export { type PlanActReflectOptions, planActReflect } from "./strategy.ts";
