// The order of the tool calls of one round, as data: which call waits for which, and which calls wait for themselves.
// Pure. Explicit waits (`dependsOn`, `after`) take precedence over those that `sequential` implies, so only explicit ones
// can form a cycle.

/** The data about a call that ordering needs. */
export interface OrderedCall {
	readonly toolCallId: string;
	readonly toolName: string;
	/** Ids of calls of the same round that must have settled first. */
	readonly after?: readonly string[];
}

/** The data about a tool that ordering needs. */
export interface OrderedTool {
	readonly name?: string;
	readonly sequential?: boolean;
	readonly dependsOn?: readonly string[];
}

/** Tools by name, or a list of them. */
export type OrderedTools = ReadonlyMap<string, OrderedTool> | readonly OrderedTool[];

/** Which calls of a round wait for which others. */
export interface ToolOrder {
	/**
	 * For each call, the ids of the calls that must settle first, successfully or not. A call that is not listed may
	 * start at once.
	 */
	readonly waitsFor: ReadonlyMap<string, readonly string[]>;
	/**
	 * Calls that depend on themselves, with the result that the model sees. They do not run, and no call waits for them.
	 */
	readonly cyclic: ReadonlyMap<string, string>;
}

const UNORDERED: ToolOrder = Object.freeze({ waitsFor: new Map(), cyclic: new Map() });

/**
 * Orders the calls of one round. Names and ids that are not in the round are ignored.
 */
export function orderRound(calls: readonly OrderedCall[], tools: OrderedTools): ToolOrder {
	const toolOf = toolsOfRound(calls, tools);
	if (toolOf === undefined) return UNORDERED;
	const explicit = explicitWaits(calls, toolOf);
	const cycles = findCycles(explicit);
	const cyclic = new Map<string, string>();
	for (const [index, cycle] of cycles) cyclic.set(idOf(calls, index), explain(calls, cycle));
	const waitsFor = new Map<string, readonly string[]>();
	for (const [index, waits] of allWaits(calls, toolOf, explicit, cycles)) {
		if (waits.length > 0)
			waitsFor.set(idOf(calls, index), [...new Set(waits.map((wait) => idOf(calls, wait)))]);
	}
	return { waitsFor, cyclic };
}

type ToolOf = (call: OrderedCall) => OrderedTool | undefined;

// Returns undefined in the common case that nothing in the round is ordered.
function toolsOfRound(calls: readonly OrderedCall[], tools: OrderedTools): ToolOf | undefined {
	if (calls.length === 0) return undefined;
	// A single call waits for nothing, unless it declares so.
	const only = calls.length === 1 ? calls[0] : undefined;
	const byName = isByName(tools) ? tools : new Map(tools.map((tool) => [tool.name ?? "", tool]));
	for (const call of calls) {
		const tool = byName.get(call.toolName);
		const isSequential = only === undefined && tool?.sequential === true;
		const ordered = isSequential || (tool?.dependsOn?.length ?? 0) > 0;
		if (ordered || (call.after?.length ?? 0) > 0) return ({ toolName }) => byName.get(toolName);
	}
	return undefined;
}

function isByName(tools: OrderedTools): tools is ReadonlyMap<string, OrderedTool> {
	return !Array.isArray(tools);
}

function explicitWaits(calls: readonly OrderedCall[], toolOf: ToolOf): number[][] {
	const byId = new Map(calls.map((call, index) => [call.toolCallId, index]));
	const byTool = Map.groupBy(calls.keys(), (index) => calls[index]?.toolName ?? "");
	return calls.map((call) => {
		const waits = new Set<number>();
		for (const name of toolOf(call)?.dependsOn ?? []) {
			for (const index of byTool.get(name) ?? []) waits.add(index);
		}
		for (const id of call.after ?? []) {
			const index = byId.get(id);
			if (index !== undefined) waits.add(index);
		}
		return [...waits];
	});
}

// Returns the calls that wait for themselves, each with the shortest path back to itself.
function findCycles(waits: readonly (readonly number[])[]): Map<number, number[]> {
	const cycles = new Map<number, number[]>();
	for (const index of unreached(waits)) {
		const cycle = wayBack(index, waits);
		if (cycle !== undefined) cycles.set(index, cycle);
	}
	return cycles;
}

// Returns the calls that never start if each waits for its dependencies.
function unreached(waits: readonly (readonly number[])[]): number[] {
	const open = waits.map((before) => before.length);
	const waiting = waits.map((): number[] => []);
	for (const [index, before] of waits.entries()) for (const wait of before) waiting[wait]?.push(index);
	const ready = [...open.keys()].filter((index) => open[index] === 0);
	for (const index of ready) {
		for (const next of waiting[index] ?? []) {
			open[next] = (open[next] ?? 0) - 1;
			if (open[next] === 0) ready.push(next);
		}
	}
	return [...open.keys()].filter((index) => (open[index] ?? 0) > 0);
}

function wayBack(start: number, waits: readonly (readonly number[])[]): number[] | undefined {
	const cameFrom = new Map<number, number>();
	const queue = [start];
	for (const index of queue) {
		for (const wait of waits[index] ?? []) {
			if (wait === start) {
				const way = [start];
				for (let at = index; at !== start; at = cameFrom.get(at) as number) way.splice(1, 0, at);
				return way;
			}
			if (cameFrom.has(wait)) continue;
			cameFrom.set(wait, index);
			queue.push(wait);
		}
	}
	return undefined;
}

// Arranges the calls that run in a sequence: sequential ones first, in call order, each after its explicit dependencies.
// Each call then waits for its explicit dependencies and for the last sequential call before it in the sequence.
function* allWaits(
	calls: readonly OrderedCall[],
	toolOf: ToolOf,
	explicit: readonly (readonly number[])[],
	cycles: ReadonlyMap<number, unknown>,
): Generator<[number, number[]]> {
	const runs = (index: number): boolean => !cycles.has(index);
	const isSequential = (index: number): boolean => toolOf(calls[index] as OrderedCall)?.sequential === true;
	const indexes = [...calls.keys()].filter(runs);
	const line = new Set<number>();
	// Sequential calls come first if possible. If one must wait for an ordinary call, that call starts before it.
	const sequential = indexes.filter(isSequential);
	const waitsForOthers = (index: number): boolean =>
		reaches(index, explicit, (wait) => runs(wait) && !isSequential(wait));
	for (const index of sequential) if (!waitsForOthers(index)) enqueue(index, explicit, runs, line);
	for (const index of sequential) if (!line.has(index)) enqueue(index, explicit, runs, line);
	for (const index of indexes) line.add(index);
	let lastSequential: number | undefined;
	for (const index of line) {
		const waits = (explicit[index] ?? []).filter(runs);
		if (lastSequential !== undefined) waits.push(lastSequential);
		yield [index, waits];
		if (isSequential(index)) lastSequential = index;
	}
}

// Whether a call waits, directly or indirectly, for one of a kind.
function reaches(
	start: number,
	waits: readonly (readonly number[])[],
	isWanted: (index: number) => boolean,
): boolean {
	const seen = new Set([start]);
	for (const index of seen) {
		for (const wait of waits[index] ?? []) {
			if (isWanted(wait)) return true;
			seen.add(wait);
		}
	}
	return false;
}

function enqueue(
	first: number,
	explicit: readonly (readonly number[])[],
	runs: (index: number) => boolean,
	line: Set<number>,
): void {
	const stack = [first];
	while (stack.length > 0) {
		const index = stack.at(-1) as number;
		const open = (explicit[index] ?? []).filter((wait) => runs(wait) && !line.has(wait));
		if (open.length > 0) {
			stack.push(...open.reverse());
		} else {
			line.add(index);
			stack.pop();
		}
	}
}

function explain(calls: readonly OrderedCall[], cycle: readonly number[]): string {
	const names = cycle.map((index) => `${calls[index]?.toolName} (${idOf(calls, index)})`);
	const way = [...names.slice(1), names[0]].join(", which waits for ");
	return `This call was not run, because it waits for itself: ${names[0]} waits for ${way}. Make these calls one after another, in separate rounds.`;
}

function idOf(calls: readonly OrderedCall[], index: number): string {
	return (calls[index] as OrderedCall).toolCallId;
}
