// Calls that wait for an outside answer: an approval, with changed arguments if the tool allows it, or a result.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import type { Pending } from "./conversation-model.ts";
import { useDraft } from "./draft.ts";
import { formatTime, formatValue } from "./format.ts";
import { maskProblem } from "./masks.ts";
import { Act } from "./parts.tsx";
import { type Field, fieldsOf, textIn, valueOfFields } from "./schema-fields.ts";
import { Fields } from "./schema-form.tsx";
import type { SessionStore } from "./session-store.ts";

export function PendingCalls({ store }: { readonly store: SessionStore }): JSX.Element | null {
	void store.version.value;
	const pending: readonly Pending[] = [
		...store.conversation.pending,
		...(store.info.value?.background ?? []),
	];
	if (pending.length === 0) return null;
	return (
		<section class="pending" aria-label="Waiting calls">
			{pending.map((call) => (
				<PendingCall key={call.callId} of={call} store={store} />
			))}
		</section>
	);
}

type Texts = Readonly<Record<string, string>>;

function textsOf(draft: string): Texts {
	try {
		const found: unknown = JSON.parse(draft);
		return typeof found === "object" && found !== null ? (found as Texts) : {};
	} catch {
		return {};
	}
}

function PendingCall({ of, store }: { readonly of: Pending; readonly store: SessionStore }): JSX.Element {
	const { name, input, awaits, deadline, agents, taskId, mayEdit } = of;
	const { sessionId } = store;
	// A sub-agent's tools are its own: their schemas are not known here.
	const tools = agents === undefined ? (store.info.value?.agent?.tools ?? []) : [];
	const fields = fieldsOf(tools.find((tool) => tool.name === name)?.parameters, input);
	const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
	return (
		<fieldset>
			<legend>
				<code>{name}</code> {awaits === "approval" ? "requires approval" : "waits for its result"}
				{agents === undefined ? "" : ` for ${agents.join(" › ")}`}
				{taskId === undefined ? "" : " in the background"}
				{deadline === undefined ? "" : ` until ${formatTime(deadline)}`}
			</legend>
			{awaits === "approval" ? (
				<Approval of={of} store={store} fields={fields} isEditable={mayEdit === true && isObject} />
			) : (
				<Result of={of} sessionId={sessionId} fields={fields} look={() => store.look()} />
			)}
			{isObject ? null : <pre class="value">{formatValue(input)}</pre>}
		</fieldset>
	);
}

function Approval(props: {
	readonly of: Pending;
	readonly store: SessionStore;
	readonly fields: readonly Field[];
	readonly isEditable: boolean;
}): JSX.Element {
	const { of, store, fields, isEditable } = props;
	const { callId, name, runId } = of;
	const { sessionId } = store;
	const about = { toolCallId: callId, ...(runId === undefined ? {} : { runId }) };
	const [reason, setReason] = useDraft(`reason ${sessionId} ${callId}`);
	const [draft, setDraft] = useDraft(`input ${sessionId} ${callId}`);
	const texts = textsOf(draft);
	const isChanged = isEditable && fields.some((field) => textIn(texts, field) !== field.text);
	const typed = valueOfFields(fields, texts);
	const problem = !isChanged ? undefined : "problem" in typed ? typed.problem : maskProblem(typed.value);
	const decide = async (approved: boolean): Promise<void> => {
		const input = approved && isChanged && "value" in typed ? { input: typed.value } : {};
		const why = reason === "" ? {} : { reason };
		await client.answer(sessionId, [{ role: "approval", ...about, approved, ...why, ...input }]);
		setReason("");
		setDraft("");
		store.look();
	};
	return (
		<>
			<Fields
				of={fields}
				name={name}
				texts={texts}
				{...(isEditable ? { change: (next: Texts) => setDraft(JSON.stringify(next)) } : {})}
			/>
			{problem === undefined ? null : (
				<p class="problem" role="status">
					{problem}
				</p>
			)}
			<input
				aria-label={`Reason for ${name}`}
				placeholder="Reason, which the model receives if you deny"
				value={reason}
				onInput={({ currentTarget }) => setReason(currentTarget.value)}
			/>
			<Act class="primary" does={() => decide(true)} isDisabled={problem !== undefined}>
				{isChanged ? "Approve with changes" : "Approve"}
			</Act>
			{isChanged ? (
				<button type="button" onClick={() => setDraft("")}>
					Undo changes
				</button>
			) : null}
			<Act does={() => decide(false)}>Deny</Act>
		</>
	);
}

function Result(props: {
	readonly of: Pending;
	readonly sessionId: string;
	readonly fields: readonly Field[];
	readonly look: () => void;
}): JSX.Element {
	const { of, sessionId, fields, look } = props;
	const { callId, name, runId } = of;
	const about = { toolCallId: callId, ...(runId === undefined ? {} : { runId }) };
	const [text, setText] = useDraft(`result ${sessionId} ${callId}`);
	const [format, setFormat] = useState<"text" | "json">("text");
	const problem = format === "json" && text !== "" ? jsonProblem(text) : undefined;
	const answer = async (isError: boolean): Promise<void> => {
		// The server accepts any JSON as a result; only the type of the client is narrower.
		const output = (format === "json" ? JSON.parse(text) : text) as string;
		await client.answer(sessionId, [{ role: "tool", ...about, output, ...(isError ? { isError } : {}) }]);
		setText("");
		look();
	};
	return (
		<>
			<Fields of={fields} name={name} texts={{}} />
			<select
				aria-label={`Format for ${name}`}
				value={format}
				onChange={({ currentTarget }) => setFormat(currentTarget.value === "json" ? "json" : "text")}
			>
				<option value="text">text</option>
				<option value="json">JSON</option>
			</select>
			<textarea
				aria-label={`Result of ${name}`}
				placeholder={format === "json" ? '{"city": "Rome"}' : "Result"}
				rows={1}
				value={text}
				onInput={({ currentTarget }) => setText(currentTarget.value)}
			/>
			{problem === undefined ? null : (
				<p class="problem" role="status">
					{problem}
				</p>
			)}
			<Act class="primary" does={() => answer(false)} isDisabled={problem !== undefined}>
				Answer
			</Act>
			<Act does={() => answer(true)} isDisabled={problem !== undefined}>
				Answer as failed
			</Act>
		</>
	);
}

function jsonProblem(text: string): string | undefined {
	try {
		JSON.parse(text);
		return undefined;
	} catch (error) {
		return `This is not valid JSON: ${(error as Error).message}`;
	}
}
