// Entry point of the tools that run here.
export { type Answerer, type Approve, createAnswerer } from "./answerer.ts";
export { type ClientTool, describeTool, readTools } from "./client-tool.ts";
