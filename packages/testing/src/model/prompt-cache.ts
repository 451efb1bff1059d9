// A provider's prompt cache, simulated: it stores the beginnings of requests and counts which tokens a request reads from
// it. Tokens are estimated at four characters each.
import { type LLMRequest, type Message, messageToJSON, type PromptCacheControl } from "@holdfast/upp";

/** Like Anthropic, the cache looks for stored beginnings at a breakpoint and at most this number of blocks before it. */
const lookBack = 20;

/** The tokens of a request, by how the provider's cache served them. */
export interface CachedTokens {
	readonly inputTokens: number;
	readonly cacheReadTokens: number;
	readonly cacheWriteTokens: number;
}

export class SimulatedPromptCache {
	readonly #control: PromptCacheControl;
	/** The stored beginnings, as chains of the blocks that they end with. */
	readonly #stored = new Set<string>();

	constructor(control: PromptCacheControl) {
		this.#control = control;
	}

	/** Returns the tokens of a request, and stores its beginnings for later ones. */
	count(request: LLMRequest): CachedTokens {
		const blocks = blocksOf(request);
		const sums: number[] = [];
		const chains: string[] = [];
		let chain = this.#control === "key" ? `key ${request.cache?.key ?? ""}` : "";
		let sum = 0;
		for (const block of blocks) {
			chain = hash(chain + block);
			chains.push(chain);
			sum += Math.ceil(block.length / 4);
			sums.push(sum);
		}
		// Without breakpoints, a provider stores and finds the beginning at every block.
		const ends = this.#control === "key" ? blocks.map((_, at) => at) : breakpointsOf(request, blocks.length);
		let read = -1;
		for (const end of ends)
			for (let at = end; at > end - lookBack && at > read; at--)
				if (this.#stored.has(chains[at] as string)) read = at;
		const last = Math.max(read, ...ends);
		for (const end of ends) this.#stored.add(chains[end] as string);
		const until = (at: number): number => (at < 0 ? 0 : (sums[at] as number));
		return {
			inputTokens: sum,
			cacheReadTokens: until(read),
			cacheWriteTokens: this.#control === "key" ? 0 : until(last) - until(read),
		};
	}
}

/** Returns the parts of a request in the order in which providers cache them: tools, instructions, messages. */
function blocksOf({ tools = [], messages, ...request }: LLMRequest): string[] {
	const described = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
	return [JSON.stringify(described), ...systemOf(request), ...messages.map(contentOf)];
}

function systemOf({ system = "", systemParts }: Pick<LLMRequest, "system" | "systemParts">): string[] {
	return systemParts === undefined ? [system] : systemParts.map(({ text }) => text);
}

/** Returns what a provider receives of a message: neither its id nor its time. */
function contentOf(message: Message): string {
	const {
		id: _,
		timestamp: __,
		...content
	} = messageToJSON(message as never) as unknown as Record<string, unknown>;
	return JSON.stringify(content);
}

/** Returns the positions of the blocks that end with a breakpoint, as the adapters for real providers place them. */
function breakpointsOf(request: LLMRequest, count: number): number[] {
	const { cache, messages, systemParts = [] } = request;
	const { breakpoints = [], lastIs } = cache ?? {};
	const ends = systemParts.flatMap((part, at) => (part.cache === true ? [at + 1] : []));
	const last = systemOf(request).length;
	if (ends.length === 0) {
		if (breakpoints.includes("tools")) ends.push(0);
		if (breakpoints.includes("instructions")) ends.push(last);
	}
	if (!breakpoints.includes("tail")) return ends;
	let tail = count - (lastIs === "ephemeral" ? 2 : 1);
	ends.push(tail);
	const isAnswer = (at: number): boolean => messages[at - last - 1]?.type === "assistant";
	while (tail > last && !isAnswer(tail)) tail--;
	while (tail > last && isAnswer(tail)) tail--;
	if (tail > last) ends.push(tail);
	return ends;
}

function hash(text: string): string {
	let high = 0x811c9dc5;
	let low = 0x01000193;
	for (let at = 0; at < text.length; at++) {
		high = Math.imul(high ^ text.charCodeAt(at), 0x01000193);
		low = Math.imul(low ^ text.charCodeAt(at), 0x5bd1e995);
	}
	return `${(high >>> 0).toString(36)}.${(low >>> 0).toString(36)}`;
}
