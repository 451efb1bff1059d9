// Assigns ids to the calls of one answer: unique in their session, even if the provider repeats ids (keeps I11).
import type { ToolCall } from "@holdfast/upp";
import { textHash } from "../facts/index.ts";
import { AgentState, callIdsOf, type IdSet } from "../state/index.ts";
import type { Run } from "./run.ts";

/**
 * Assigns ids to the calls of successive answers. An id depends only on the call's position in the run, so an answer gets
 * the same ids whether it is streamed or not, and if it is requested again after a crash.
 */
export class CallIds {
	readonly #runId: string;
	readonly #open: Run["state"]["run"];
	#used: IdSet;
	#answers = 0;
	/** Our ids by the provider's ids, within the current answer. Created when the first one has to be remembered. */
	#ours: Map<string, string> | undefined;

	constructor({ state, runId }: Run) {
		this.#used = callIdsOf(AgentState.partsOf(state.agent));
		this.#runId = runId;
		this.#open = state.run;
	}

	/** Returns our id for a call, given the provider's id: the same id, if it is new in the session. */
	ours(given: string): string {
		let id = this.#ours?.get(given);
		if (id === undefined) {
			id = this.#used.has(given) ? this.#fresh(given) : given;
			this.#ours ??= new Map();
			this.#ours.set(given, id);
		}
		return id;
	}

	/**
	 * Returns the id of a call whose provider id already belongs to an earlier call of the same answer, based on its
	 * position among the calls.
	 */
	repeated(given: string, position: number): string {
		return this.#fresh(`${given} ${position}`);
	}

	/**
	 * Returns the calls of an answer, each with a unique id; the same list if all have one already. The next answer
	 * follows.
	 */
	named(calls: readonly ToolCall[], modelId: string): readonly ToolCall[] {
		const named = this.#isNamed(calls) ? calls : this.#renamed(calls, modelId);
		this.#ours = undefined;
		this.#answers++;
		return named;
	}

	/**
	 * Whether there is only one call and its id is already unique, which is the usual case: nothing has to be remembered.
	 */
	#isNamed(calls: readonly ToolCall[]): boolean {
		const [call] = calls;
		if (call === undefined || calls.length > 1 || call.after !== undefined) return false;
		const { toolCallId: id } = call;
		if (id === "" || (this.#ours?.get(id) ?? id) !== id) return false;
		const before = this.#used;
		this.#used = before.add(id);
		return this.#used !== before;
	}

	#renamed(calls: readonly ToolCall[], modelId: string): readonly ToolCall[] {
		const seen = new Set<string>();
		let isChanged = false;
		const named = calls.map((call, index): ToolCall => {
			const given = call.toolCallId;
			const id = given === "" || seen.has(given) ? this.repeated(given, index) : this.ours(given);
			seen.add(given);
			this.#used = this.#used.add(id);
			const after = call.after?.map((each) => this.ours(each));
			if (id === given && (after === undefined || after.every((each, at) => each === call.after?.[at])))
				return call;
			isChanged = true;
			return {
				...call,
				toolCallId: id,
				...(id === given || given === "" ? {} : { providerCall: { id: given, modelId } }),
				...(after === undefined ? {} : { after }),
			};
		});
		return isChanged ? named : calls;
	}

	#fresh(given: string): string {
		let text = `${this.#runId} ${this.#open?.cycles} ${this.#open?.rounds} ${this.#answers} ${given}`;
		for (;;) {
			const id = `call_${textHash(text).padStart(14, "0")}`;
			if (!this.#used.has(id)) return id;
			text += "+";
		}
	}
}
