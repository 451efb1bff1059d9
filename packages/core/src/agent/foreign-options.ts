// Names that options do not have here: those of other libraries, and the usual slips. Each is answered with what to write.

const modelSetting = (name: string): string => `Settings of the model belong in \`params: { ${name} }\`.`;

/** Foreign names, each with what to write instead. */
export const foreignOptions = {
	checkpoint: "Write `checkpoints`.",
	checkpointer: "Write `checkpoints`.",
	id: "Holdfast gives each agent its id; write `name`.",
	instruction: "Write `system`.",
	languageModel: "Write `model`.",
	llm: "Write `model`.",
	maxIterations: "Write `maxSteps`; `execution: loop({ maxIterations })` limits the model calls of a run.",
	maxRetries: "Wrap the model: `model: retry(model, { attempts })` from holdfast/middleware.",
	maxStep: "Write `maxSteps`.",
	maxTurns: "Write `maxSteps`.",
	max_steps: "Write `maxSteps`.",
	memory: "Conversations are kept in `session(key)`; notes are the plugin `memory()` from holdfast/plugins.",
	messages: "Pass them as a state: `generate(input, AgentState.initial().withMessages(messages))`.",
	middlewares: "Write `middleware`.",
	onFinish: "Write `strategy: { onComplete }`.",
	onStepFinish: "Write `strategy: { onStepEnd }`.",
	output_schema: "Write `output`.",
	output_type: "Write `output`.",
	outputSchema: "Write `output`.",
	outputType: "Write `output`.",
	plugin: "Write `plugins`.",
	prompt:
		"Pass the question to `generate(prompt, state)` or `session(key).send(prompt)`; write instructions as `system`.",
	providerOptions: modelSetting("providerOptions"),
	responseFormat: "Write `output`.",
	schema: "Write `output`.",
	stopWhen: "Write `maxSteps`, or `strategy: { stopCondition }`.",
	store: "Write `host`, as in `host: sqliteHost(path)`.",
	storage: "Write `host`, as in `host: sqliteHost(path)`.",
	sub_agents: "Write `subagents`.",
	subAgent: "Write `subagents`.",
	subAgents: "Write `subagents`.",
	subagent: "Write `subagents`.",
	handoffs: "Write `subagents`.",
	system_prompt: "Write `system`.",
	systemMessage: "Write `system`.",
	systemPrompt: "Write `system`.",
	timeout: "A model call has `config: { timeout }`, a tool `timeoutMs`, and a run the signal of its call.",
	tool: "Write `tools`.",
	toolset: "Write `tools`.",
	toolSet: "Write `tools`.",
	temperature: modelSetting("temperature"),
	maxTokens: modelSetting("maxTokens"),
	max_tokens: modelSetting("maxTokens"),
	maxOutputTokens: modelSetting("maxOutputTokens"),
	topP: modelSetting("topP"),
	topK: modelSetting("topK"),
	seed: modelSetting("seed"),
	stopSequences: modelSetting("stopSequences"),
	presencePenalty: modelSetting("presencePenalty"),
	frequencyPenalty: modelSetting("frequencyPenalty"),
	reasoningEffort: modelSetting("reasoningEffort"),
	apiKey: "Give the key to the provider, or write `config: { apiKey }`.",
	baseURL: "Give the address to the provider, or write `config: { baseUrl }`.",
	headers: "Write `config: { headers }`.",
} as const satisfies Readonly<Record<string, string>>;

/** Options under names that they do not have: the compiler shows what to write. */
export type ForeignOptions = {
	readonly [Name in keyof typeof foreignOptions]?: (typeof foreignOptions)[Name];
};
