/** The title of a session: its first input. */
import { AgentState, type Host } from "holdfast";
import type { Fact } from "holdfast/host";

/** Returns the first input of a session, even if the beginning of the session was folded; "" for a session without inputs. */
export async function titleOf({ journal }: Pick<Host, "journal">, key: string): Promise<string> {
	const first = await journal.read(key, { limit: 3 });
	return first.flatMap(({ fact }) => firstTexts(fact))[0] ?? "";
}

function firstTexts(fact: Fact): readonly string[] {
	if (fact.kind === "input") return [fact.message.text];
	return fact.kind === "folded"
		? AgentState.fromJSON(fact.state)
				.messages.slice(0, 1)
				.map(({ text }) => text)
		: [];
}
