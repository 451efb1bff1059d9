// Door of the safety layer.
export { createSafety, type SafetyParts } from "./create-safety.ts";
