// Entry point of the endpoints: routes of threads for a server.

import type { Route } from "@holdfast/server";
import { checkOptions, optionNames } from "@holdfast/upp";
import { checkThreadFields } from "./client-fields.ts";
import { customRoutes } from "./custom-endpoints.ts";
import { fileRoutes } from "./file-routes.ts";
import { messageRoutes } from "./message-routes.ts";
import type { ThreadRoutesOptions } from "./served-threads.ts";
import { streamRoute } from "./stream-route.ts";
import { actionRoutes, projectRoutes } from "./thread-actions.ts";
import { threadRoutes as ownRoutes } from "./thread-routes.ts";

export type { ThreadField } from "./client-fields.ts";
export { inspectThreads } from "./inspect-threads.ts";
export type { ThreadRoutesOptions } from "./served-threads.ts";
export type { ThreadEvent, ThreadWait } from "./thread-events.ts";

const threadRoutesNames = optionNames<ThreadRoutesOptions>({
	threads: "object",
	env: "object",
	clientsMaySet: true,
	maxFileBytes: "number",
});

/**
 * Returns the routes of threads, for `createServer` of `@holdfast/server`: threads, messages, files, effects, values,
 * calls and their cost, the stream, the project's definitions, and last its own endpoints and controllers.
 */
export function threadRoutes(options: ThreadRoutesOptions): readonly Route[] {
	checkOptions(options, threadRoutesNames, { of: "threadRoutes()" });
	checkThreadFields(options.clientsMaySet);
	return [
		...ownRoutes(options),
		...messageRoutes(options),
		...fileRoutes(options),
		...actionRoutes(options),
		streamRoute(options),
		...projectRoutes(options),
		...customRoutes(options),
	];
}
