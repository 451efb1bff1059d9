// The frame of all views: location, connection state, the required key, and keyboard shortcuts.
import { effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { about, areThreads, learnAbout } from "./about.ts";
import { access, keyNumber, useKey } from "./api.ts";
import { Away } from "./away.tsx";
import { CompareView } from "./compare-view.tsx";
import { helpIsOpen, useShortcuts } from "./keyboard.ts";
import { notice } from "./parts.tsx";
import { PromptsView } from "./prompts-view.tsx";
import { linkTo, place } from "./route.ts";
import { selectAll } from "./selection.ts";
import { SessionView } from "./session-view.tsx";
import { forgetSessions, keepListed } from "./sessions-store.ts";
import { SessionsView } from "./sessions-view.tsx";
import { SkillsView } from "./skills-view.tsx";
import { UsageView } from "./usage-view.tsx";

type Theme = "system" | "light" | "dark";
const nextTheme = { system: "light", light: "dark", dark: "system" } as const;
const themeMarks = { system: "◐", light: "○", dark: "●" } as const;
const theme = signal<Theme>((localStorage.getItem("holdfast.inspector.theme") as Theme | null) ?? "system");
effect(() => {
	const { value } = theme;
	if (value === "system") document.documentElement.removeAttribute("data-theme");
	else document.documentElement.dataset.theme = value;
	localStorage.setItem("holdfast.inspector.theme", value);
});

export function App(): JSX.Element {
	const number = keyNumber.value;
	useEffect(() => {
		const ending = new AbortController();
		forgetSessions();
		selectAll([]);
		about.value = undefined;
		void learnAbout(ending.signal);
		void keepListed(ending.signal);
		return () => ending.abort();
	}, [number]);
	useShortcuts();
	const where = JSON.stringify(place.value);
	useEffect(
		() => () => {
			// The notice of a view is removed with it.
			notice.value = undefined;
		},
		[where],
	);
	const { value: at } = place;
	return (
		<>
			<header class="top">
				<a class="brand" href={linkTo({ view: "sessions" })} aria-label="Holdfast">
					<img class="mark" src="/inspector/icon.svg" alt="" width="20" height="20" />
					<span>Holdfast</span>
				</a>
				<nav aria-label="Views">
					<a href={linkTo({ view: "sessions" })} aria-current={at.view === "sessions" ? "page" : undefined}>
						{areThreads() ? "Threads" : "Sessions"}
					</a>
					{about.value?.hasPrompts === true ? (
						<a href={linkTo({ view: "prompts" })} aria-current={at.view === "prompts" ? "page" : undefined}>
							Prompts
						</a>
					) : null}
					{about.value?.hasSkills === true ? (
						<a href={linkTo({ view: "skills" })} aria-current={at.view === "skills" ? "page" : undefined}>
							Skills
						</a>
					) : null}
					<a href={linkTo({ view: "usage" })} aria-current={at.view === "usage" ? "page" : undefined}>
						Overview
					</a>
				</nav>
				<span class="space" />
				<span class="tools">
					<button
						type="button"
						title={`Theme: ${theme.value}`}
						aria-label={`Theme: ${theme.value}`}
						onClick={() => {
							theme.value = nextTheme[theme.value];
						}}
					>
						{themeMarks[theme.value]}
					</button>
					<button
						type="button"
						title="Keyboard shortcuts"
						aria-label="Keyboard shortcuts"
						onClick={() => {
							helpIsOpen.value = true;
						}}
					>
						?
					</button>
				</span>
			</header>
			<Away />
			<div class="notices" aria-live="polite">
				{notice.value === undefined ? null : (
					<p class={`notice ${notice.value.isError ? "is-error" : ""}`}>
						{notice.value.text}
						<button
							type="button"
							aria-label="Dismiss"
							onClick={() => {
								notice.value = undefined;
							}}
						>
							×
						</button>
					</p>
				)}
			</div>
			{access.value === "open" ? <Opened key={number} /> : <Door />}
			<Help />
		</>
	);
}

/** Draws nothing before the server's permissions are known. */
function Opened(): JSX.Element {
	return about.value === undefined ? <p class="empty">Reading…</p> : <View />;
}

function View(): JSX.Element {
	const { value: at } = place;
	switch (at.view) {
		case "sessions":
			return <SessionsView />;
		case "usage":
			return <UsageView />;
		case "prompts":
			return <PromptsView chosen={at.promptId} />;
		case "skills":
			return <SkillsView chosen={at.skill} />;
		case "session":
			return <SessionView key={`${at.sessionId} ${at.child ?? ""}`} of={at} />;
		case "compare":
			return <CompareView key={`${at.left} ${at.right}`} left={at.left} right={at.right} />;
	}
}

/** Asks for the key. */
function Door(): JSX.Element {
	const input = useRef<HTMLInputElement>(null);
	useEffect(() => input.current?.focus(), []);
	if (access.value === "closed")
		return (
			<main class="door">
				<h1>Closed</h1>
				<p>Open the inspector on loopback, or use a key that is allowed to inspect sessions.</p>
			</main>
		);
	return (
		<main class="door">
			<h1>Key required</h1>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					const key = input.current?.value.trim() ?? "";
					if (key !== "") useKey(key);
				}}
			>
				<label>
					Server key
					<input ref={input} type="password" name="key" autocomplete="off" required />
				</label>
				<button type="submit" class="primary">
					Enter
				</button>
				<p role="alert">{access.value === "refused" ? "The server rejected this key." : ""}</p>
			</form>
		</main>
	);
}

const keys: readonly (readonly [key: string, does: string])[] = [
	["?", "This list"],
	["/", "Search sessions"],
	["j k ↓ ↑", "Next and previous line"],
	["Enter", "Open"],
	["x", "Select the line"],
	["g", "All sessions"],
	["u", "Overview"],
	["p", "Prompts"],
	["1 … 9", "Tabs of a session"],
	["f", "Search the trace"],
	["← →", "Collapse and expand a node of the trace"],
	["c", "Write a message"],
	["Ctrl Enter", "Send it"],
	["i", "Interrupt the run"],
	["[ ]", "Step through a replay"],
	["Esc", "Leave a field, the details or this list"],
];

function Help(): JSX.Element {
	const dialog = useRef<HTMLDialogElement>(null);
	const isOpen = helpIsOpen.value;
	useEffect(() => {
		if (isOpen) dialog.current?.showModal();
		else dialog.current?.close();
	}, [isOpen]);
	return (
		<dialog
			ref={dialog}
			aria-labelledby="help-title"
			onClose={() => {
				helpIsOpen.value = false;
			}}
		>
			<h2 id="help-title">Keys</h2>
			<dl class="keys">
				{keys.map(([key, does]) => (
					<div key={key}>
						<dt>
							<kbd>{key}</kbd>
						</dt>
						<dd>{does}</dd>
					</div>
				))}
			</dl>
			<button type="button" onClick={() => dialog.current?.close()}>
				Close
			</button>
		</dialog>
	);
}
