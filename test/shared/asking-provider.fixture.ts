// A model whose provider asks before it runs its own tool `mcp.erase`, and then answers.

const usage = {
	inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
	outputTokens: { total: 1, text: 1, reasoning: 0 },
};
export const finish = { type: "finish", usage, finishReason: { unified: "stop", raw: "stop" } };
const call = { type: "tool-call", toolCallId: "m1", toolName: "mcp.erase", providerExecuted: true };
export const asking = [
	{ ...call, input: '{"file":"a"}', providerMetadata: { p: { itemId: "i" } } },
	{ type: "tool-approval-request", approvalId: "q1", toolCallId: "m1" },
	finish,
];
export const done = [
	{ type: "text-start", id: "1" },
	{ type: "text-delta", id: "1", delta: "Done." },
	{ type: "text-end", id: "1" },
	finish,
];

export function streamOf<Item>(items: readonly Item[]): ReadableStream<Item> {
	return new ReadableStream({
		start(controller) {
			for (const item of items) controller.enqueue(item);
			controller.close();
		},
	});
}

/** `answers`: the parts of each answer, or the error of a call that fails. */
export function askingProvider(
	answers: readonly (readonly object[] | Error)[] = [asking, done],
	provider = "p",
) {
	const prompts: { role: string; content: unknown }[][] = [];
	const next = (prompt: (typeof prompts)[number]): readonly object[] => {
		prompts.push(prompt);
		const answer = answers[prompts.length - 1] ?? done;
		if (answer instanceof Error) throw answer;
		return answer;
	};
	const model = {
		specificationVersion: "v4",
		provider,
		modelId: "m",
		supportedUrls: {},
		doGenerate: async ({ prompt }: { prompt: (typeof prompts)[number] }) => {
			const content = next(prompt).filter(
				(part) => !["finish", "text-start", "text-end"].includes((part as typeof finish).type),
			);
			return {
				content: content.map((part) => ("delta" in part ? { type: "text", text: part.delta } : part)),
				...finish,
				warnings: [],
			};
		},
		doStream: async ({ prompt }: { prompt: (typeof prompts)[number] }) => ({
			stream: streamOf(next(prompt)),
		}),
	};
	return { model: model as never, prompts };
}
