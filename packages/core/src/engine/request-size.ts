// Estimates the tokens of a request, for policy that shortens histories by tokens. The estimate is recorded with the answer,
// next to the provider's count, so that the next request can be measured from the journal alone (keeps I2).
import type { Message, System } from "@holdfast/upp";
import { estimateTokens, GrowingSum } from "../policy/index.ts";
import type { List } from "../state/index.ts";
import type { EngineTool } from "../tools/index.ts";
import type { Run } from "./run.ts";

const charactersPerToken = 4;

const ofLists = new WeakMap<readonly EngineTool[], number>();
const ofRuns = new WeakMap<Run, GrowingSum>();

/** Returns the estimated tokens of instructions and tools. */
export function headTokens(system: System | undefined, tools: readonly EngineTool[]): number {
	return systemCharacters(system) / charactersPerToken + toolTokens(tools);
}

/** Returns the estimated tokens of a request's messages. Costs little if they extend those of the run's last request. */
export function messageTokens(run: Run, messages: readonly Message[], history?: List<Message>): number {
	const sum = ofRuns.get(run) ?? new GrowingSum(estimateTokens);
	ofRuns.set(run, sum);
	return sum.of(messages, history);
}

function systemCharacters(system: System | undefined): number {
	if (system === undefined || typeof system === "string") return system?.length ?? 0;
	return system.reduce((sum, { text }) => sum + text.length, 0);
}

function toolTokens(tools: readonly EngineTool[]): number {
	let tokens = ofLists.get(tools);
	if (tokens === undefined) {
		const shown = tools.map(({ name, description, parameters }) => [name, description, parameters]);
		tokens = tools.length === 0 ? 0 : JSON.stringify(shown).length / charactersPerToken;
		ofLists.set(tools, tokens);
	}
	return tokens;
}
