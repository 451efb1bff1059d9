// Tries a request with another model or other instructions, or the function of a tool, without writing to the session.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type {
	ShownEntry,
	ShownPrompt,
	ShownStep,
	ShownTrialAnswer,
	ShownTrialResult,
} from "../wire/index.ts";
import { about } from "./about.ts";
import { inspectPath, post } from "./api.ts";
import { useAnswer } from "./entry-details.tsx";
import { MaskNote, ModelField } from "./fork-dialog.tsx";
import { formatCost, formatCount, formatDuration, formatTime, summary } from "./format.ts";
import { maskProblem } from "./masks.ts";
import { Act, Figure, Value } from "./parts.tsx";
import { fieldsOf, valueOfFields } from "./schema-fields.ts";
import { Fields } from "./schema-form.tsx";
import { Scrolls } from "./scrolls.tsx";
import type { SessionStore } from "./session-store.ts";
import { WordDiff } from "./word-diff.tsx";

export function PlaygroundTab(props: {
	readonly store: SessionStore;
	/** The answer whose request is tried first. */
	readonly entry: number | undefined;
}): JSX.Element {
	const { store, entry } = props;
	void store.version.value;
	return (
		<Scrolls class="scrolls playground" label="Playground">
			<ModelTrial store={store} entry={entry} />
			<ToolTrial store={store} />
		</Scrolls>
	);
}

interface Trial {
	readonly isRunning: boolean;
	run(act: (signal: AbortSignal) => Promise<void>): Promise<void>;
	stop(): void;
}

/** A request that stops with the view, with the page, or on demand: the provider charges for what it sends. */
function useTrial(): Trial {
	const [ending, setEnding] = useState<AbortController | undefined>(undefined);
	const current = useRef<AbortController | undefined>(undefined);
	useEffect(() => () => current.current?.abort(), []);
	return {
		isRunning: ending !== undefined,
		async run(act) {
			const own = new AbortController();
			current.current = own;
			setEnding(own);
			try {
				await act(own.signal);
			} finally {
				if (current.current === own) setEnding(undefined);
			}
		},
		stop: () => current.current?.abort(),
	};
}

function StopTrial({ of }: { readonly of: Trial }): JSX.Element | null {
	if (!of.isRunning) return null;
	return (
		<button type="button" onClick={() => of.stop()}>
			Stop
		</button>
	);
}

interface MessageJson {
	readonly content?: readonly { readonly type: string; readonly text?: string }[];
	readonly toolCalls?: readonly { readonly toolName: string; readonly arguments: unknown }[];
}

function textOf(message: unknown): string {
	const { content = [], toolCalls = [] } = (message ?? {}) as MessageJson;
	return [
		content.map((part) => (part.type === "text" ? part.text : "")).join(""),
		...toolCalls.map((call) => `${call.toolName}(${JSON.stringify(call.arguments ?? {})})`),
	]
		.filter((text) => text !== "")
		.join("\n");
}

function ModelTrial(props: {
	readonly store: SessionStore;
	readonly entry: number | undefined;
}): JSX.Element {
	const { store, entry } = props;
	const answers = store.entries.filter(({ kind }) => kind === "assistant");
	const [chosen, choose] = useState(entry);
	const of = answers.find(({ seq }) => seq === chosen) ?? answers.at(-1);
	if (of === undefined) return <p class="quiet">No model has answered yet, so there is no request to try.</p>;
	return (
		<section aria-label="Try a request">
			<h2>Try a request</h2>
			<p class="quiet">
				Sends the request of an answer again, with what you change. The model is called, but the session does
				not change, and tool calls of the new answer are not executed.
			</p>
			<label>
				Request of{" "}
				<select value={of.seq} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
					{answers.map((each) => (
						<option key={each.seq} value={each.seq}>
							{formatTime(each.at)} step {String(each.body.step)}: {summary(textOf(each.body.message), 60)}
						</option>
					))}
				</select>
			</label>
			<RequestTrial key={of.seq} store={store} of={of} />
		</section>
	);
}

function RequestTrial(props: { readonly store: SessionStore; readonly of: ShownEntry }): JSX.Element {
	const {
		store: { sessionId },
		of,
	} = props;
	const { value: step, problem } = useAnswer<ShownStep>(inspectPath(sessionId, `/steps/${of.seq}`));
	const [model, setModel] = useState("");
	const [draft, setDraft] = useState<string | undefined>(undefined);
	const [input, setInput] = useState("");
	const [answer, setAnswer] = useState<ShownTrialAnswer | undefined>(undefined);
	const trial = useTrial();
	if (problem !== undefined) return <p class="notice is-error">{problem}</p>;
	if (step === undefined) return <p class="quiet">Reading…</p>;
	const system = step.request.system ?? "";
	const before = textOf(step.reply.body.message);
	const isChanged = draft !== undefined && draft !== system;
	const masked = (isChanged ? maskProblem(draft) : undefined) ?? maskProblem(input);
	const run = (): Promise<void> =>
		trial.run(async (signal) => {
			const body = {
				seq: of.seq,
				...(model.trim() === "" ? {} : { model: model.trim() }),
				...(isChanged ? { systemPrompt: draft } : {}),
				...(input.trim() === "" ? {} : { input }),
			};
			setAnswer(await post<ShownTrialAnswer>(inspectPath(sessionId, "/try-model"), body, signal));
		});
	return (
		<>
			<div class="trial-form">
				<ModelField value={model} usual={step.request.model} choose={setModel} />
				{about.value?.hasPrompts === true ? <PromptChoice choose={setDraft} /> : null}
				<label class="wide">
					Instructions
					<textarea
						rows={3}
						value={draft ?? system}
						onInput={({ currentTarget }) => setDraft(currentTarget.value)}
					/>
				</label>
				<label class="wide">
					Further message, optional
					<textarea rows={1} value={input} onInput={({ currentTarget }) => setInput(currentTarget.value)} />
				</label>
			</div>
			<MaskNote of={system} problem={masked} />
			<p class="acts">
				<Act class="primary" does={run} isDisabled={masked !== undefined}>
					Call the model
				</Act>
				<StopTrial of={trial} />
			</p>
			{answer === undefined ? null : (
				<>
					<dl class="figures">
						<Figure name="model">{answer.modelId}</Figure>
						<Figure name="input">{formatCount(answer.usage.inputTokens)} tokens</Figure>
						<Figure name="output">{formatCount(answer.usage.outputTokens)} tokens</Figure>
						<Figure name="cost">{answer.cost === undefined ? "unknown" : formatCost(answer.cost)}</Figure>
						<Figure name="duration">{formatDuration(answer.duration)}</Figure>
						<Figure name="stopped">{answer.stopReason}</Figure>
					</dl>
					<div class="trio">
						<div>
							<h3>Before</h3>
							<p class="plain">{before}</p>
						</div>
						<div>
							<h3>Now</h3>
							<p class="plain">{textOf(answer.message)}</p>
						</div>
						<div>
							<h3>Difference</h3>
							<WordDiff before={before} after={textOf(answer.message)} />
						</div>
					</div>
				</>
			)}
		</>
	);
}

/** Chooses a version of a prompt as instructions. */
function PromptChoice({ choose }: { readonly choose: (text: string) => void }): JSX.Element {
	const { value } = useAnswer<{ readonly prompts: readonly ShownPrompt[] }>("/api/inspect/prompts");
	const [id, setId] = useState("");
	const path = id === "" ? undefined : `/api/inspect/prompts/${encodeURIComponent(id)}`;
	const { value: found } = useAnswer<{ readonly versions: readonly ShownPrompt[] }>(path);
	return (
		<>
			<label>
				Prompt
				<select value={id} onChange={({ currentTarget }) => setId(currentTarget.value)}>
					<option value="">none</option>
					{(value?.prompts ?? []).map((each) => (
						<option key={each.id} value={each.id}>
							{each.name ?? each.id}
						</option>
					))}
				</select>
			</label>
			{id === "" ? null : (
				<label>
					Version
					<select
						value=""
						onChange={({ currentTarget }) => {
							const version = found?.versions.find((each) => each.version === currentTarget.value);
							if (version !== undefined) choose(version.text);
						}}
					>
						<option value="">use a version…</option>
						{(found?.versions ?? []).map(({ version, text }) => (
							<option key={version} value={version}>
								{version}: {summary(text, 50)}
							</option>
						))}
					</select>
				</label>
			)}
		</>
	);
}

function ToolTrial({ store }: { readonly store: SessionStore }): JSX.Element | null {
	const tools = store.info.value?.agent?.tools ?? [];
	const [chosen, choose] = useState("");
	const tool = tools.find(({ name }) => name === chosen);
	if (about.value?.playground !== "models-and-tools")
		return (
			<section aria-label="Try a tool">
				<h2>Try a tool</h2>
				<p class="quiet">
					Not allowed here. The operator can allow it with the inspector's option{" "}
					<code>playground: "models-and-tools"</code>.
				</p>
			</section>
		);
	return (
		<section aria-label="Try a tool">
			<h2>Try a tool</h2>
			<p class="quiet">
				Runs the tool's function once, with its real effects, outside of any run: without approval, and
				without the hooks of plugins and middleware. Nothing is recorded.
			</p>
			<label>
				Tool{" "}
				<select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
					<option value="">choose…</option>
					{tools.map(({ name }) => (
						<option key={name} value={name}>
							{name}
						</option>
					))}
				</select>
			</label>
			{tool === undefined ? null : <ToolForm key={tool.name} of={tool} sessionId={store.sessionId} />}
		</section>
	);
}

function ToolForm(props: {
	readonly of: { readonly name: string; readonly description: string; readonly parameters: unknown };
	readonly sessionId: string;
}): JSX.Element {
	const {
		of: { name, description, parameters },
		sessionId,
	} = props;
	const fields = fieldsOf(parameters, {});
	const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
	const [isConfirmed, setConfirmed] = useState(false);
	const [result, setResult] = useState<ShownTrialResult | undefined>(undefined);
	const trial = useTrial();
	const typed = valueOfFields(fields, texts);
	const problem = "problem" in typed ? typed.problem : maskProblem(typed.value);
	const run = (): Promise<void> =>
		trial.run(async (signal) => {
			if (!("value" in typed)) return;
			const body = { tool: name, input: typed.value };
			setResult(await post<ShownTrialResult>(inspectPath(sessionId, "/try-tool"), body, signal));
			setConfirmed(false);
		});
	return (
		<>
			<p>{description}</p>
			<Fields of={fields} name={name} texts={texts} change={setTexts} />
			<label class="check">
				<input
					type="checkbox"
					checked={isConfirmed}
					onChange={({ currentTarget }) => setConfirmed(currentTarget.checked)}
				/>{" "}
				Run it with its real effects
			</label>
			<p class="acts">
				<Act class="primary" does={run} isDisabled={!isConfirmed || problem !== undefined}>
					Run {name}
				</Act>
				<StopTrial of={trial} />
				{problem === undefined || Object.keys(texts).length === 0 ? null : (
					<span class="problem" role="status">
						{problem}
					</span>
				)}
			</p>
			{result === undefined ? null : (
				<>
					<dl class="figures">
						<Figure name="outcome">{result.isError ? "failed" : "done"}</Figure>
						<Figure name="duration">{formatDuration(result.duration)}</Figure>
					</dl>
					{result.streamed === "" ? null : <Value of={result.streamed} label={`What ${name} streamed`} />}
					<Value of={result.result ?? ""} label={`Result of ${name}`} />
				</>
			)}
		</>
	);
}
