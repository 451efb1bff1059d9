// Door of policy.
export type { Interceptors, ToolCallDecision } from "./interceptors.ts";
export type { Middleware, MiddlewareAgent, MiddlewareContext } from "./middleware/middleware.ts";
export { runMiddleware } from "./middleware/run-middleware.ts";
export { askModel } from "./plugins/ask-model.ts";
export { definePlugin, type Plugin } from "./plugins/plugin.ts";
export { checkPlugins, type PluginSet, setupPlugins } from "./plugins/plugin-set.ts";
export type { PluginTurn, SessionPlugins } from "./plugins/plugin-turn.ts";
