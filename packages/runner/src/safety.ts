// Entry point `@holdfast/runner/safety`: policy, redaction and audit.
export { createRedactor, type Redactor, type RedactorOptions } from "@holdfast/redaction";
export { type WritePolicyOptions, writePolicy } from "./safety/index.ts";
