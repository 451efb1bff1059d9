// The route for front ends that speak AG-UI: a thread is a session with the thread's id.
import { HoldfastError } from "holdfast";
import type { LoggedEvent, PendingSessionCall } from "holdfast/execute";
import type { Exchange } from "../exchange.ts";
import type { DescribedAnswer, Route } from "../http/index.ts";
import { executeErrors, fieldErrors, submitToKnown } from "../routes/index.ts";
import { projectedRun } from "../streams/index.ts";
import type { AgUiEvent } from "./ag-ui-event.ts";
import { AgUiProjection, type AgUiRun } from "./ag-ui-projection.ts";
import { awaitedOf, readAgUiRequest } from "./ag-ui-request.ts";

const events: DescribedAnswer = {
	description:
		"Server-sent events with an AG-UI event each, from `RUN_STARTED` to `RUN_FINISHED` or `RUN_ERROR`.",
	content: { "text/event-stream": { type: "object" } },
};

/** Runs a thread. */
export const agUi: Route = {
	method: "POST",
	path: "/api/ag-ui",
	name: "agUi",
	summary:
		"Accepts an AG-UI `RunAgentInput`, with its last message or with results and answers, and streams the run.",
	body: {
		type: "object",
		required: ["threadId", "runId", "messages"],
		properties: {
			threadId: { type: "string" },
			runId: { type: "string" },
			messages: { type: "array" },
			tools: { type: "array" },
			resume: { type: "array" },
		},
	},
	answers: { 200: events },
	errors: [...executeErrors, ...fieldErrors, "tool_name_conflict", "session_not_found"],
	async handle(exchange) {
		const request = readAgUiRequest(await exchange.readJson());
		const { threadId, runId, message, context } = request;
		// The front end names its runs, so a repeated request finds the run it started.
		const key = `ag-ui:${runId}`;
		const started: AgUiEvent = { type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" };
		const stream = {
			sessionId: threadId,
			until: "next end",
			opening: `data: ${JSON.stringify(started)}\n\n`,
		} as const;
		if (message !== undefined) {
			const asked = { input: message, context, neverSteers: true, whilePending: "queue" } as const;
			const submitted = await exchange.submit(threadId, asked, key);
			if (submitted.begun !== undefined) {
				const { pendingToolCalls = [] } = (await exchange.service.get(exchange.caller, threadId)) ?? {};
				if (pendingToolCalls.length > 0)
					return stillWaits(exchange, stream.opening, { threadId, runId }, pendingToolCalls);
			}
			return exchange.streamRunAs(submitted, (after) => {
				const projection = new AgUiProjection({ threadId, runId });
				const project = projection.add.bind(projection);
				return projectedRun({ ...stream, after, from: after, project });
			});
		}
		const info = await exchange.service.get(exchange.caller, threadId);
		if (info === undefined) throw new HoldfastError("session_not_found", "Session not found");
		const { pendingToolCalls = [], backgroundToolCalls = [] } = info;
		const input = awaitedOf(request, [...pendingToolCalls, ...backgroundToolCalls]);
		if (input.length === 0)
			throw new HoldfastError(
				"invalid_input",
				"`messages` must end with a message of the user or of a tool.",
				{
					data: { field: "messages" },
				},
			);
		const submitted = await submitToKnown(exchange, threadId, { input }, key);
		const end = await exchange.endOf(submitted);
		if (end !== undefined) return endedBy(exchange, stream.opening, { threadId, runId }, end);
		const { after: from } = submitted;
		const results = input.flatMap(({ role, toolCallId }) => (role === "tool" ? [toolCallId] : []));
		const projection = new AgUiProjection({ threadId, runId, answered: new Set(results) });
		const project = projection.add.bind(projection);
		const after = info.lastRun?.after ?? from;
		return exchange.streamAs(projectedRun({ ...stream, after, from, project }));
	},
};

/**
 * Streams the run of a message that waits for answers to calls: it ends with their interrupts, so that the front end can
 * answer.
 */
function stillWaits(
	exchange: Exchange,
	opening: string,
	run: AgUiRun,
	pendingToolCalls: readonly PendingSessionCall[],
): Response {
	const event = { type: "execute_complete", status: "awaiting_tool_execution", pendingToolCalls } as const;
	return endedBy(exchange, opening, run, { id: "0.0.0", event });
}

/** Streams a run that consists only of its end. */
function endedBy(exchange: Exchange, opening: string, run: AgUiRun, end: LoggedEvent): Response {
	const ended = new AgUiProjection(run).add(end);
	const text = opening + ended.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
	return exchange.closed(run.threadId, text);
}
