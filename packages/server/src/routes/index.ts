// The one table of routes: what it lists is mounted and described, nothing else is.

import { agUi } from "../ag-ui/route.ts";
import { chat, loadChat, resumeChat, stopChat } from "../ai-sdk/routes.ts";
import { openApiDocument } from "../openapi/document.ts";
import type { Parts } from "../parts.ts";
import { approve, deny, execute } from "./execute.ts";
import { description, health, metrics } from "./operation.ts";
import type { Route } from "./route.ts";
import { events, remove, session, sessions, stop } from "./sessions.ts";

export type { DescribedAnswer, Route, Schema } from "./route.ts";

/** All routes of a handler. */
export function routeTable(parts: Parts, isDraining: () => boolean): readonly Route[] {
	const table: Route[] = [execute, session, remove, events, stop, approve, deny, sessions];
	table.push(chat, loadChat, resumeChat, stopChat, agUi);
	table.push(...parts.options.routes);
	table.push(
		health(isDraining),
		metrics(() => parts.metrics.text()),
		description(() => document),
	);
	const document = openApiDocument(table);
	return table;
}
