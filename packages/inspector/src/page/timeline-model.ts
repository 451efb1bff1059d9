// The timeline of a session, built from its entries: runs, answers of models, calls of tools, waits, retries and
// takeovers, each with its time. Each entry costs the same regardless of the timeline's length.
import type { Fact } from "holdfast/host";
import type { ShownEntry } from "../wire/index.ts";
import { formatDuration, formatShare, summary } from "./format.ts";

/** A line of the timeline. */
export interface Span {
	readonly seq: number;
	readonly kind: "run" | "model" | "tool" | "wait" | "retry" | "takeover" | "input" | "decision" | "note";
	label: string;
	detail: string;
	readonly start: number;
	/** Absent while it is in progress. */
	end: number | undefined;
	failed: boolean;
	readonly step?: number;
	/** The call, for a tool. */
	readonly callId?: string;
	readonly tokens?: number;
	readonly cost?: number;
	/** The run that it belongs to; for a run, the span itself. */
	run: Span | undefined;
}

const resumeReasons: Readonly<Record<string, string>> = {
	crash: "taken over: the process died",
	suspended: "resumed after a suspension",
	"lease-lost": "taken over by another worker",
	answered: "resumed: its calls were answered",
	released: "released",
};

export class Timeline {
	readonly spans: Span[] = [];
	/** The first and last known time. */
	last = 0;
	#run: Span | undefined;
	#runs = 0;
	#wait: Span | undefined;
	readonly #calls = new Map<string, Span>();
	readonly #names = new Map<string, string>();

	/** Adds the next entry. */
	add(entry: ShownEntry): void {
		const { seq, at, kind, body } = entry;
		this.last = Math.max(this.last, at);
		if (kind !== "note" && this.#wait !== undefined) {
			this.#wait.end = at;
			this.#wait = undefined;
		}
		const put = (given: Partial<Span> & Pick<Span, "kind" | "label">): Span => {
			const span: Span = { seq, start: at, end: at, detail: "", failed: false, run: this.#run, ...given };
			this.spans.push(span);
			return span;
		};
		const step = typeof body.step === "number" ? { step: body.step } : {};
		// A newer server may send kinds that this page does not support.
		const known = kind as Fact["kind"] | "unreadable";
		switch (known) {
			case "unreadable":
				put({ kind: "note", label: "unreadable", detail: String(body.message), failed: true });
				break;
			case "folded":
				put({ kind: "note", label: "folded", detail: `entries 1 to ${seq} were compacted` });
				break;
			case "run.started": {
				this.#runs++;
				this.#run = put({
					kind: "run",
					label: `Run ${this.#runs}`,
					detail: String(body.runKind),
					end: undefined,
				});
				this.#run.run = this.#run;
				break;
			}
			case "run.resumed": {
				const changed = Array.isArray(body.agentChanged) ? `; changed: ${body.agentChanged.join(", ")}` : "";
				const reason = resumeReasons[String(body.reason)] ?? String(body.reason);
				const isTakeover = body.reason === "crash" || body.reason === "lease-lost";
				put({
					kind: isTakeover ? "takeover" : "note",
					label: isTakeover ? "takeover" : "resumed",
					detail: `attempt ${body.attempt}, ${reason}${changed}`,
				});
				break;
			}
			case "run.parked":
				put({
					kind: "wait",
					label: "parked",
					detail: `${body.reason}, ${body.crashes} crashes`,
					failed: true,
				});
				break;
			case "input":
				put({ kind: "input", label: "input", detail: summary(textOf(body.message)) });
				break;
			case "assistant":
				this.#answer(entry, put);
				break;
			case "tools.requested":
				this.#name(body.calls);
				put({ kind: "decision", label: "tools requested", detail: String(body.tag), ...step });
				break;
			case "tool.started": {
				const callId = String(body.callId);
				const before = this.#calls.get(callId);
				if (before !== undefined && before.end === undefined) {
					before.end = at;
					before.failed = true;
					before.detail += " (interrupted)";
				}
				const again = Number(body.attempt) > 1 ? ` · attempt ${body.attempt}` : "";
				this.#calls.set(
					callId,
					put({ kind: "tool", label: String(body.name), detail: again, end: undefined, callId, ...step }),
				);
				break;
			}
			case "tool.settled":
				this.#settled(entry, put);
				break;
			case "decision":
				this.#decided(entry, put);
				break;
			case "note":
				this.#noted(entry, put);
				break;
			case "waiting": {
				const calls = (body.calls ?? []) as readonly { callId: string; awaits: string }[];
				const wait = body.wait as { tag: string; model?: { code: string } } | undefined;
				const what = calls.map(({ callId, awaits }) => `${awaits} of ${this.#names.get(callId) ?? callId}`);
				const children = (body.children ?? []) as readonly { agent: string }[];
				what.push(...children.map(({ agent }) => `sub-agent ${agent}`));
				if (wait !== undefined) what.push(wait.model === undefined ? wait.tag : `model: ${wait.model.code}`);
				this.#wait = put({
					kind: "wait",
					label: "wait",
					detail: `for ${what.join(", ")}`,
					end: undefined,
					...step,
				});
				break;
			}
			case "run.ended": {
				const run = this.#run;
				if (run === undefined) break;
				run.end = at;
				run.failed = body.outcome !== "completed";
				const { code } = (body.error ?? {}) as { code?: string };
				run.detail = `${body.outcome}${code === undefined ? "" : ` (${code})`} after ${formatDuration(at - run.start)}`;
				this.#run = undefined;
				break;
			}
			case "tools.pending":
			case "wait.ended":
			case "message.added":
			case "message.updated":
			case "message.deleted":
			case "history.cut":
				put({ kind: "note", label: kind, detail: summary(body) });
				break;
			default:
				known satisfies never;
				put({ kind: "note", label: kind, detail: summary(body) });
		}
	}

	#answer({ at, body }: ShownEntry, put: Put): void {
		const {
			inputTokens = 0,
			outputTokens = 0,
			cacheReadTokens = 0,
		} = (body.usage ?? {}) as Record<string, number>;
		const { reasons = [] } = (body.cacheBreak ?? {}) as { reasons?: readonly string[] };
		const cached = cacheReadTokens === 0 ? "" : ` · ${formatShare(cacheReadTokens, inputTokens)} cached`;
		const broken = reasons.length === 0 ? "" : ` · cache broken by ${reasons.join(", ")}`;
		this.#name((body.message as { toolCalls?: unknown }).toolCalls);
		const duration = Number(body.duration);
		const tag = body.tag === "act" ? "" : `${body.tag} · `;
		put({
			kind: "model",
			label: String(body.modelId),
			detail: `${tag}${summary(textOf(body.message)) || "called tools"}${cached}${broken}`,
			start: at - duration,
			tokens: inputTokens + outputTokens,
			step: Number(body.step),
			...(typeof body.cost === "number" ? { cost: body.cost } : {}),
		});
	}

	#settled({ at, body }: ShownEntry, put: Put): void {
		const callId = String(body.callId);
		const started = this.#calls.get(callId);
		const failed = body.outcome !== "done";
		const detail = `${failed ? `${body.outcome}: ` : ""}${summary(body.result)}`;
		if (started === undefined) {
			put({
				kind: "tool",
				label: this.#names.get(callId) ?? callId,
				detail,
				failed,
				step: Number(body.step),
			});
			return;
		}
		this.#calls.delete(callId);
		started.end = at;
		started.failed = failed;
		started.detail = `${detail}${started.detail}`;
	}

	#decided({ body }: ShownEntry, put: Put): void {
		const topic = String(body.topic);
		const step = { step: Number(body.step) };
		if (topic !== "approval") {
			put({ kind: "decision", label: topic, detail: summary(body.answer), ...step });
			return;
		}
		const {
			callId = "",
			approved,
			reason,
		} = (body.answer ?? {}) as { callId?: string; approved?: boolean; reason?: string };
		const why = reason === undefined ? "" : `: ${reason}`;
		put({
			kind: "decision",
			label: approved ? "approved" : "denied",
			detail: `${this.#names.get(callId) ?? callId}${why}`,
			...step,
		});
	}

	#noted({ body }: ShownEntry, put: Put): void {
		const topic = String(body.topic);
		const step = { step: Number(body.step) };
		// The calls of a sub-agent are part of its own trace.
		if (topic === "subagent-trace") return;
		if (topic !== "model-retry") {
			put({ kind: "note", label: topic, detail: summary(body.value), ...step });
			return;
		}
		const {
			attempt,
			delay = 0,
			error,
		} = body.value as { attempt?: number; delay?: number; error?: { message?: string } };
		put({
			kind: "retry",
			label: "retry",
			detail: `${attempt} of the model, after ${formatDuration(delay)}: ${error?.message ?? ""}`,
			failed: true,
			...step,
		});
	}

	#name(calls: unknown): void {
		for (const { toolCallId, toolName } of (calls ?? []) as readonly {
			toolCallId: string;
			toolName: string;
		}[])
			this.#names.set(toolCallId, toolName);
	}
}

type Put = (given: Partial<Span> & Pick<Span, "kind" | "label">) => Span;

function textOf(message: unknown): string {
	const { content = [] } = (message ?? {}) as { content?: readonly { type: string; text?: string }[] };
	return content.map(({ type, text }) => (type === "text" ? (text ?? "") : "")).join("");
}

/** Returns the position of a span within its run, as fractions of 1. */
export function placeOf(
	span: Pick<Span, "run" | "start" | "end">,
	last: number,
): { readonly left: number; readonly width: number } {
	const { run } = span;
	const start = run?.start ?? span.start;
	const end = Math.max(run?.end ?? last, start + 1);
	const length = end - start;
	const left = Math.min(1, Math.max(0, (span.start - start) / length));
	const width = Math.min(1 - left, Math.max(0, ((span.end ?? end) - span.start) / length));
	return { left, width };
}
