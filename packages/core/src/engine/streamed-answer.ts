// An answer in progress: each event reaches the watchers, and the text is kept in case the answer never finishes.
import type { AssistantMessage, LLMResponse, LLMStreamResult, StreamEvent } from "@holdfast/upp";
import { PartialAnswer } from "../facts/index.ts";
import type { Delta } from "../policy/index.ts";
import type { CallIds } from "./call-ids.ts";
import type { Run } from "./run.ts";
import type { RunAdmission } from "./run-admission.ts";

/** The event loop gets a turn after this number of events. */
const eventsBetweenPauses = 64;

export class StreamedAnswer {
	readonly #run: Run;
	readonly #step: number;
	readonly #tag: string;
	readonly #said = new PartialAnswer();
	readonly #ids: () => CallIds;
	/** The calls by index. A provider's id identifies a call only until another index uses the same id. */
	readonly #calls = new Map<number, { readonly given: string; readonly id: string }>();
	readonly #given = new Set<string>();
	#count = 0;

	/** `ids` assigns ids to its calls. */
	constructor(run: Run, step: number, tag: string, ids: () => CallIds) {
		this.#ids = ids;
		this.#run = run;
		this.#step = step;
		this.#tag = tag;
	}

	/** Called if the answer never finishes. Returns its partial text; undefined before the first piece. */
	async cutOff(): Promise<AssistantMessage | undefined> {
		await this.#run.admission?.cutOff(this.#released);
		return this.#said.message();
	}

	/** Emits a delta that policy has released. */
	readonly #released = (delta: Delta): void => {
		if (delta.type === "model") this.#said.add(delta.event);
		if (this.#run.watched) this.#run.emit({ ...delta, ...this.#run.at });
	};

	/** Reads the stream to its end, or until the run is stopped. */
	async read(stream: LLMStreamResult): Promise<LLMResponse> {
		stream.response.catch(() => {}); // awaited below; until then a rejection must not count as unhandled
		const events = stream[Symbol.asyncIterator]();
		// Few variables are alive across the await, because each one must be saved and restored for every event.
		for (;;) {
			const next = await events.next();
			if (next.done === true) break;
			if (this.#run.stopReason !== undefined) {
				// The answer is no longer needed; lets the provider's stream clean up.
				events.return?.().catch(() => {});
				break;
			}
			const room = this.#emit(this.#named(next.value));
			if (room !== undefined) await room;
		}
		return stream.response;
	}

	/** Returns the event with our id of its call. */
	#named(event: StreamEvent): StreamEvent {
		const given = event.delta.toolCallId;
		if (given === undefined || given === "") return event;
		// The index of an execution is not a block index.
		const isExecution = event.type === "tool_execution_start" || event.type === "tool_execution_end";
		const toolCallId = isExecution ? this.#ids().ours(given) : this.#idOf(event.index, given);
		return toolCallId === given ? event : { ...event, delta: { ...event.delta, toolCallId } };
	}

	#idOf(index: number, given: string): string {
		const known = this.#calls.get(index);
		if (known?.given === given) return known.id;
		const ids = this.#ids();
		const id = this.#given.has(given) ? ids.repeated(given, this.#calls.size) : ids.ours(given);
		this.#given.add(given);
		this.#calls.set(index, { given, id });
		return id;
	}

	/** Returns a promise if the next event must wait. */
	#emit(event: StreamEvent): Promise<unknown> | undefined {
		const run = this.#run;
		const pause = ++this.#count % eventsBetweenPauses === 0 ? run.agent.fairness.pause() : undefined;
		if (run.admission !== undefined) return this.#admit(run.admission, event, pause);
		this.#said.add(event);
		if (!run.watched) return pause;
		run.emit({
			type: "model",
			seq: run.state.seq,
			sub: run.nextSub(),
			step: this.#step,
			tag: this.#tag,
			event,
		});
		return run.ready("full") ?? pause;
	}

	#admit(
		admission: RunAdmission,
		event: StreamEvent,
		pause: Promise<void> | undefined,
	): Promise<unknown> | undefined {
		// If no deltas are emitted, the resulting fact is admitted as a whole.
		if (!admission.letsOut) this.#said.add(event);
		const emitted = admission.emit(
			{ type: "model", step: this.#step, tag: this.#tag, event },
			this.#released,
		);
		if (emitted instanceof Promise) return emitted.then(() => this.#run.ready("full"));
		return this.#run.ready("full") ?? pause;
	}
}
