/** The usage of a session: tokens, and dollars if the prices are known. */
import type { TokenUsage } from "@holdfast/upp";
import { followSession, type Host, type RunEvent } from "holdfast";
import { counted, formatCost, formatCount } from "../terminal/index.ts";

export class Spending {
	#input = 0;
	#cached = 0;
	/** Tokens of the last request and its answer. */
	#context = 0;
	#output = 0;
	#answers = 0;
	#cost = 0;
	#unpriced = 0;

	/** Counts an answer; ignores other events. */
	event(event: RunEvent): void {
		// The offline model has no tokens and costs nothing.
		if (event.type !== "message" || event.modelId === "offline") return;
		this.add(event.usage, event.cost);
		// Zero tokens mean that the model reports no usage.
		this.#context = event.usage.inputTokens + event.usage.outputTokens || this.#context;
	}

	/** Counts an answer; `cost` is in dollars, undefined if it is unknown. */
	add({ inputTokens, outputTokens, cacheReadTokens }: TokenUsage, cost: number | undefined): void {
		this.#answers++;
		this.#input += inputTokens;
		this.#cached += cacheReadTokens ?? 0;
		this.#output += outputTokens;
		if (cost === undefined) this.#unpriced++;
		else this.#cost += cost;
	}

	/** A summary of this many tokens took the place of the conversation; the next answer reports how large the request is. */
	summarised(tokens: number): void {
		this.#context = tokens;
	}

	/** How full the context is, in a few words; `window` is in tokens, undefined if it is unknown. */
	context(window: number | undefined): string {
		if (this.#context === 0) return "context unknown";
		const used = formatCount(this.#context);
		if (window === undefined) return `context ${used} of unknown`;
		return `context ${used} of ${formatCount(window)} (${Math.round((100 * this.#context) / window)}%)`;
	}

	/** The usage in a few words. */
	get text(): string {
		if (this.#answers === 0) return "no usage yet";
		const rate = Math.min(100, Math.round((100 * this.#cached) / Math.max(1, this.#input)));
		// A provider that reports no cache looks like one that read nothing from it.
		const cached = this.#cached > 0 ? ` (${rate}% cached)` : "";
		const tokens =
			this.#input + this.#output === 0
				? "tokens unknown"
				: `${formatCount(this.#input)} tokens in${cached}, ${formatCount(this.#output)} out`;
		if (this.#unpriced === this.#answers) return `${tokens}, cost unknown`;
		return `${tokens}, ${formatCost(this.#cost)}${this.#unpriced === 0 ? "" : ` and ${counted(this.#unpriced, "answer")} of unknown price`}`;
	}
}

/** Returns the usage of a session so far, from the entries that its journal still contains. */
export async function spendingOf(host: Host, key: string): Promise<Spending> {
	const spending = new Spending();
	const { seq: last = 0 } = (await host.journal.head(key)) ?? {};
	if (last === 0) return spending;
	for await (const { event } of followSession(host, key, { until: "idle" })) {
		// Does not wait for a run that is in flight or waiting.
		if (event.seq > last) break;
		spending.event(event);
		if (event.seq === last && event.sub === 0) break;
	}
	return spending;
}
