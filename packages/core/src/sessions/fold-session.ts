// The state of a session, folded from its journal (keeps I2). No entry is folded twice: reading continues from the known
// state.
import { AssistantMessage } from "@holdfast/upp";
import { type EngineAgent, foldOptions } from "../engine/index.ts";
import {
	type ChunkEvent,
	chunksAfter,
	JournalReader,
	PartialAnswer,
	type SessionState,
} from "../facts/index.ts";
import type { Journal } from "../host/index.ts";

/** The known state of a session. */
export interface KnownSession {
	readonly state: SessionState;
	/** The incarnation that the state belongs to; undefined if only an epoch identifies it. */
	readonly incarnation?: string | undefined;
	/** The epoch of this worker's last append. */
	readonly epoch?: number | undefined;
}

/** Returns the state after reading everything appended since. `agent` determines how results are cut for the model. */
export async function readOn(
	journal: Journal,
	storeKey: string,
	agent: EngineAgent,
	known: KnownSession,
): Promise<KnownSession> {
	const { state, epoch } = known;
	const isNew = state.seq === 0;
	const of = isNew ? undefined : (known.incarnation ?? (await heldIncarnation(journal, storeKey, epoch)));
	const options = { fold: foldOptions(agent), from: { state, incarnation: of } };
	const reader = new JournalReader(journal, storeKey, options);
	await reader.catchUp();
	return { state: reader.state, incarnation: reader.incarnation, epoch };
}

/** Returns the incarnation of the session under the last lease, if it has not been acquired since. */
async function heldIncarnation(
	journal: Journal,
	storeKey: string,
	epoch: number | undefined,
): Promise<string | undefined> {
	if (epoch === undefined) return undefined;
	const head = await journal.head(storeKey);
	return head?.epoch === epoch ? head.incarnation : undefined;
}

/** Returns the stored partial text of an answer that never finished; empty if it was not text. */
export async function cutOff(
	journal: Journal,
	storeKey: string,
	{ seq, run }: SessionState,
): Promise<AssistantMessage | undefined> {
	// The note that a run was suspended follows its answer.
	const after = run?.suspended === true ? (run.answeredAfter ?? seq - 1) : seq;
	let said: PartialAnswer | undefined;
	for await (const chunk of chunksAfter(journal, storeKey, after, seq)) {
		const event = chunk.event as ChunkEvent;
		if (event.type === "model_start") said = undefined;
		if (event.type !== "model") continue;
		said ??= new PartialAnswer();
		said.add(event.event);
	}
	return said === undefined ? undefined : (said.message() ?? new AssistantMessage([]));
}
