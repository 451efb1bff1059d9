// How far the search in messages got, and the choice of columns.
import type { JSX } from "preact";
import { allColumns, chooseColumn, chosenColumns, columnsNow, isNarrow } from "./columns.ts";
import { formatCount } from "./format.ts";
import { Menu } from "./menu.tsx";
import { foundTexts, search, searchOn, stopSearch } from "./sessions-search.ts";

export function SearchBar(): JSX.Element | null {
	const now = search.value;
	if (now === undefined) return null;
	const { state, searched, total, cut, problem } = now;
	const of = `${formatCount(searched)} of ${formatCount(total)} sessions`;
	return (
		<div class="search-state">
			<output aria-live="polite">
				{state === "searching"
					? `Searching messages: ${of}…`
					: state === "done"
						? `Searched the messages of ${formatCount(total)} sessions.`
						: state === "failed"
							? `The search failed after ${of}: ${problem ?? ""}`
							: `The search stopped after ${of}, the most recently changed.`}{" "}
				{foundTexts.value.size === 0 && state === "searching"
					? ""
					: `Found in ${formatCount(foundTexts.value.size)}.`}
				{cut === 0 ? "" : ` Of ${formatCount(cut)} long sessions, only the latest entries were searched.`}
			</output>
			{state === "searching" ? (
				<button type="button" class="small" onClick={stopSearch}>
					Stop
				</button>
			) : state === "done" ? null : (
				<button type="button" class="small" onClick={() => void searchOn()}>
					Continue
				</button>
			)}
		</div>
	);
}

export function Columns(): JSX.Element | null {
	if (isNarrow.value) return null;
	const chosen = chosenColumns.value;
	const shown = new Set(columnsNow.value.map(({ id }) => id));
	return (
		<Menu id="columns" name="Columns">
			<fieldset>
				<legend>Columns</legend>
				{allColumns.map(({ id, name }) => (
					<label key={id} class="check">
						<input
							type="checkbox"
							checked={chosen.has(id)}
							disabled={id === "title"}
							onChange={({ currentTarget }) => chooseColumn(id, currentTarget.checked)}
						/>
						{name}
						{chosen.has(id) && !shown.has(id) ? <span class="quiet">empty, or too wide here</span> : null}
					</label>
				))}
			</fieldset>
		</Menu>
	);
}
