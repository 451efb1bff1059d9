// The door of the middlewares.
export type { Middleware, MiddlewareAgent, MiddlewareContext } from "./middleware.ts";
export { runMiddleware } from "./run-middleware.ts";
