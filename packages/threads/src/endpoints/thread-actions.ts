// Routes for the other parts of a thread: stop and continue, effects, values, model calls and their cost, sub-agents.
import type { Exchange, Route } from "@holdfast/server";
import { HoldfastError } from "holdfast";
import { countIn } from "./read-requests.ts";
import { schemas } from "./schemas.ts";
import {
	answerJson,
	answerOf,
	requestedThread,
	statuses,
	type ThreadRoutesOptions,
} from "./served-threads.ts";

const bodyErrors = ["invalid_input", "invalid_json", "unsupported_media_type", "body_too_large"] as const;

/** Returns the routes. */
export function actionRoutes(options: ThreadRoutesOptions): readonly Route[] {
	const { threads } = options;
	type Found = Awaited<ReturnType<typeof requestedThread>>;
	const asked = (
		method: "GET" | "POST",
		path: string,
		name: string,
		summary: string,
		answer: (found: Found, exchange: Exchange) => Promise<unknown>,
	): Route => ({
		method,
		path: `/api/threads/:id/${path}`,
		name,
		summary,
		statuses,
		answers: { 200: schemas.json("The answer.", schemas.any) },
		errors: method === "POST" ? bodyErrors : [],
		async handle(exchange) {
			const found = await requestedThread(options, exchange);
			if (method === "POST") await exchange.readNothing();
			return answerOf(options, found, await answer(found, exchange));
		},
	});
	const effectOf = (exchange: Exchange): string => exchange.parameter("effectId") ?? "";
	return [
		asked(
			"POST",
			"stop",
			"stopThread",
			"Aborts the active execution; harmless without one.",
			async ({ record }) => ({
				id: record.id,
				stopped: await threads.stop(record.id),
			}),
		),
		asked(
			"POST",
			"continue",
			"continueThread",
			"Continues from the stored state, without a new message.",
			async ({ record }) => {
				if (record.terminated !== null)
					throw new HoldfastError("thread_terminated", "The thread was terminated. Create another one.");
				await threads.continue(record.id);
				return { id: record.id, continued: true };
			},
		),
		asked(
			"GET",
			"effects",
			"listEffects",
			"The effects of a thread: pending, running and ended.",
			async ({ record }) => ({
				effects: await threads.effects(record.id).all(),
			}),
		),
		asked(
			"POST",
			"effects/:effectId/cancel",
			"cancelEffect",
			"Cancels a pending effect.",
			async ({ record }, exchange) => {
				const id = effectOf(exchange);
				if (!(await threads.effects(record.id).cancel(id))) throw notPending();
				return { id, canceled: true };
			},
		),
		asked(
			"POST",
			"effects/:effectId/run",
			"runEffect",
			"Runs a pending effect now, once.",
			async ({ record }, exchange) => {
				const id = effectOf(exchange);
				if (!(await threads.effects(record.id).runNow(id))) throw notPending();
				return { id, due: true };
			},
		),
		asked("GET", "kv", "listValues", "The key-values of a thread.", async ({ record }) => ({
			values: Object.fromEntries((await threads.values(record.id)).map(({ key, value }) => [key, value])),
		})),
		asked("GET", "logs", "listModelCalls", "The model calls of a thread, in order.", async ({ record }) => ({
			logs: await threads.modelCalls(record.id),
		})),
		asked("GET", "cost", "threadCost", "Cost of the model calls, in US dollars.", async ({ record }) =>
			costOf(await threads.modelCalls(record.id)),
		),
		asked("GET", "subagents", "listSubagents", "The sub-agents of a thread.", async ({ state }) => ({
			subagents: state.children,
		})),
	];
}

interface Costing {
	readonly cost?: number;
	readonly inputTokens: number;
	readonly outputTokens: number;
}

/**
 * Sums up the cost of calls. Calls with an unknown price are counted, and never treated as free. Summed in millionths of
 * a millionth of a dollar, so that a thousand small calls add no rounding error.
 */
function costOf(calls: readonly Costing[]): {
	cost: number;
	calls: number;
	unpriced: number;
	inputTokens: number;
	outputTokens: number;
} {
	let total = 0;
	let unpriced = 0;
	let inputTokens = 0;
	let outputTokens = 0;
	for (const call of calls) {
		inputTokens += call.inputTokens;
		outputTokens += call.outputTokens;
		if (call.cost === undefined) unpriced++;
		else total += Math.round(call.cost * 1e12);
	}
	return { cost: total / 1e12, calls: calls.length, unpriced, inputTokens, outputTokens };
}

function notPending(): HoldfastError {
	return new HoldfastError("effect_not_found", "The thread has no such pending effect. List its effects.");
}

const mostOffered = 100;

/** Routes of the project's definitions. */
export function projectRoutes({ threads }: ThreadRoutesOptions): readonly Route[] {
	const kinds = ["agents", "prompts", "models", "tools", "hooks", "effects", "providers"] as const;
	const offered: Route = {
		method: "GET",
		path: "/api/models/:name/offered",
		name: "listOfferedModels",
		summary: "The models that the provider of a model offers, a page at a time.",
		parameters: [
			{ in: "query", name: "search", description: "Words in their names.", schema: schemas.text },
			{ in: "query", name: "limit", description: "Models of a page.", schema: schemas.limit },
			{
				in: "query",
				name: "cursor",
				description: "`nextCursor` of the previous page.",
				schema: schemas.text,
			},
		],
		answers: { 200: schemas.json("A page of models.", schemas.any) },
		statuses: { item_not_found: 404, models_not_listed: 502 },
		async handle(exchange) {
			const search = exchange.query("search");
			const cursor = exchange.query("cursor");
			return answerJson(
				await threads.models.offered(exchange.parameter("name") ?? "", {
					limit: Math.max(1, countIn(exchange.query("limit"), "limit", mostOffered, mostOffered)),
					...(search === undefined ? {} : { search }),
					...(cursor === undefined ? {} : { cursor }),
				}),
			);
		},
	};
	const lists = kinds.map(
		(kind): Route => ({
			method: "GET",
			path: `/api/${kind}`,
			name: `list${kind[0]?.toUpperCase()}${kind.slice(1)}`,
			summary: `The ${kind} of the project, by name.`,
			answers: { 200: schemas.json("Their names.", schemas.any) },
			handle: async () => {
				const items = [...threads.project[kind].values()].sort((one, other) =>
					one.name < other.name ? -1 : 1,
				);
				const facts = new Map(
					kind === "models" ? (await threads.models.list()).map((each) => [each.name, each]) : [],
				);
				return answerJson({
					[kind]: items.map(({ name, packageId, definition }) => {
						const { description, title, toolDescription } = definition as unknown as Record<string, unknown>;
						return {
							name,
							package: packageId,
							...(title === undefined ? {} : { title }),
							...((description ?? toolDescription) === undefined
								? {}
								: { description: description ?? toolDescription }),
							...facts.get(name),
						};
					}),
				});
			},
		}),
	);
	return [...lists, offered];
}
