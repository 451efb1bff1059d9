// Forks a session after a completed turn, and repeats the following turn with another model or other instructions.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { about } from "./about.ts";
import { inspectPath, post, say } from "./api.ts";
import { summary } from "./format.ts";
import { hasMask, maskProblem } from "./masks.ts";
import { attempt } from "./parts.tsx";
import { go } from "./route.ts";
import type { SessionStore } from "./session-store.ts";
import { type Turn, turnsOf } from "./turns.ts";

/** The session to fork, and the run to repeat in the fork. */
export const toFork = signal<{ readonly sessionId: string; readonly runId?: string } | undefined>(undefined);

export function ForkDialog({ store }: { readonly store: SessionStore }): JSX.Element {
	const again = toFork.value?.runId;
	const close = (): void => {
		toFork.value = undefined;
	};
	const { info } = store;
	const turns = turnsOf(store.entries);
	const dialog = useRef<HTMLDialogElement>(null);
	const [at, setAt] = useState(() => {
		const before =
			again === undefined
				? turns
				: turns.slice(
						0,
						turns.findIndex(({ runId }) => runId === again),
					);
		return String(before.findLast(({ end }) => end !== undefined)?.end ?? 0);
	});
	const [model, setModel] = useState("");
	const [prompt, setPrompt] = useState(info.value?.agent?.system ?? "");
	const next = nextOf(turns, Number(at));
	const usual = info.value?.agent?.system ?? "";
	const problem = prompt === usual ? undefined : maskProblem(prompt);
	const isMasked = next !== undefined && hasMask(next.text);
	const [isAgain, setAgain] = useState(again !== undefined);
	useEffect(() => dialog.current?.showModal(), []);
	const fork = (): Promise<boolean> =>
		attempt(async () => {
			const systemPrompt = prompt === (info.value?.agent?.system ?? "") ? {} : { systemPrompt: prompt };
			const { sessionId } = await post<{ sessionId: string }>(inspectPath(store.sessionId, "/fork"), {
				at: Number(at),
				...(model.trim() === "" ? {} : { model: model.trim() }),
				...systemPrompt,
			});
			if (isAgain && !isMasked && next !== undefined) await say(next.text, sessionId);
			close();
			go({ view: "session", sessionId, tab: "conversation" });
		});
	return (
		<dialog ref={dialog} aria-labelledby="fork-title" onClose={close} class="fork">
			<form
				onSubmit={(event) => {
					event.preventDefault();
					void fork();
				}}
			>
				<h2 id="fork-title">Fork the session</h2>
				<label>
					Starts with the whole conversation
					<select value={at} onChange={({ currentTarget }) => setAt(currentTarget.value)}>
						<option value="0">nothing: from the beginning</option>
						{turns.map(({ end, number, text }) =>
							end === undefined ? null : (
								<option key={end} value={String(end)}>
									up to turn {number}: {summary(text, 50)}
								</option>
							),
						)}
					</select>
				</label>
				<label class="check">
					<input
						type="checkbox"
						checked={isAgain && !isMasked}
						disabled={next === undefined || isMasked}
						onChange={({ currentTarget }) => setAgain(currentTarget.checked)}
					/>
					{next === undefined
						? "No later turn to retry"
						: isMasked
							? `Turn ${next.number} contains a masked secret, so it cannot be repeated from here`
							: `Repeat turn ${next.number}: ${summary(next.text, 60)}`}
				</label>
				<ModelField value={model} usual={info.value?.agent?.model} choose={setModel} />
				<label>
					Instructions
					<textarea rows={4} value={prompt} onInput={({ currentTarget }) => setPrompt(currentTarget.value)} />
				</label>
				<MaskNote of={usual} problem={problem} />
				<div class="acts">
					<button type="submit" class="primary" disabled={problem !== undefined}>
						Fork
					</button>
					<button type="button" onClick={() => dialog.current?.close()}>
						Cancel
					</button>
				</div>
			</form>
		</dialog>
	);
}

/** Says what happens to masked secrets in instructions. */
export function MaskNote(props: {
	readonly of: string;
	readonly problem: string | undefined;
}): JSX.Element | null {
	const { of, problem } = props;
	if (problem !== undefined)
		return (
			<p class="problem" role="status">
				{problem}
			</p>
		);
	if (!hasMask(of)) return null;
	return <p class="quiet">Secrets are masked here. Unchanged instructions are sent with the real ones.</p>;
}

function nextOf(turns: readonly Turn[], at: number): Turn | undefined {
	return turns.find(({ begin, text }) => begin > at && text !== "");
}

/** Offers the models that the server knows by name; if it cannot list them, accepts any name. */
export function ModelField(props: {
	readonly value: string;
	readonly usual: string | undefined;
	readonly choose: (name: string) => void;
}): JSX.Element {
	const { value, usual = "as it is", choose } = props;
	const names = about.value?.models;
	if (names === undefined)
		return (
			<label>
				Model
				<input
					value={value}
					placeholder={usual}
					onInput={({ currentTarget }) => choose(currentTarget.value)}
				/>
			</label>
		);
	return (
		<label>
			Model
			<select
				value={value}
				disabled={names.length === 0}
				onChange={({ currentTarget }) => choose(currentTarget.value)}
			>
				<option value="">{usual}</option>
				{names.map((name) => (
					<option key={name} value={name}>
						{name}
					</option>
				))}
			</select>
			{names.length > 0 ? null : (
				<span class="quiet">The server has no other named models. Add them with the option `models`.</span>
			)}
		</label>
	);
}
