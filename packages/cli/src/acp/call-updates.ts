/**
 * The calls of a session as an editor shows them: announced once, then updated. An update replaces the content of a call,
 * so each one repeats what the call still shows: its change, and the end of its output or of its sub-agent's activity.
 */
import { resolve } from "node:path";
import type {
	SessionUpdate,
	ToolCallContent,
	ToolCallLocation,
	ToolKind,
} from "@agentclientprotocol/sdk/unstable";
import { cutText, type ToolCall } from "@holdfast/upp";
import type { PendingToolCall } from "holdfast";
import { formatArguments, oneLine, printable } from "../terminal/index.ts";

/** Maximum number of characters of a call's title. */
const longestTitle = 160;
/** Maximum number of characters of a result that an editor shows. */
const longestResult = 20_000;
/** Maximum number of characters of the output of a running call that an editor shows. */
const longestOutput = 4_000;
/** Milliseconds between two updates with the output of a running call. */
const outputEveryMs = 150;

/** The assistant's tools, by how editors show them. */
const kinds: Readonly<Record<string, ToolKind>> = {
	list_files: "search",
	search_text: "search",
	read_file: "read",
	write_file: "edit",
	edit_file: "edit",
	fetch_url: "fetch",
	shell: "execute",
	load_skill: "read",
};

type Input = Readonly<Record<string, unknown>>;

/** What an editor shows of a call that has not ended. */
interface ShownCall {
	/** Its change of a file. */
	readonly change: readonly ToolCallContent[];
	/** The end of its output, or the activity of its sub-agent. */
	output: string;
	/** When the output was last sent, in milliseconds of the process. */
	sentAt: number;
}

export class CallUpdates {
	/** Absolute path of the folder that the assistant's tools work in; undefined for a user's agent. */
	readonly #dir: string | undefined;
	/** Ids of calls that were announced to the editor. */
	readonly #announced = new Set<string>();
	/** The calls that have not ended, by id. */
	readonly #open = new Map<string, ShownCall>();
	/** Ids of approved calls of sub-agents, whose end has no event here. */
	#approved: readonly string[] = [];

	constructor(dir: string | undefined) {
		this.#dir = dir;
	}

	/** Announces all calls again, for an editor that loads the session again. */
	forget(): void {
		this.#announced.clear();
		this.#open.clear();
	}

	/** Returns the announcement of a call, unless it was already announced. */
	*announce({ toolCallId, toolName, arguments: input }: ToolCall): Generator<SessionUpdate> {
		if (this.#announced.has(toolCallId)) return;
		this.#announced.add(toolCallId);
		const change = this.#changeOf(toolName, input as Input | undefined);
		this.#open.set(toolCallId, { change, output: "", sentAt: 0 });
		yield {
			sessionUpdate: "tool_call",
			toolCallId,
			title: oneLine(`${toolName} ${formatArguments(input)}`, longestTitle),
			name: toolName,
			kind: (this.#dir === undefined ? undefined : kinds[toolName]) ?? "other",
			status: "pending",
			rawInput: input,
			content: [...change],
			locations: this.#locationsOf(toolName, input as Input | undefined),
		};
	}

	/** Returns that a call runs. */
	*started({ toolCallId }: ToolCall, rawInput: unknown): Generator<SessionUpdate> {
		yield { sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", rawInput };
	}

	/** Returns the end of what a running call has written so far, unless it was sent a moment ago. */
	*output(toolCallId: string, text: string): Generator<SessionUpdate> {
		const call = this.#open.get(toolCallId);
		if (call === undefined) return;
		call.output = (call.output + printable(text)).slice(-longestOutput).toWellFormed();
		const now = performance.now();
		if (now - call.sentAt < outputEveryMs) return;
		call.sentAt = now;
		const content = [...call.change, textContent(fenced(call.output))];
		yield { sessionUpdate: "tool_call_update", toolCallId, content };
	}

	/** Returns the end of a call with its result, which follows the activity of its sub-agent. */
	*ended(toolCallId: string, status: "completed" | "failed", result: unknown): Generator<SessionUpdate> {
		const { change = [] } = this.#open.get(toolCallId) ?? {};
		this.#open.delete(toolCallId);
		const text = typeof result === "string" ? result : (JSON.stringify(result, undefined, 2) ?? "");
		const content = text === "" ? [...change] : [...change, textContent(cutText(text, longestResult))];
		yield {
			sessionUpdate: "tool_call_update",
			toolCallId,
			status,
			content,
			rawOutput: shortened(result, text),
		};
	}

	/** Returns the state of a sub-agent's call after its answer. */
	*answered({ toolCallId, path }: PendingToolCall, isApproved: boolean): Generator<SessionUpdate> {
		if (path === undefined) return;
		if (isApproved) this.#approved = [...this.#approved, toolCallId];
		yield { sessionUpdate: "tool_call_update", toolCallId, status: isApproved ? "in_progress" : "failed" };
	}

	/**
	 * Returns the ends of approved calls of sub-agents. The run of this session has no event for them, so they count as
	 * completed when the run has continued.
	 */
	*continued(): Generator<SessionUpdate> {
		const approved = this.#approved;
		this.#approved = [];
		for (const toolCallId of approved)
			yield { sessionUpdate: "tool_call_update", toolCallId, status: "completed" };
	}

	/** The change that the arguments of a call describe; a question for permission shows it within the whole file. */
	#changeOf(toolName: string, input: Input = {}): readonly ToolCallContent[] {
		const { path, find, replace, content } = input;
		if (this.#dir === undefined || kinds[toolName] !== "edit" || typeof path !== "string") return [];
		const whole = resolve(this.#dir, path);
		if (typeof content === "string") return [{ type: "diff", path: whole, newText: content }];
		if (typeof find !== "string" || typeof replace !== "string") return [];
		return [{ type: "diff", path: whole, oldText: find, newText: replace }];
	}

	#locationsOf(toolName: string, { path, from }: Input = {}): ToolCallLocation[] {
		if (this.#dir === undefined || kinds[toolName] === undefined || typeof path !== "string") return [];
		return [{ path: resolve(this.#dir, path), ...(typeof from === "number" ? { line: from } : {}) }];
	}
}

function textContent(text: string): ToolCallContent {
	return { type: "content", content: { type: "text", text } };
}

/** Output as a block of Markdown that it cannot end. */
function fenced(output: string): string {
	const longest = Math.max(2, ...[...output.matchAll(/`+/g)].map(([mark]) => mark.length));
	const mark = "`".repeat(longest + 1);
	return `${mark}console\n${output.trimEnd()}\n${mark}`;
}

/** A result that is too long for an editor is its beginning. */
function shortened(result: unknown, text: string): unknown {
	return text.length > longestResult ? cutText(text, longestResult) : result;
}
