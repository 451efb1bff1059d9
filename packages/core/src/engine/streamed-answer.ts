// An answer while it is streamed: each event reaches the watchers, and what was said is kept in case it never finishes.
import type { AssistantMessage, LLMResponse, LLMStreamResult, StreamEvent } from "@holdfast/upp";
import { PartialAnswer } from "../facts/index.ts";
import type { Run } from "./run.ts";

/** After so many events the event loop gets its chance. */
const eventsBetweenPauses = 64;

export class StreamedAnswer {
	readonly #run: Run;
	readonly #step: number;
	readonly #tag: string;
	readonly #said = new PartialAnswer();
	#count = 0;

	constructor(run: Run, step: number, tag: string) {
		this.#run = run;
		this.#step = step;
		this.#tag = tag;
	}

	/** What was said so far; undefined before the first word. */
	partial(): AssistantMessage | undefined {
		return this.#said.message();
	}

	/** Reads the stream to its end, or until the run is stopped. */
	async read(stream: LLMStreamResult): Promise<LLMResponse> {
		stream.response.catch(() => {}); // it is awaited below; until then a failure must not count as unhandled
		const events = stream[Symbol.asyncIterator]();
		// Little is alive while it waits: each event costs what has to be put away and fetched again.
		for (;;) {
			const next = await events.next();
			if (next.done === true) break;
			if (this.#run.stopReason !== undefined) {
				// Nobody waits for the answer any more; the provider's stream gets the chance to clean up.
				events.return?.().catch(() => {});
				break;
			}
			const room = this.#emit(next.value);
			if (room !== undefined) await room;
		}
		return stream.response;
	}

	/** A promise where the next event must wait. */
	#emit(event: StreamEvent): Promise<unknown> | undefined {
		const run = this.#run;
		this.#said.add(event);
		const pause = ++this.#count % eventsBetweenPauses === 0 ? run.agent.fairness.pause() : undefined;
		if (!run.watched) return pause;
		run.tell({
			type: "model",
			seq: run.state.seq,
			sub: run.nextSub(),
			step: this.#step,
			tag: this.#tag,
			event,
		});
		return run.ready("full") ?? pause;
	}
}
