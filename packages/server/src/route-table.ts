// The one table of routes: only routes listed here are mounted and described.

import { agUi } from "./ag-ui/index.ts";
import { chat, loadChat, resumeChat, stopChat } from "./ai-sdk/index.ts";
import type { Route } from "./http/index.ts";
import { openApiDocument } from "./openapi/index.ts";
import type { Parts } from "./parts.ts";
import {
	approve,
	deny,
	description,
	events,
	execute,
	health,
	metrics,
	remove,
	session,
	sessions,
	stop,
} from "./routes/index.ts";

export type { DescribedAnswer, Route, Schema } from "./http/index.ts";

/** Returns all routes of a handler. */
export function routeTable(parts: Parts, isDraining: () => boolean): readonly Route[] {
	const table: Route[] = [];
	if (parts.options.service !== undefined) {
		table.push(execute, session, remove, events, stop, approve, deny, sessions);
		table.push(chat, loadChat, resumeChat, stopChat, agUi);
	}
	table.push(...parts.options.routes);
	table.push(
		health(isDraining),
		metrics(() => parts.metrics.text(parts.options.storeStats)),
		description(() => document),
	);
	const document = openApiDocument(table);
	return table;
}
