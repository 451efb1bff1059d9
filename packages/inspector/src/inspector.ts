// The inspector as a server mounts it: its routes. The routes of the page itself require no key, because they contain no
// data.

import { createRedactor } from "@holdfast/redaction";
import type { Route, SessionInspection } from "@holdfast/server";
import { checkOptions, HoldfastTypeError, optionNames } from "@holdfast/upp";
import { SessionLooks, TrialCounts } from "./looks/index.ts";
import {
	actRoutes,
	damageStatuses,
	type InspectedPrompts,
	lookRoutes,
	pagePaths,
	pageRoutes,
	promptRoutes,
	type RouteParts,
	skillRoutes,
	trialRoutes,
} from "./routes/index.ts";
import type { Playground } from "./wire/index.ts";

const inspectorNames = optionNames<InspectorOptions>({
	secrets: "texts",
	mayInspect: "function",
	inspection: "object",
	prompts: "object",
	playground: ["off", "models", "models-and-tools"],
});

/** Options of `inspector`. */
export interface InspectorOptions {
	/**
	 * Values that are masked wherever they appear, in addition to text that looks like a credential and fields with such
	 * names. Default: none.
	 */
	readonly secrets?: readonly string[];
	/**
	 * Whether a caller may inspect sessions and act on them: an inspector sees instructions and raw provider data.
	 * Default: every authenticated caller, for the sessions it owns.
	 */
	readonly mayInspect?: (caller: { readonly tenant: string; readonly user?: string }) => boolean;
	/** The source of the data, such as `inspectThreads(threads)`. Default: the sessions of the server's service. */
	readonly inspection?: SessionInspection;
	/**
	 * Versions of prompts to view and edit: a prompt store of `@holdfast/runner/prompts`, or `threads.prompts`. All
	 * callers who may inspect may edit. Default: none.
	 */
	readonly prompts?: InspectedPrompts | undefined;
	/**
	 * What the playground can try outside of runs. `models`: requests to the models of the service, like forks. `off`:
	 * nothing. `models-and-tools`: also the functions of tools, with any input and their real effects, without approval and
	 * without the hooks of plugins and middleware. Refused for threads. Default `models`.
	 */
	readonly playground?: Playground | undefined;
}

/** The parts that a server mounts. */
export interface Inspector {
	/** For the server's option `routes`. */
	readonly routes: readonly Route[];
	/** For the server's option `publicPaths`: a browser requests the page before it has a key to send. */
	readonly publicPaths: readonly string[];
}

/**
 * Creates the inspector of a server: the page at `/`, and its data under `/api/inspect`. A server that other machines can
 * reach without a key rejects all of it with 403 `inspector_closed`.
 *
 * @example
 * ```ts
 * import { openai } from "@ai-sdk/openai";
 * import { inspector } from "@holdfast/inspector";
 * import { listen } from "@holdfast/server";
 *
 * const server = await listen({ agent: { model: openai("gpt-5.2") }, port: 0, ...inspector() });
 * console.log(`Look at ${server.url}`);
 * await server.close();
 * ```
 */
export function inspector(options: InspectorOptions = {}): Inspector {
	checkOptions(options, inspectorNames, { of: "inspector()" });
	const { secrets = [], mayInspect = () => true, inspection, prompts, playground = "models" } = options;
	if (options.playground !== undefined && options.playground !== "off" && inspection?.kind === "threads")
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `playground` of inspector() has no effect on threads. Remove it.",
		);
	const redactor = createRedactor({ secrets });
	const mask = <Value>(value: Value): Value => redactor.redact(value, { keep: "pii" });
	const parts: RouteParts = {
		mask,
		mayInspect,
		looks: new SessionLooks(mask),
		trials: new TrialCounts(),
		inspection,
		prompts,
		playground,
	};
	const data = [
		...lookRoutes(parts),
		...actRoutes(parts),
		...promptRoutes(parts),
		...skillRoutes(parts),
		...trialRoutes(parts),
	];
	return {
		routes: [
			...pageRoutes(),
			...data.map((route) => ({ ...route, statuses: { ...damageStatuses, ...route.statuses } })),
		],
		publicPaths: pagePaths,
	};
}
