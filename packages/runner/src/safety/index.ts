// Entry point of the safety layer.
export { createSafety, type SafetyParts } from "./create-safety.ts";
export { type WritePolicyOptions, writePolicy } from "./write-policy.ts";
