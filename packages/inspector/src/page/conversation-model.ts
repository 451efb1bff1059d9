// The conversation of a session, built from its entries: messages, calls and answers, in order. Each entry costs the same
// regardless of the conversation's length; a cut costs as much as it removes.
import type { Fact } from "holdfast/host";
import type { ShownEntry } from "../wire/index.ts";

/** A tool call. */
export interface Call {
	readonly callId: string;
	readonly name: string;
	input: unknown;
	/** Absent until it has one. */
	outcome?: string;
	result?: unknown;
	duration?: number;
	attempts: number;
}

/** An item of a conversation. */
export interface Said {
	readonly seq: number;
	readonly at: number;
	readonly runId: string;
	readonly who: "user" | "assistant" | "error" | "note";
	readonly messageId?: string;
	text: string;
	readonly thinking?: string;
	/** Images and files in the message. */
	readonly files?: readonly SaidFile[];
	readonly calls: readonly Call[];
	/** Pages and documents that the answer cites. */
	readonly sources?: readonly { readonly title: string; readonly url?: string }[];
	readonly model?: string;
	readonly tokens?: number;
	readonly cost?: number;
	readonly duration?: number;
	/** Why the model stopped, if the answer did not end normally. */
	stopped?: string;
}

/** An image or a file of a message. */
export interface SaidFile {
	/** Its position in the content of the message. */
	readonly index: number;
	readonly type: string;
	readonly mimeType: string;
	readonly title?: string;
	/** Its address, if the message contains no bytes. */
	readonly url?: string;
}

/** A call that waits for an outside answer. */
export interface Pending {
	readonly callId: string;
	readonly name: string;
	readonly input: unknown;
	readonly awaits: "result" | "approval";
	readonly runId?: string;
	readonly deadline?: number;
	/** Names of the sub-agents that lead to it. */
	readonly agents?: readonly string[];
	/** Set if a background task waits for it, not the run. */
	readonly taskId?: string;
	/** Set if an approval may change its input. */
	readonly mayEdit?: true;
}

/** A sub-agent that the run waits for. */
interface WaitingChild {
	readonly agent: string;
	readonly calls: readonly (Omit<Pending, "name" | "input" | "callId" | "agents"> & {
		readonly id: string;
		readonly toolName: string;
		readonly arguments: unknown;
		readonly path: readonly { readonly agent: string }[];
	})[];
	readonly wait?: WaitBody;
}

interface WaitBody {
	readonly tag: string;
	readonly until?: number;
	readonly model?: { readonly code: string; readonly attempt: number };
}

type Body = Readonly<Record<string, unknown>>;
interface MessageBody {
	readonly id?: string;
	readonly type?: string;
	readonly content?: readonly BlockBody[];
	readonly toolCalls?: readonly CallBody[];
	readonly metadata?: { readonly upp?: Carried };
}
interface BlockBody {
	readonly type: string;
	readonly text?: string;
	readonly mimeType?: string;
	readonly title?: string;
	readonly source?: { readonly type: string; readonly url?: string };
}
/** What a message carries in addition to its content: mostly work that the provider did itself. */
interface Carried {
	/** Id of the message that this one replaces. */
	readonly replaces?: string;
	readonly parts?: readonly {
		readonly part: {
			readonly type: string;
			readonly toolCallId?: string;
			readonly toolName?: string;
			readonly input?: unknown;
			readonly output?: { readonly type: string; readonly value?: unknown };
		};
	}[];
	readonly sources?: readonly { readonly id: string; readonly url?: string; readonly title?: string }[];
}
interface CallBody {
	readonly toolCallId: string;
	readonly toolName: string;
	readonly arguments: unknown;
}

export class Conversation {
	readonly said: Said[] = [];
	readonly #calls = new Map<string, Call>();
	/** Calls that wait for an outside answer. */
	pending: readonly Pending[] = [];
	/** The reason why the run waits, other than calls: a time, an input, its model. */
	wait: string | undefined;

	/** Adds the next entry. */
	add({ seq, at, runId, kind, body }: ShownEntry): void {
		const put = (said: Omit<Said, "seq" | "at" | "runId" | "calls"> & Partial<Pick<Said, "calls">>): void => {
			this.said.push({ calls: [], ...said, seq, at, runId });
		};
		if (kind === "waiting" || kind === "tools.pending") this.#waits(body, runId);
		else if (kind === "tool.started" || kind === "tool.settled") this.#continues(String(body.callId));
		else if (kind === "decision") this.#continues(String((body.answer as Body | undefined)?.callId));
		else if (kind !== "note" && kind !== "run.parked") {
			this.pending = [];
			this.wait = undefined;
		}
		// A newer server may send kinds that this page does not support.
		const known = kind as Fact["kind"] | "unreadable";
		switch (known) {
			case "unreadable":
				put({ who: "error", text: `Entry ${seq} cannot be read (${body.code}): ${body.message}` });
				break;
			case "folded":
				this.said.length = 0;
				put({
					who: "note",
					text: `Entries 1 to ${seq} were compacted: earlier history is kept as messages only.`,
				});
				for (const message of messagesOf(body)) put({ who: speakerOf(message), text: textOf(message) });
				break;
			case "input": {
				const message = body.message as MessageBody;
				put({
					who: "user",
					text: textOf(message),
					...filesOf(message),
					...(message.id === undefined ? {} : { messageId: message.id }),
				});
				break;
			}
			case "assistant":
				this.#answers(body, put);
				break;
			case "tools.requested":
				put({
					who: "note",
					text: "The strategy called tools.",
					calls: this.#called(body.calls as readonly CallBody[]),
				});
				break;
			case "tool.started": {
				const call = this.#calls.get(String(body.callId));
				if (call === undefined) break;
				call.attempts = Number(body.attempt);
				if (body.input !== undefined) call.input = body.input;
				break;
			}
			case "tool.settled": {
				const call = this.#calls.get(String(body.callId));
				if (call === undefined) break;
				call.outcome = String(body.outcome);
				call.result = body.result;
				call.duration = Number(body.duration);
				break;
			}
			case "history.cut": {
				const from = this.said.findLastIndex(({ messageId }) => messageId === body.messageId);
				if (from >= 0) this.said.length = from;
				put({ who: "note", text: "This message and all later ones were removed." });
				break;
			}
			case "message.added": {
				const message = body.message as MessageBody;
				const messageId = message.id === undefined ? {} : { messageId: message.id };
				put({ who: speakerOf(message), text: textOf(message), ...messageId });
				break;
			}
			case "message.updated": {
				const found = this.said.findLast(({ messageId }) => messageId === body.messageId);
				if (found !== undefined) found.text = textOf(body.message as MessageBody);
				break;
			}
			case "message.deleted": {
				const index = this.said.findLastIndex(({ messageId }) => messageId === body.messageId);
				if (index >= 0) this.said.splice(index, 1);
				break;
			}
			case "run.ended":
				this.#ended(body, put);
				break;
			case "run.started":
			case "run.resumed":
			case "run.parked":
			case "decision":
			case "note":
			case "tools.pending":
			case "waiting":
			case "wait.ended":
				break;
			default:
				known satisfies never;
				break;
		}
	}

	#answers(
		body: Body,
		put: (said: Omit<Said, "seq" | "at" | "runId" | "calls"> & { calls: readonly Call[] }) => void,
	): void {
		const message = body.message as MessageBody;
		const { replaces } = message.metadata?.upp ?? {};
		const replaced =
			replaces === undefined ? undefined : this.said.findLast(({ messageId }) => messageId === replaces);
		if (replaced !== undefined) replaced.stopped = "replaced below";
		const { inputTokens = 0, outputTokens = 0 } = (body.usage ?? {}) as Record<string, number>;
		const thinking = (message.content ?? [])
			.filter(({ type }) => type === "reasoning")
			.map(({ text = "" }) => text)
			.join("\n");
		put({
			who: "assistant",
			text: textOf(message),
			calls: [...providerCalls(message), ...this.#called(message.toolCalls ?? [])],
			...sourcesOf(message),
			...filesOf(message),
			model: String(body.modelId),
			tokens: inputTokens + outputTokens,
			duration: Number(body.duration),
			...(typeof body.cost === "number" ? { cost: body.cost } : {}),
			...(thinking === "" ? {} : { thinking }),
			...stoppedOf(body.stopReason),
			...(message.id === undefined ? {} : { messageId: message.id }),
		});
	}

	#ended(body: Body, put: (said: Pick<Said, "who" | "text">) => void): void {
		if (body.outcome === "completed") return;
		const { code = "", message = "" } = (body.error ?? {}) as Record<string, string>;
		const partial = body.partial === undefined ? "" : textOf(body.partial as MessageBody);
		const words = body.outcome === "aborted" ? "The run was interrupted." : `${message} (${code})`;
		put({ who: "error", text: partial === "" ? words : `${words}\nIts text so far: ${partial}` });
	}

	#called(calls: readonly CallBody[]): readonly Call[] {
		return calls.map(({ toolCallId, toolName, arguments: input }) => {
			const call: Call = { callId: toolCallId, name: toolName, input, attempts: 0 };
			this.#calls.set(toolCallId, call);
			return call;
		});
	}

	/** Handles a call that was answered, or whose sub-agent continues: others may still wait. */
	#continues(callId: string): void {
		const isOf = (id: string): boolean => id === callId || id.startsWith(`${callId}/`);
		this.pending = this.pending.filter((pending) => !isOf(pending.callId));
	}

	#waits(body: Body, runId: string): void {
		const calls = body.calls as readonly {
			callId: string;
			awaits: Pending["awaits"];
			deadline?: number;
			input?: unknown;
			mayEdit?: true;
		}[];
		const children = (body.children ?? []) as readonly WaitingChild[];
		const own = calls.map(({ callId, awaits, deadline, input: shown, mayEdit }): Pending => {
			const { name = callId, input: asked } = this.#calls.get(callId) ?? {};
			// Hooks and defaults may have changed the model's input: show what runs.
			const input = shown ?? asked;
			const due = deadline === undefined ? {} : { deadline };
			return { callId, name, input, awaits, runId, ...due, ...(mayEdit === undefined ? {} : { mayEdit }) };
		});
		const nested = children
			.flatMap((child) => child.calls)
			.map((call): Pending => {
				const { id, toolName, arguments: input, awaits, deadline, path, mayEdit } = call;
				const due = deadline === undefined ? {} : { deadline };
				return {
					callId: id,
					name: toolName,
					input,
					awaits,
					runId,
					...due,
					...(mayEdit === undefined ? {} : { mayEdit }),
					agents: path.map(({ agent }) => agent),
				};
			});
		this.pending = [...own, ...nested];
		const wait =
			(body.wait as WaitBody | undefined) ?? children.find((child) => child.wait !== undefined)?.wait;
		const until = wait?.until === undefined ? "an input" : new Date(wait.until).toLocaleTimeString("en-GB");
		this.wait =
			wait &&
			(wait.model === undefined
				? `It waits for ${until} (${wait.tag}).`
				: `It waits for its model until ${until}: ${wait.model.code}, attempt ${wait.model.attempt}.`);
	}
}

/** Returns the tools that the provider ran itself. */
function providerCalls({ metadata }: MessageBody): readonly Call[] {
	const calls = new Map<string, Call>();
	for (const { part } of metadata?.upp?.parts ?? []) {
		const { type, toolCallId: callId = "", toolName: name = "", input, output } = part;
		if (type === "tool-call") calls.set(callId, { callId, name, input, attempts: 1 });
		const call = type === "tool-result" ? calls.get(callId) : undefined;
		if (call === undefined) continue;
		call.outcome = output?.type.startsWith("error") === true ? "error" : "done";
		call.result = output?.value;
	}
	return [...calls.values()];
}

function sourcesOf({ metadata }: MessageBody): Pick<Said, "sources"> {
	const { sources = [] } = metadata?.upp ?? {};
	if (sources.length === 0) return {};
	return {
		sources: sources.map(({ id, url, title }) => ({
			title: title ?? url ?? id,
			...(url === undefined ? {} : { url }),
		})),
	};
}

function filesOf({ content = [] }: MessageBody): Pick<Said, "files"> {
	const files = content.flatMap((block, index): readonly SaidFile[] => {
		const { type, mimeType = type, title, source } = block;
		if (type === "text" || type === "reasoning") return [];
		const named = title === undefined ? {} : { title };
		return [{ index, type, mimeType, ...named, ...(source?.url === undefined ? {} : { url: source.url }) }];
	});
	return files.length === 0 ? {} : { files };
}

/** Returns the text of a message. */
function textOf({ content = [] }: MessageBody): string {
	return content.map(({ type, text = "" }) => (type === "text" ? text : "")).join("");
}

function messagesOf(body: Body): readonly MessageBody[] {
	const { messages } = (body.state ?? {}) as { messages?: unknown };
	return Array.isArray(messages) ? messages.filter((each) => typeof each === "object" && each !== null) : [];
}

function speakerOf({ type }: MessageBody): Said["who"] {
	return type === "user" ? "user" : type === "assistant" ? "assistant" : "note";
}

const stops: Readonly<Record<string, string>> = {
	length: "cut off at the token limit",
	content_filter: "refused or filtered",
	error: "stopped by an error",
	other: "stopped for an unknown reason",
};

function stoppedOf(stopReason: unknown): Pick<Said, "stopped"> {
	const stopped = stops[String(stopReason)];
	return stopped === undefined ? {} : { stopped };
}
