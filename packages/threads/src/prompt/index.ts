// Prompts as text.
export { type ResolveEnv, renderPrompt } from "./render-prompt.ts";
