// Entry `@holdfast/sandbox/code-mode`: a tool that lets a model call many tools from one script.
export { type CodeModeOptions, codeMode } from "./code-mode/code-mode.ts";
export {
	type CodeModeWithSnippetsOptions,
	codeModeWithSnippets,
} from "./code-mode/code-mode-with-snippets.ts";
