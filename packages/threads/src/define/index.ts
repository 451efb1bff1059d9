// Entry point of the functions that define the items of a project.
export { defineAgent } from "./define-agent.ts";
export { defineEffect } from "./define-effect.ts";
export { defineController, defineThreadEndpoint, isThreadEndpoint } from "./define-endpoint.ts";
export { defineHook } from "./define-hook.ts";
export { defineModel } from "./define-model.ts";
export { definePrompt } from "./define-prompt.ts";
export { defineTool, validateToolName } from "./define-tool.ts";
export { mapReasoningLevel } from "./map-reasoning-level.ts";
export { ProviderError } from "./provider-error.ts";
