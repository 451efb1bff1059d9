// Door of the safety layer.
export { createSafety, type SafetyParts } from "./safety-layer.ts";
