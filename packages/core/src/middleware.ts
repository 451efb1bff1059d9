// holdfast/middleware: what stands around the calls of an agent.
export type { Middleware, MiddlewareAgent, MiddlewareContext } from "./middleware/index.ts";
