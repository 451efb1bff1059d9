// Small components shared by several views.
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { ShownStatus } from "../wire/index.ts";
import { isOver } from "./api.ts";
import { formatValue } from "./format.ts";

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
};

/** Shows the status of a session, as a word and a colour. */
export function Status({ of }: { readonly of: ShownStatus }): JSX.Element {
	return <span class={`status status-${of}`}>{statusNames[of]}</span>;
}

/** An element with a role of a table: the rows of a virtual list are placed by their offset, which `<tr>` cannot be. */
export function Box({ as, ...rest }: { readonly as: string } & JSX.IntrinsicElements["div"]): JSX.Element {
	return <div role={as as "table"} {...rest} />;
}

/** A scrollable area with a name, reachable by keyboard. */
export function Scrolls(props: {
	readonly label: string;
	readonly class: string;
	readonly children: ComponentChildren;
}): JSX.Element {
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys
		<section class={props.class} tabIndex={0} aria-label={props.label}>
			{props.children}
		</section>
	);
}

/** Shows JSON or text that may be long. */
export function Value({ of, label }: { readonly of: unknown; readonly label: string }): JSX.Element {
	return (
		<Scrolls class="value" label={label}>
			<pre>{formatValue(of)}</pre>
		</Scrolls>
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
	try {
		await what();
		notice.value = done === undefined ? undefined : { text: done, isError: false };
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
	readonly children: ComponentChildren;
}): JSX.Element {
	const [isBusy, setBusy] = useState(false);
	return (
		<button
			type="button"
			class={props.class}
			title={props.title}
			disabled={isBusy}
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
