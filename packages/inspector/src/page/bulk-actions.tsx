// The bar above the table while sessions are selected, and the dialog that confirms an action and shows its results.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatCount } from "./format.ts";
import { Scrolls } from "./scrolls.tsx";
import { actOnAll, type BulkAction, type BulkResult, selectAll, selection } from "./selection.ts";
import { allSessions } from "./sessions-store.ts";

interface Question {
	readonly title: string;
	readonly warning: string;
	readonly confirm: string;
}

const questions: Readonly<Record<BulkAction, (sessions: string) => Question>> = {
	release: (sessions) => ({
		title: `Release ${sessions}?`,
		warning:
			"Runs that were parked, or whose process died, continue. Sessions without such a run do not change.",
		confirm: "Release",
	}),
	interrupt: (sessions) => ({
		title: `Interrupt ${sessions}?`,
		warning: "Their current runs end as stopped. Their work so far is kept.",
		confirm: "Interrupt",
	}),
	delete: (sessions) => ({
		title: `Delete ${sessions}?`,
		warning: "Their runs end, and their conversations and files are removed. This cannot be undone.",
		confirm: "Delete",
	}),
};

const stateNames: Readonly<Record<BulkResult["state"], string>> = {
	waiting: "…",
	done: "Done",
	nothing: "No change",
	failed: "Failed",
};

export function BulkBar(): JSX.Element | null {
	const ids = selection.value;
	const [action, setAction] = useState<BulkAction | undefined>(undefined);
	if (ids.size === 0 && action === undefined) return null;
	return (
		<div class="bulk">
			<output aria-live="polite">{formatCount(ids.size)} selected</output>
			<button type="button" onClick={() => setAction("release")}>
				Release…
			</button>
			<button type="button" onClick={() => setAction("interrupt")}>
				Interrupt…
			</button>
			<button type="button" class="danger" onClick={() => setAction("delete")}>
				Delete…
			</button>
			<button type="button" onClick={() => selectAll([])}>
				Clear
			</button>
			{action === undefined ? null : (
				<BulkDialog
					action={action}
					ids={[...ids]}
					close={(isDone) => {
						setAction(undefined);
						if (isDone) selectAll([]);
					}}
				/>
			)}
		</div>
	);
}

function BulkDialog(props: {
	readonly action: BulkAction;
	readonly ids: readonly string[];
	readonly close: (isDone: boolean) => void;
}): JSX.Element {
	const { action, close } = props;
	const [ids] = useState(props.ids);
	const [titles] = useState(() => new Map(allSessions().map(({ sessionId, title }) => [sessionId, title])));
	const [state, setState] = useState<"asking" | "acting" | "done">("asking");
	const [results, setResults] = useState<ReadonlyMap<string, BulkResult>>(new Map());
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => dialog.current?.showModal(), []);
	const isLeft = useRef(false);
	/** The event of a closed dialog may arrive after the next selection, which must stay. */
	const leave = (): void => {
		if (isLeft.current) return;
		isLeft.current = true;
		dialog.current?.close();
		close(state !== "asking");
	};
	const { title, warning, confirm } = questions[action](
		ids.length === 1 ? "1 session" : `${formatCount(ids.length)} sessions`,
	);
	const failed = [...results.values()].filter((each) => each.state === "failed").length;
	return (
		<dialog
			ref={dialog}
			aria-labelledby="bulk-title"
			class="bulk-dialog"
			onClose={leave}
			onCancel={(event) => {
				if (state === "acting") event.preventDefault();
			}}
		>
			<h2 id="bulk-title">{title}</h2>
			<p>{warning}</p>
			<Scrolls class="bulk-list" label="Sessions">
				<ul>
					{ids.slice(0, 200).map((id) => {
						const { state: of = "waiting", message } = results.get(id) ?? {};
						return (
							<li key={id} class={`bulk-${of}`}>
								<span class="bulk-name">
									{titles.get(id) ?? "No messages yet"} <span class="quiet">{id}</span>
								</span>
								{state === "asking" ? null : <span class="bulk-state">{message ?? stateNames[of]}</span>}
							</li>
						);
					})}
				</ul>
				{ids.length > 200 ? <p class="quiet">and {formatCount(ids.length - 200)} more</p> : null}
			</Scrolls>
			<p role="status">
				{state === "asking"
					? ""
					: `${formatCount(results.size)} of ${formatCount(ids.length)}${failed === 0 ? "" : `, ${formatCount(failed)} failed`}`}
			</p>
			<div class="acts">
				{state === "done" ? (
					<button type="button" class="primary" onClick={leave}>
						Close
					</button>
				) : (
					<>
						<button
							type="button"
							class={action === "delete" ? "danger" : "primary"}
							disabled={state === "acting"}
							onClick={async () => {
								setState("acting");
								await actOnAll(action, ids, (result) =>
									setResults((before) => new Map(before).set(result.sessionId, result)),
								);
								setState("done");
							}}
						>
							{confirm}
						</button>
						<button type="button" disabled={state === "acting"} onClick={leave}>
							Cancel
						</button>
					</>
				)}
			</div>
		</dialog>
	);
}
