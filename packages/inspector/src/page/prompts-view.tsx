// Prompts in versions: the current text, earlier texts and their differences, and an editor for another version.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ShownPrompt } from "../wire/index.ts";
import { post } from "./api.ts";
import { changedLines } from "./changed-lines.ts";
import { useAnswer } from "./entry-details.tsx";
import { formatTime } from "./format.ts";
import { useKeys } from "./keyboard.ts";
import { attempt } from "./parts.tsx";
import { go, linkTo } from "./route.ts";
import { Scrolls } from "./scrolls.tsx";

export function PromptsView({ chosen }: { readonly chosen: string | undefined }): JSX.Element {
	const [look, setLook] = useState(0);
	const { value, problem } = useAnswer<{ readonly prompts: readonly ShownPrompt[] }>(
		"/api/inspect/prompts",
		look,
	);
	const prompts = value?.prompts ?? [];
	const at = prompts.findIndex(({ id }) => id === chosen);
	const move = (by: number): void => {
		const to = prompts[Math.max(0, Math.min(prompts.length - 1, at + by))];
		if (to !== undefined) go({ view: "prompts", promptId: to.id });
	};
	useKeys({ j: () => move(1), k: () => move(-1) });
	return (
		<main class="prompts">
			<h1 class="hidden">Prompts</h1>
			{problem === undefined ? null : <p class="notice is-error">{problem}</p>}
			{value === undefined && problem === undefined ? <p class="empty">Reading…</p> : null}
			{value !== undefined && prompts.length === 0 ? (
				<p class="empty">No prompts yet. Programs store them with put.</p>
			) : null}
			{prompts.length === 0 ? null : (
				<div class="split">
					<Scrolls class="scrolls files steps" label="Prompts">
						<ul>
							{prompts.map(({ id, name, version }) => (
								<li key={id}>
									<a
										class="file"
										href={linkTo({ view: "prompts", promptId: id })}
										aria-current={id === chosen ? "true" : undefined}
									>
										<span>{name ?? id}</span>
										<span class="quiet">{versionName(version)}</span>
									</a>
								</li>
							))}
						</ul>
					</Scrolls>
					{chosen === undefined ? (
						<p class="empty details">Choose a prompt.</p>
					) : (
						<Prompt key={chosen} id={chosen} written={() => setLook((count) => count + 1)} look={look} />
					)}
				</div>
			)}
		</main>
	);
}

function versionName(version: string): string {
	return version === "0" ? "the project's own" : `version ${version}`;
}

function Prompt(props: {
	readonly id: string;
	readonly look: number;
	readonly written: () => void;
}): JSX.Element {
	const { id, look, written } = props;
	const path = `/api/inspect/prompts/${encodeURIComponent(id)}`;
	const { value, problem } = useAnswer<{ readonly versions: readonly ShownPrompt[] }>(path, look);
	const versions = value?.versions ?? [];
	const latest = versions[0];
	const [version, setVersion] = useState<string | undefined>(undefined);
	const [draft, setDraft] = useState<string | undefined>(undefined);
	const [isBusy, setBusy] = useState(false);
	useEffect(() => setVersion(undefined), [latest?.version]);
	if (problem !== undefined) return <p class="notice is-error details">{problem}</p>;
	if (latest === undefined) return <p class="empty details">Reading…</p>;
	const shown = versions.find((each) => each.version === version) ?? latest;
	const before = versions[versions.indexOf(shown) + 1];
	const text = draft ?? latest.text;
	const save = async (next: string): Promise<void> => {
		setBusy(true);
		const isWritten = await attempt(
			() => post(path, { text: next, after: latest.version }),
			"Saved. New calls use this version.",
		);
		setBusy(false);
		if (!isWritten) return;
		setDraft(undefined);
		written();
	};
	return (
		<section class="details prompt" aria-label={`Prompt ${id}`}>
			<header>
				<h2>{latest.name ?? id}</h2>
				<span class="quiet">
					{latest.name === undefined || latest.name === id ? "" : id}
					{latest.engine === undefined ? "" : ` ${latest.engine}`}
				</span>
			</header>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					void save(text);
				}}
			>
				<label>
					Text
					<textarea
						rows={10}
						spellcheck
						value={text}
						onInput={({ currentTarget }) => setDraft(currentTarget.value)}
						onKeyDown={(event) => {
							if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && text !== latest.text)
								void save(text);
						}}
					/>
				</label>
				<div class="acts">
					<button type="submit" class="primary" disabled={isBusy || text === latest.text}>
						Write version {Number(latest.version) + 1}
					</button>
					<button type="button" disabled={draft === undefined} onClick={() => setDraft(undefined)}>
						Discard changes
					</button>
				</div>
			</form>
			<h3>Versions</h3>
			<ol class="versions">
				{versions.map((each) => (
					<li key={each.version}>
						<button
							type="button"
							class="file"
							aria-pressed={each === shown}
							onClick={() => setVersion(each.version)}
						>
							<span>
								{versionName(each.version)}
								{each === latest ? ", the current one" : ""}
							</span>
							<span class="quiet">
								{each.createdBy ?? ""}
								{each.createdAt === undefined ? "" : ` ${formatTime(Date.parse(each.createdAt))}`}
							</span>
						</button>
					</li>
				))}
			</ol>
			<h3>
				{versionName(shown.version)}
				{before === undefined ? "" : `: what changed since ${versionName(before.version)}`}
			</h3>
			<Scrolls class="value" label={`Text of ${versionName(shown.version)}`}>
				<pre class="changes">
					{changedLines(before?.text ?? shown.text, shown.text).map(({ kind, line }, index) => (
						<span key={index} class={`line-${kind}`}>
							{`${marks[kind]} ${line}\n`}
						</span>
					))}
				</pre>
			</Scrolls>
			{shown === latest ? null : (
				<div class="acts">
					<button type="button" disabled={isBusy} onClick={() => void save(shown.text)}>
						Write {versionName(shown.version)} again
					</button>
				</div>
			)}
		</section>
	);
}

const marks = { same: " ", added: "+", removed: "−" } as const;
