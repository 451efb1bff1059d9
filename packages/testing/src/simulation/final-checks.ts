// Invariants to check once all faults have ended and the workers have finished open work.
import { checkBackground } from "./background-checks.ts";
import { checkChildren } from "./child-checks.ts";
import { type SaidMessage, said, sameConversation } from "./conversation.ts";
import { isDecided } from "./given-answers.ts";
import type { GivenInput, Users } from "./users.ts";
import type { World } from "./world.ts";

/** Maximum number of milliseconds that a worker waits for an earlier input accepted by another. */
const yieldsFor = 2_000;

/** Checks that the journal contains every accepted input once, in its place, and no others. */
export async function checkOutcome(world: World, users: Users): Promise<void> {
	const { ledger } = world;
	await ledger.checkAll((key) => world.store.read(key));
	for (const input of users.inputs) {
		const lives = ledger.allLives.filter((life) => life.key === input.key && life.inputs.has(input.text));
		if (lives.length > 1) ledger.wrong(`"${input.text}" was taken in by two lives of ${input.key}`);
		if (input.accepted === undefined || lives.length === 1) continue;
		// A repeated input may refer to a refused run.
		if (input.isRepeated === true && ledger.mayRefuse) continue;
		if (!wasRefused(world, users, input) && !mayHaveEnded(users, input))
			ledger.wrong(`"${input.text}" was accepted by ${input.key} and never taken in`);
	}
	for (const given of users.answers) {
		const entries = ledger.lifeOfRun(given.runId)?.entries ?? [];
		const isCompleted = entries.some(
			({ runId, fact }) => runId === given.runId && fact.kind === "run.ended" && fact.outcome === "completed",
		);
		if (isCompleted && !isDecided(ledger, given))
			ledger.wrong(`an answer for ${given.answer.toolCallId} was accepted and never used`);
	}
	checkOrder(world, users);
	checkDeletions(world, users);
	checkChildren(world, users);
	checkBackground(world, users);
}

/**
 * Whether the store refused the run that was to accept an input: the user received the refusal, or the request was
 * never made before the process died.
 */
function wasRefused({ ledger }: World, { runs }: Users, input: GivenInput): boolean {
	const watched = runs.find(({ run }) => run === input.run);
	if (watched === undefined || !ledger.mayRefuse) return false;
	return watched.wasRefused || (watched.outcome === undefined && watched.process.dead);
}

/** Checks that each live process shows exactly what the session's journal contains. */
export async function checkView(world: World): Promise<void> {
	const { ledger, schedule } = world;
	for (const process of world.serving) {
		for (const key of world.sessions) {
			let shown: readonly SaidMessage[] | undefined;
			const reading = process.agent.session(key).state();
			reading.then(
				(state) => {
					shown = state.messages.map(said);
				},
				(error: Error) => ledger.wrong(`${process.name} cannot show ${key}: ${error.message}`),
			);
			await schedule.rest();
			while (shown === undefined && (await schedule.step()));
			const held = ledger.life(key).conversation.messages;
			if (shown === undefined || !sameConversation(shown, held))
				ledger.wrong(`${process.name} shows another ${key} than its journal holds`);
		}
	}
}

/** Whether a kill or a deletion may have ended what this input started. */
function mayHaveEnded(users: Users, { key, given }: GivenInput): boolean {
	return users.endings.some(
		(ending) => ending.key === key && (ending.done ?? Number.POSITIVE_INFINITY) > given,
	);
}

/** Checks that accepted inputs are processed in the order of acceptance. */
function checkOrder({ ledger }: World, { inputs, endings }: Users): void {
	for (const life of ledger.allLives) {
		const sent = inputs.filter(
			({ key, text, isRepeated }) =>
				key === life.key && text.startsWith("send") && life.inputs.has(text) && isRepeated !== true,
		);
		for (const first of sent) {
			for (const second of sent) {
				if (first.accepted === undefined || first.accepted > second.given) continue;
				const [one, other] = [life.inputs.get(first.text), life.inputs.get(second.text)];
				if (one === undefined || other === undefined || one.seq < other.seq) continue;
				// Inputs before a kill or a deletion may wait for it: no run starts for them, while others may start.
				const isDoomed = endings.some(
					({ key, asked }) => key === life.key && asked > first.given && asked < second.given,
				);
				if (isDoomed) continue;
				// A worker that takes too long, or is considered dead, may be overtaken by others.
				const inTime = other.at - (first.acceptedAt ?? 0) < yieldsFor && !first.process.hasLapsed;
				if (first.process === second.process || inTime)
					ledger.wrong(
						`"${second.text}" ran before "${first.text}" in ${life.key}, which was accepted first`,
					);
			}
		}
	}
}

/** Checks that an input accepted before a deletion is not in the session's next incarnation. */
function checkDeletions({ ledger }: World, { inputs, endings }: Users): void {
	for (const { key, kind, asked, done } of endings) {
		if (kind !== "delete" || done === undefined) continue;
		const latest = ledger.current(key);
		for (const { text, accepted } of inputs.filter((input) => input.key === key)) {
			if (text.startsWith("notice")) continue; // the host keeps it until the session is notified, whichever it is then
			if (accepted !== undefined && accepted < asked && latest?.inputs.has(text))
				ledger.wrong(`"${text}" is in ${key} though it was deleted afterwards`);
		}
	}
}
