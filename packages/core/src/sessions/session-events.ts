// The events of keyed sessions as a projection of the one event union, with synchronised boundaries: the run passes
// turn-start, step-start and step-end when the consumer requests the next event.
import type { ToolCall, UserContent } from "@holdfast/upp";
import { EventQueue } from "../engine/index.ts";
import type { AgentEvent, BoundaryEvent, PendingToolCall, RunEvent, Watcher } from "../facts/index.ts";
import { isJobEvent } from "../facts/index.ts";
import { plainDetails, plainJson } from "../tools/index.ts";
import { partOf } from "./shown-part.ts";
import type { UnreadRuns } from "./unread-runs.ts";

/** The number of most recent events that are kept for a consumer that has not arrived yet. */
const keptUnread = 1_000;

/**
 * A watcher whose single consumer holds the run at its boundaries.
 *
 *   awaited   boundaries wait for a consumer to arrive; a limited number of events is kept for it
 *   unread    no consumer arrived: boundaries pass
 *   read      the consumer arrived: boundaries wait for it
 *   left      boundaries pass: the consumer left, or the run is watched or its result awaited
 *
 *   awaited → unread   `continueUnread`, called by the watch over unread runs
 *   awaited, unread → read   `take`
 *   any → left   `detach`, `return`
 */
export class SessionEvents implements Watcher, AsyncIterator<AgentEvent> {
	readonly #queue = new EventQueue<AgentEvent>();
	#started: Set<string> | undefined;
	/** The number of events so far. */
	count = 0;
	#asked = 0;
	#consumer: "awaited" | "unread" | "read" | "left" = "awaited";
	#isTaken = false;
	/** The number of events that were not kept. */
	#dropped = 0;
	#overlays = 0;
	/** Watches the run while it has no reader and its handle is unused. */
	unread: UnreadRuns | undefined;
	/** The time since which the run has waited without a request. For `unread` only. */
	awaitedSince: number | undefined;
	handle: { readonly sessionKey: string; readonly runId: string } | undefined;
	/**
	 * Called with each event as it happens, even without a consumer. The run passes no boundary until the returned value
	 * settles.
	 */
	onEvent: ((event: AgentEvent) => unknown) | undefined;
	#heard: Promise<unknown>[] | undefined;
	#gate: { readonly at: number; open(): void } | undefined;

	notify(event: RunEvent): void {
		switch (event.type) {
			case "input": {
				const input = inputEvent(event);
				this.#push(
					event.placement === "turn" ? input : { type: "runtime-input", input, placement: event.placement },
				);
				break;
			}
			case "turn_start":
				this.#push({ type: "turn-start" });
				break;
			case "step_start":
				this.#push({ type: "step-start" });
				break;
			case "step_end":
				this.#push({ type: "step-end" });
				break;
			case "message":
				this.#said(event);
				break;
			case "tool_start":
				this.#started ??= new Set();
				this.#started.add(event.call.toolCallId);
				this.#push(callEvent(event.call, event.input));
				break;
			case "nested":
				if (isJobEvent(event.event)) this.#push(event.event);
				break;
			case "tool_end": {
				const { toolCallId, toolName } = event.call;
				// A call that never started, for example because of invalid arguments, is still shown.
				if (this.#started?.delete(toolCallId) !== true)
					this.#push(callEvent(event.call, event.call.arguments));
				const isError = event.outcome === "done" ? {} : { isError: true as const };
				this.#push({ type: "tool-result", toolCallId, toolName, output: event.result, ...isError });
				break;
			}
			case "tools_pending":
				this.#push({ type: "tools-pending", toolCalls: pendingOf(event) });
				break;
			case "waiting":
				this.#push({
					type: "turn-waiting",
					toolCalls: pendingOf(event),
					...(event.wait === undefined ? {} : { wait: event.wait }),
				});
				break;
			case "run_suspended":
				this.#notAwaited();
				this.#expireOverlays();
				if (event.reason === "waiting") {
					this.#queue.end();
					break;
				}
				this.#push({
					type: "turn-error",
					code: event.error?.code ?? event.reason,
					message: event.error?.message ?? `The run was left to another worker: ${event.reason}.`,
				});
				this.#queue.end();
				break;
			case "run_end":
				this.#notAwaited();
				this.#expireOverlays();
				this.#push(endEvent(event));
				this.#queue.end();
				break;
			case "run_start":
			case "history_cut":
			case "model_start":
			case "model":
			case "model_retry":
			case "tool_delta":
			case "note":
				break;
			default:
				event satisfies never;
				break;
		}
	}

	#said(event: Extract<RunEvent, { type: "message" }>): void {
		for (const block of event.message.content) {
			if (block.type === "reasoning" && block.text !== "") {
				this.#push({ type: "assistant-reasoning", text: block.text });
			}
			if (block.type === "text" && block.text !== "")
				this.#push({ type: "assistant-text", text: block.text });
		}
	}

	/** An overlay was accepted for this turn. */
	overlayAccepted(): void {
		this.#overlays++;
		this.#push({ type: "overlay-accepted" });
	}

	#expireOverlays(): void {
		if (this.#overlays > 0) this.#push({ type: "overlay-expired" });
		this.#overlays = 0;
	}

	/** Returns the pending work for emitted events. */
	settled(): Promise<unknown> | undefined {
		const heard = this.#heard;
		this.#heard = undefined;
		return heard && Promise.all(heard);
	}

	passed(_event: BoundaryEvent): Promise<unknown> | undefined {
		const settled = this.settled();
		const asked = this.#askedOn();
		return settled === undefined || asked === undefined ? (settled ?? asked) : Promise.all([settled, asked]);
	}

	#askedOn(): Promise<void> | undefined {
		const isHeld = this.#consumer === "awaited" || this.#consumer === "read";
		if (!isHeld || this.#asked > this.count) return undefined;
		if (this.#consumer === "awaited") this.unread?.awaits(this);
		return new Promise((open) => {
			this.#gate = { at: this.count, open };
		});
	}

	/** Whether a boundary may ever wait for a consumer or for the handling of an event. */
	mayHold(): boolean {
		return this.#consumer !== "left" || this.onEvent !== undefined;
	}

	/** The consumer has arrived. */
	take(): void {
		this.#notAwaited();
		this.#isTaken = true;
		// Events that the consumer will never see count as requested.
		this.#asked = this.#dropped;
		if (this.#consumer !== "left") this.#consumer = "read";
	}

	/** No consumer arrived: boundaries pass until one does. */
	continueUnread(): void {
		if (this.#consumer !== "awaited") return;
		this.#consumer = "unread";
		this.#openGate();
	}

	#notAwaited(): void {
		this.unread?.forget(this);
	}

	get isWaiting(): boolean {
		return this.#dropped === 0 && this.#queue.isWaiting;
	}

	next(): Promise<IteratorResult<AgentEvent>> {
		if (this.#dropped > 0) {
			const count = this.#dropped;
			this.#dropped = 0;
			return Promise.resolve({ value: { type: "events-dropped", count }, done: false });
		}
		this.#asked++;
		if (this.#gate !== undefined && this.#asked > this.#gate.at) this.#openGate();
		return this.#queue.next();
	}

	/** The consumer leaves: the run continues unobserved. */
	return(): Promise<IteratorResult<AgentEvent>> {
		this.detach();
		return this.#queue.return();
	}

	/** Boundaries no longer wait; events stay readable. */
	detach(): void {
		this.#notAwaited();
		this.#consumer = "left";
		this.#openGate();
	}

	#openGate(): void {
		const gate = this.#gate;
		this.#gate = undefined;
		gate?.open();
	}

	#push(event: AgentEvent): void {
		this.count++;
		if (!this.#isTaken && this.#queue.length >= keptUnread) {
			this.#queue.dropFirst();
			this.#dropped++;
		}
		this.#queue.push(event);
		const heard = this.onEvent?.(event);
		if (!(heard instanceof Promise)) return;
		this.#heard ??= [];
		this.#heard.push(heard);
	}
}

function callEvent(call: ToolCall, input: unknown): AgentEvent {
	const { toolCallId, toolName } = call;
	return { type: "tool-call", toolCallId, toolName, input: shownInput(input) };
}

/** A schema may have converted the model's input to any value. */
function shownInput(input: unknown): unknown {
	try {
		return plainJson(input);
	} catch {
		return plainDetails(input);
	}
}

function inputEvent(event: Extract<RunEvent, { type: "input" }>): AgentEvent {
	const { message, shape, wrapped = [] } = event;
	const content =
		message.type === "user" ? (message as unknown as { content: readonly UserContent[] }).content : [];
	if (shape === "text") {
		const text = content.find((part) => part.type === "text")?.text ?? "";
		return { type: "user-text", text };
	}
	if (shape === "texts")
		return { type: "user-text", text: content.flatMap((part) => (part.type === "text" ? [part.text] : [])) };
	return {
		type: "user-message",
		content: content.map((block, index) => partOf(block, wrapped.includes(index))),
	};
}

function endEvent(event: Extract<RunEvent, { type: "run_end" }>): AgentEvent {
	switch (event.outcome) {
		case "completed":
			return {
				type: "turn-end",
				...(event.output === undefined ? {} : { output: event.output }),
				...(event.stopReason === undefined || event.stopReason === "stop"
					? {}
					: { stopReason: event.stopReason }),
			};
		case "aborted":
			return { type: "turn-abort" };
		case "killed":
			return {
				type: "turn-error",
				code: "session_killed",
				message: event.error?.message ?? "The session was killed.",
			};
		case "error":
			return {
				type: "turn-error",
				code: event.error?.code ?? "run_failed",
				message: event.error?.message ?? "The run failed.",
			};
	}
}

/** Returns waiting calls in the form that callers see. */
function pendingOf({
	runId,
	calls,
}: Extract<RunEvent, { type: "waiting" | "tools_pending" }>): readonly PendingToolCall[] {
	return calls.map(({ call, awaits, deadline, mayEdit, path }) => ({
		runId,
		toolCallId: call.toolCallId,
		toolName: call.toolName,
		arguments: plainJson(call.arguments) as Record<string, unknown>,
		awaits,
		...(deadline === undefined ? {} : { deadline }),
		...(path === undefined ? {} : { path }),
		...(mayEdit === undefined ? {} : { mayEdit }),
	}));
}
