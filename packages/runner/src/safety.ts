// Entry `@holdfast/runner/safety`: policy, redaction and audit.
export type { Redactor } from "./contract/safety-layer.ts";
export { createRedactor, type RedactorOptions } from "./redaction/index.ts";
export { type WritePolicyOptions, writePolicy } from "./safety/index.ts";
