// The messages of a thread as a list: a fold of its journal, kept in memory and extended incrementally (keeps I2, I5). It
// is a cache that can be rebuilt from the entries.
import type { AnyMessage, ToolCall } from "@holdfast/upp";
import { AgentState } from "holdfast";
import type { Entry } from "holdfast/host";
import { dataOf, type Side } from "./message-data.ts";
import { type Row, type RowOrigin, resultRow, rowOf } from "./row.ts";

/** The calls whose results are awaited. */
interface OpenCalls {
	readonly id: string;
	readonly calls: readonly ToolCall[];
	readonly side: Side | undefined;
	readonly settled: Set<string>;
}

export class ThreadView {
	/** Seq of the last included entry. */
	seq = 0;
	#rows: Row[] = [];
	#shown: Row[] = [];
	#withFiles: Row[] = [];
	readonly #byId = new Map<string, Row>();
	#last = 0;
	#open: OpenCalls | undefined;

	/** All messages, oldest first. Do not modify it. */
	get rows(): readonly Row[] {
		return this.#rows;
	}

	/** The messages that are not silent. */
	get shown(): readonly Row[] {
		return this.#shown;
	}

	/** The messages with files. */
	get withFiles(): readonly Row[] {
		return this.#withFiles;
	}

	/** Returns the message with an id. */
	get(id: string): Row | undefined {
		return this.#byId.get(id);
	}

	/** Returns the rows that are parts of one message of the engine. */
	partsOf(sourceId: string): readonly Row[] {
		return this.#rows.filter((row) => row.sourceId === sourceId);
	}

	/** Returns a copy that can be continued separately. */
	copy(): ThreadView {
		const copy = new ThreadView();
		copy.seq = this.seq;
		copy.#last = this.#last;
		copy.#open = this.#open;
		copy.#replace(this.#rows);
		return copy;
	}

	/**
	 * Adds the next entry; one that is already included changes nothing. Returns false if entries in between are missing.
	 */
	apply(entry: Entry): boolean {
		if (entry.seq <= this.seq) return true;
		if (entry.seq !== this.seq + 1 && entry.fact.kind !== "folded") return false;
		this.seq = entry.seq;
		this.#add(entry);
		return true;
	}

	#add({ seq, runId, at, fact }: Entry): void {
		switch (fact.kind) {
			case "input":
				this.#said(fact.message as AnyMessage, { seq, runId });
				return;
			case "message.added":
				this.#said(fact.message as AnyMessage, { seq, runId });
				return;
			case "assistant": {
				const { message, resultsId } = fact;
				this.#said(message, { seq, runId });
				const calls = message.toolCalls ?? [];
				const side = dataOf(message).side;
				this.#open = resultsId === undefined ? undefined : { id: resultsId, calls, side, settled: new Set() };
				return;
			}
			case "tools.requested":
				this.#open = undefined;
				return;
			case "tool.settled":
				this.#settled(fact.callId, fact.result, fact.outcome !== "done", {
					seq,
					runId,
					at: at * 1_000,
				});
				return;
			case "run.ended":
				// A killed run leaves calls open, and a history must never contain a call without a result.
				for (const { toolCallId } of this.#open?.calls ?? [])
					if (this.#open?.settled.has(toolCallId) === false)
						this.#settled(toolCallId, "The run ended before this call had a result.", true, {
							seq,
							runId,
							at: at * 1_000,
						});
				this.#open = undefined;
				return;
			case "message.updated":
				this.#update(fact.message as AnyMessage);
				return;
			case "message.deleted":
				this.#replace(this.#rows.filter(({ sourceId }) => sourceId !== fact.messageId));
				return;
			case "history.cut": {
				const cut = this.#rows.findLastIndex(({ sourceId }) => sourceId === fact.messageId);
				if (cut >= 0) this.#replace(this.#rows.slice(0, cut));
				return;
			}
			case "folded":
				this.#replace([]);
				for (const message of AgentState.fromJSON(fact.state).messages)
					this.#said(message as AnyMessage, { seq, runId });
				return;
			case "run.started":
			case "run.resumed":
			case "run.parked":
			case "tool.started":
			case "decision":
			case "note":
			case "tools.pending":
			case "waiting":
			case "wait.ended":
				return;
			default:
				fact satisfies never;
				return;
		}
	}

	#said(source: AnyMessage, { seq, runId }: Pick<RowOrigin, "seq" | "runId">): void {
		const at = source.timestamp.getTime() * 1_000;
		if (source.type === "tool_result") {
			for (const [part, { toolCallId, result, isError }] of source.results.entries()) {
				const call = this.#callOf(toolCallId);
				const given = { id: source.id, part, call, result, isError: isError === true };
				const side = this.#open?.side;
				this.#push(resultRow({ ...given, side }, { seq, runId, at: this.#after(at) }, dataOf(source)));
			}
			return;
		}
		if (dataOf(source).control !== undefined) return;
		this.#push(rowOf(source, { seq, runId, at: this.#after(at) }));
		if (source.type === "assistant")
			this.#open = {
				id: "",
				calls: source.toolCalls ?? [],
				side: dataOf(source).side,
				settled: new Set(source.toolCalls?.map(({ toolCallId }) => toolCallId)),
			};
	}

	#callOf(toolCallId: string): Pick<ToolCall, "toolCallId" | "toolName"> {
		const found = this.#open?.calls.find((call) => call.toolCallId === toolCallId);
		return found ?? { toolCallId, toolName: "" };
	}

	#settled(callId: string, result: unknown, isError: boolean, origin: RowOrigin): void {
		const open = this.#open;
		const part = open?.calls.findIndex(({ toolCallId }) => toolCallId === callId) ?? -1;
		const call = open?.calls[part];
		if (open === undefined || call === undefined || open.settled.has(callId)) return;
		open.settled.add(callId);
		const { id, side } = open;
		const at = this.#after(origin.at);
		this.#push(resultRow({ id, part, call, result, isError, side }, { ...origin, at }));
	}

	/** Returns a time after that of the previous message. */
	#after(at: number): number {
		this.#last = Math.max(this.#last + 1, at);
		return this.#last;
	}

	#push(row: Row): void {
		this.#rows.push(row);
		if (row.message.silent !== true) this.#shown.push(row);
		if ((row.message.attachments?.length ?? 0) > 0) this.#withFiles.push(row);
		this.#byId.set(row.message.id, row);
	}

	#update(source: AnyMessage): void {
		if (source.type !== "tool_result") {
			this.#replace(
				this.#rows.map((row) => {
					if (row.sourceId !== source.id) return row;
					const { seq, runId } = row;
					return { ...rowOf(source, { seq, runId, at: row.message.created_at }), side: row.side };
				}),
			);
			return;
		}
		// Results are identified by their calls, because one of them may have been removed.
		this.#replace(
			this.#rows.flatMap((row) => {
				if (row.sourceId !== source.id) return [row];
				const found = source.results.find(({ toolCallId }) => toolCallId === row.message.tool_call_id);
				if (found === undefined) return [];
				const { seq, runId, side, part = 0 } = row;
				const call = { toolCallId: found.toolCallId, toolName: row.message.name ?? "" };
				const { result, isError = false } = found;
				const origin = { seq, runId, at: row.message.created_at };
				const given = { id: source.id, part, call, result, isError, side };
				return [resultRow(given, origin, dataOf(source))];
			}),
		);
	}

	#replace(rows: readonly Row[]): void {
		this.#rows = [];
		this.#shown = [];
		this.#withFiles = [];
		this.#byId.clear();
		for (const row of rows) this.#push(row);
	}
}
