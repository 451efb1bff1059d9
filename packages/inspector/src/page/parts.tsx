// Small components shared by several views.
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { ShownStatus } from "../wire/index.ts";
import { isOver } from "./api.ts";
import { Code, Highlighted } from "./code.tsx";
import { Copy } from "./copy.tsx";
import { formatValue } from "./format.ts";
import { Scrolls } from "./scrolls.tsx";

/** The name of each status. */
export const statusNames: Readonly<Record<ShownStatus, string>> = {
	idle: "idle",
	queued: "queued",
	running: "running",
	waiting: "waiting",
	parked: "parked",
	interrupted: "interrupted",
	completed: "completed",
	error: "failed",
	aborted: "stopped",
	killed: "killed",
	unreadable: "unreadable",
};

/** Shows the status of a session, as a word and a colour. */
export function Status({ of }: { readonly of: ShownStatus }): JSX.Element {
	return <span class={`status status-${of}`}>{statusNames[of]}</span>;
}

/** Shows JSON or text that may be long. */
export function Value({ of, label }: { readonly of: unknown; readonly label: string }): JSX.Element {
	const text = formatValue(of);
	return (
		<div class="value-box">
			<Scrolls class="value" label={label}>
				<pre>{typeof of === "string" ? text : <Highlighted code={text} language="json" />}</pre>
			</Scrolls>
			<Copy text={text} name={`Copy: ${label}`} />
		</div>
	);
}

/** Returns the script of a call; undefined if it has none. */
export function codeIn(input: unknown): string | undefined {
	const { code } = (typeof input === "object" && input !== null ? input : {}) as Record<string, unknown>;
	return typeof code === "string" ? code : undefined;
}

/** Shows the input of a call. A script is shown as code, with whatever else the input contains below it. */
export function CallInput({ of, name }: { readonly of: unknown; readonly name: string }): JSX.Element {
	const label = `Input of ${name}`;
	const code = codeIn(of);
	if (code === undefined) return <Value of={of} label={label} />;
	const { code: _, ...others } = of as Record<string, unknown>;
	return (
		<>
			<Code code={code} language="typescript" label={label} />
			{Object.keys(others).length === 0 ? null : <Value of={others} label={`Other input of ${name}`} />}
		</>
	);
}

/** Shows a number with its name. */
export function Figure({
	name,
	children,
}: {
	readonly name: string;
	readonly children: ComponentChildren;
}): JSX.Element {
	return (
		<div class="figure">
			<dt>{name}</dt>
			<dd>{children}</dd>
		</div>
	);
}

/** The latest notification, visible and announced to screen readers. */
export const notice = signal<{ readonly text: string; readonly isError: boolean } | undefined>(undefined);

/** Runs an action that may fail, and reports an error. Returns true on success. */
export async function attempt(what: () => Promise<unknown>, done?: string): Promise<boolean> {
	const before = notice.value;
	try {
		await what();
		if (done !== undefined) notice.value = { text: done, isError: false };
		// A newer notice stays: it is about another action.
		else if (notice.value === before) notice.value = undefined;
		return true;
	} catch (error) {
		if (!isOver(error)) notice.value = { text: (error as Error).message, isError: true };
		return false;
	}
}

/** A button that is busy while its action runs. */
export function Act(props: {
	readonly does: () => Promise<unknown>;
	readonly done?: string;
	readonly class?: string;
	readonly title?: string;
	readonly isDisabled?: boolean;
	readonly children: ComponentChildren;
}): JSX.Element {
	const [isBusy, setBusy] = useState(false);
	return (
		<button
			type="button"
			class={props.class}
			title={props.title}
			disabled={isBusy || props.isDisabled === true}
			onClick={async () => {
				setBusy(true);
				await attempt(props.does, props.done);
				setBusy(false);
			}}
		>
			{props.children}
		</button>
	);
}
