/** Renders a run as JSON, one event per line; the last line is of type "end" and contains the outcome. */
import type { RunEvent } from "holdfast";
import type { Output } from "../terminal/index.ts";
import { changeLines } from "./change-lines.ts";
import type { Renderer } from "./renderer.ts";

/** Creates the renderer for programs. */
export function jsonRenderer(output: Output): Renderer {
	const line = (event: object): void => output.write(`${JSON.stringify(event)}\n`);
	return {
		begin: (header) =>
			line({ type: "begin", session: header.sessionKey, model: header.model, dir: header.dir }),
		event(event) {
			const projected = projectEvent(event);
			if (projected !== undefined) line(projected);
		},
		proposed: ({ call, word, change, refusal }) =>
			line({
				type: "pending",
				id: call.toolCallId,
				tool: call.toolName,
				input: call.arguments,
				...(change === undefined
					? {}
					: {
							approve: word,
							path: change.place.relative,
							versions: change.versions,
							diff: changeLines(change)
								.map(({ text }) => `${text}\n`)
								.join(""),
						}),
				...(refusal === undefined ? {} : { error: { message: refusal } }),
			}),
		note: (text) => line({ type: "note", text }),
		end({ result, exitCode, header, duration, resumeCommand, waiting }) {
			line({
				type: "end",
				outcome:
					result.outcome === "error"
						? "failed"
						: result.outcome === "suspended"
							? "interrupted"
							: result.outcome,
				exitCode,
				session: header.sessionKey,
				run: result.runId,
				text: result.text,
				...(result.stopReason === undefined ? {} : { stopReason: result.stopReason }),
				steps: result.steps,
				usage: result.usage,
				// An unknown cost is null, never 0.
				cost: header.model === "offline" ? 0 : result.cost || null,
				duration: Math.round(duration),
				...(result.error === undefined ? {} : { error: result.error }),
				...(result.outcome === "suspended" || result.outcome === "waiting" ? { resume: resumeCommand } : {}),
				...(result.outcome === "waiting" ? { waiting } : {}),
				...(result.wait === undefined ? {} : { wait: result.wait }),
			});
		},
	};
}

/** Converts an event for programs; undefined for events that they do not need. */
function projectEvent(event: RunEvent): object | undefined {
	const at = { seq: event.seq, sub: event.sub };
	switch (event.type) {
		case "run_start":
			return { type: "run_start", ...at, run: event.runId, attempt: event.attempt };
		case "input":
			return { type: "input", ...at, placement: event.placement, text: event.message.text };
		case "step_start":
			return { type: "step_start", ...at, step: event.step };
		case "model":
			return event.event.type === "text_delta" || event.event.type === "reasoning_delta"
				? { type: event.event.type, ...at, step: event.step, text: event.event.delta.text ?? "" }
				: undefined;
		case "model_retry":
			return {
				type: "model_retry",
				...at,
				step: event.step,
				attempt: event.attempt,
				delay: event.delay,
				error: event.error,
			};
		case "message":
			return {
				type: "message",
				...at,
				step: event.step,
				text: event.message.text,
				model: event.modelId,
				usage: event.usage,
				duration: event.duration,
				stopReason: event.stopReason,
				...(event.replaces === undefined ? {} : { replaces: true }),
			};
		case "tool_start":
			return {
				type: "tool_start",
				...at,
				step: event.step,
				id: event.call.toolCallId,
				tool: event.call.toolName,
				input: event.input,
				attempt: event.attempt,
			};
		case "tool_delta":
			return { type: "tool_delta", ...at, step: event.step, id: event.toolCallId, delta: event.delta };
		case "tool_end":
			return {
				type: "tool_end",
				...at,
				step: event.step,
				id: event.call.toolCallId,
				tool: event.call.toolName,
				outcome: event.outcome,
				result: event.result,
				duration: event.duration,
			};
		case "step_end":
			return { type: "step_end", ...at, step: event.step };
		case "run_suspended":
			return { type: "run_suspended", ...at, reason: event.reason };
		case "run_end":
			return {
				type: "run_end",
				...at,
				outcome: event.outcome,
				...(event.stopReason === undefined ? {} : { stopReason: event.stopReason }),
			};
		case "history_cut":
		case "turn_start":
		case "model_start":
		case "nested":
		case "tools_pending":
		case "waiting":
		case "note":
			return undefined;
		default:
			event satisfies never;
			return undefined;
	}
}
