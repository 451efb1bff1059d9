// The filters of the list of sessions: saved views, search, and a select for each property.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { filtersOf, noFilters, queryOf } from "./filters.ts";
import { filters, givenViews, savedViews, saveViews, setFilters } from "./list-filters.ts";
import { statusNames } from "./parts.tsx";
import { replaceListQuery } from "./route.ts";
import { choices } from "./sessions-store.ts";

const ranges: readonly (readonly [value: string, name: string])[] = [
	["", "any time"],
	["hour", "last hour"],
	["today", "today"],
	["yesterday", "yesterday"],
	["week", "last 7 days"],
	["month", "last 30 days"],
];

/** The query of the filters alone: views do not differ by their order. */
function withoutOrder(query: string): string {
	const { sort, order } = noFilters;
	return queryOf({ ...filtersOf(query), sort, order });
}

export function FilterBar(props: {
	readonly changed: () => void;
	/** Called before the reader chooses from the tools and errors of all sessions. */
	readonly wantAll: () => void;
	readonly children: ComponentChildren;
}): JSX.Element {
	const { changed, wantAll, children } = props;
	const given = filters.value;
	const { statuses, agents, codes, tools } = choices.value;
	const set = (change: Parameters<typeof setFilters>[0]): void => {
		setFilters(change);
		changed();
	};
	const isRange = given.when.includes("..");
	const [from = "", until = ""] = isRange ? given.when.split("..") : [];
	return (
		<search class="filters">
			<Views />
			<input
				id="search"
				type="search"
				aria-label="Search sessions"
				placeholder={
					given.within === "" ? "Search titles, ids and errors" : "Search titles, ids, errors and messages"
				}
				value={given.q}
				onInput={({ currentTarget }) => set({ q: currentTarget.value })}
			/>
			<button
				type="button"
				class="toggle"
				aria-pressed={given.within !== ""}
				title="Also search messages, calls, results and errors"
				onClick={() => set({ within: given.within === "" ? "messages" : "" })}
			>
				In messages
			</button>
			<div class="selects">
				<select
					aria-label="Status"
					value={given.status === "" ? "any" : given.status}
					onChange={({ currentTarget: { value } }) => set({ status: value === "any" ? "" : value })}
				>
					<option value="any">any status</option>
					<option value="open">open</option>
					<option value="needs-you">needs you</option>
					{Object.entries(statusNames).map(([status, name]) => (
						<option key={status} value={status}>
							{name}
							{statuses.has(status) ? ` (${statuses.get(status)})` : ""}
						</option>
					))}
				</select>
				<select
					aria-label="Last activity"
					value={isRange ? "range" : given.when}
					onChange={({ currentTarget: { value } }) => {
						const today = new Date().toLocaleDateString("en-CA");
						set({ when: value === "range" ? `${today}..${today}` : value });
					}}
				>
					{ranges.map(([value, name]) => (
						<option key={value} value={value}>
							{name}
						</option>
					))}
					<option value="range">between…</option>
				</select>
				{isRange ? (
					<>
						<input
							type="date"
							aria-label="From"
							value={from}
							onChange={({ currentTarget: { value } }) => set({ when: `${value}..${until}` })}
						/>
						<input
							type="date"
							aria-label="Until"
							value={until}
							onChange={({ currentTarget: { value } }) => set({ when: `${from}..${value}` })}
						/>
					</>
				) : null}
				<Choice name="agent" value={given.agent} from={agents} choose={(agent) => set({ agent })} />
				<Choice
					name="error"
					value={given.code}
					from={codes}
					choose={(code) => set({ code })}
					opened={wantAll}
				/>
				<Choice
					name="tool"
					value={given.tool}
					from={tools}
					choose={(tool) => set({ tool })}
					opened={wantAll}
				/>
			</div>
			{children}
		</search>
	);
}

/** A select of the values that occur; absent if there are none to choose from. */
function Choice(props: {
	readonly name: string;
	readonly value: string;
	readonly from: ReadonlyMap<string, number>;
	readonly choose: (value: string) => void;
	readonly opened?: () => void;
}): JSX.Element | null {
	const { name, value, from, choose, opened } = props;
	if (from.size === 0 && value === "") return null;
	const values = [...new Set([...from.keys(), ...(value === "" ? [] : [value])])].sort();
	return (
		<select
			aria-label={name === "agent" ? "Agent" : name === "tool" ? "Tool" : "Error code"}
			value={value}
			onFocus={opened}
			onChange={({ currentTarget }) => choose(currentTarget.value)}
		>
			<option value="">any {name}</option>
			{values.map((each) => (
				<option key={each} value={each}>
					{each}
				</option>
			))}
		</select>
	);
}

/** The views of the list: those that it always has, and those that were saved. */
function Views(): JSX.Element {
	const now = queryOf(filters.value);
	const own = savedViews.value;
	const all = [...givenViews, ...own];
	const isKnown = all.some(({ query }) => withoutOrder(query) === withoutOrder(now));
	const [isNaming, setNaming] = useState(false);
	const field = useRef<HTMLInputElement>(null);
	useEffect(() => {
		if (isNaming) field.current?.focus();
	}, [isNaming]);
	const save = (): void => {
		const name = field.current?.value.trim() ?? "";
		if (name !== "") saveViews([...own.filter((each) => each.name !== name), { name, query: now }]);
		setNaming(false);
	};
	return (
		<nav class="views" aria-label="Views of the list">
			{all.map(({ name, query }) => (
				<span class="view" key={`${name} ${query}`}>
					<button
						type="button"
						aria-pressed={withoutOrder(query) === withoutOrder(now)}
						onClick={() => replaceListQuery(query)}
					>
						{name}
					</button>
					{own.some((each) => each.name === name) ? (
						<button
							type="button"
							class="remove"
							aria-label={`Remove the view ${name}`}
							onClick={() => saveViews(own.filter((each) => each.name !== name))}
						>
							×
						</button>
					) : null}
				</span>
			))}
			{isNaming ? (
				<form
					onSubmit={(event) => {
						event.preventDefault();
						save();
					}}
				>
					<input
						ref={field}
						aria-label="Name of the view"
						placeholder="Name, then Enter"
						onKeyDown={({ key }) => {
							if (key === "Escape") setNaming(false);
						}}
					/>
				</form>
			) : isKnown ? null : (
				<button type="button" onClick={() => setNaming(true)}>
					Save this view…
				</button>
			)}
		</nav>
	);
}
