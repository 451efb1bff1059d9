// The frame of all views: where one is, whether the server is there, the key it wants, and the keys of the keyboard.
import { effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { access, isReachable, keyNumber, useKey } from "./api.ts";
import { CompareView } from "./compare-view.tsx";
import { helpIsOpen, useShortcuts } from "./keyboard.ts";
import { notice } from "./parts.tsx";
import { linkTo, place } from "./route.ts";
import { SessionView } from "./session-view.tsx";
import { forgetSessions, keepListed } from "./sessions-store.ts";
import { SessionsView } from "./sessions-view.tsx";
import { UsageView } from "./usage-view.tsx";

type Theme = "system" | "light" | "dark";
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
		void keepListed(ending.signal);
		return () => ending.abort();
	}, [number]);
	useShortcuts();
	const where = JSON.stringify(place.value);
	useEffect(
		() => () => {
			// What was said of a view goes with it.
			notice.value = undefined;
		},
		[where],
	);
	const { value: at } = place;
	return (
		<>
			<header class="top">
				<a class="brand" href={linkTo({ view: "sessions" })}>
					Holdfast
				</a>
				<nav aria-label="Views">
					<a href={linkTo({ view: "sessions" })} aria-current={at.view === "sessions" ? "page" : undefined}>
						Sessions
					</a>
					<a href={linkTo({ view: "usage" })} aria-current={at.view === "usage" ? "page" : undefined}>
						Usage
					</a>
				</nav>
				<span class="space" />
				<label class="theme">
					<span class="hidden">Colours</span>
					<select
						value={theme.value}
						onChange={({ currentTarget }) => {
							theme.value = currentTarget.value as Theme;
						}}
					>
						<option value="system">System</option>
						<option value="light">Light</option>
						<option value="dark">Dark</option>
					</select>
				</label>
				<button
					type="button"
					aria-label="Keys of the keyboard"
					onClick={() => {
						helpIsOpen.value = true;
					}}
				>
					?
				</button>
			</header>
			<div class="notices" aria-live="polite">
				{isReachable.value ? null : (
					<p class="notice is-error">The server cannot be reached. Trying again.</p>
				)}
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
			{access.value === "open" ? <View key={number} /> : <Door />}
			<Help />
		</>
	);
}

function View(): JSX.Element {
	const { value: at } = place;
	switch (at.view) {
		case "sessions":
			return <SessionsView />;
		case "usage":
			return <UsageView />;
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
				<p>The inspector is there on loopback, or behind a key, and for those who may look into sessions.</p>
			</main>
		);
	return (
		<main class="door">
			<h1>A key is needed</h1>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					const key = input.current?.value.trim() ?? "";
					if (key !== "") useKey(key);
				}}
			>
				<label>
					Key of the server
					<input ref={input} type="password" name="key" autocomplete="off" required />
				</label>
				<button type="submit" class="primary">
					Enter
				</button>
				<p role="alert">{access.value === "refused" ? "This key was refused." : ""}</p>
			</form>
		</main>
	);
}

const keys: readonly (readonly [key: string, does: string])[] = [
	["?", "This list"],
	["/", "Search sessions"],
	["j k ↓ ↑", "Next and previous line"],
	["Enter", "Open"],
	["g", "All sessions"],
	["u", "Usage"],
	["1 … 7", "Tabs of a session"],
	["c", "Write a message"],
	["Ctrl Enter", "Send it"],
	["i", "Interrupt the run"],
	["[ ]", "Step back and forth in a replay"],
	["Esc", "Leave a field or this list"],
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
