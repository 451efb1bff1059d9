// The context of a session: what fills it, how it grew, what its cache saved and what broke it, and its skills.
import type { JSX } from "preact";
import type { ShownStep } from "../wire/index.ts";
import { inspectPath } from "./api.ts";
import { Chart } from "./chart.tsx";
import { type ContextStep, contextSteps, reasonName } from "./context-model.ts";
import { useAnswer } from "./entry-details.tsx";
import { formatCount, formatShare, formatTime } from "./format.ts";
import { Figure } from "./parts.tsx";
import { ContextBar } from "./request-details.tsx";
import { linkTo } from "./route.ts";
import { Scrolls } from "./scrolls.tsx";
import type { SessionStore } from "./session-store.ts";
import { type LoadedSkill, skillsOf } from "./skills-model.ts";

/** The most answers in the chart; the latest ones. */
const mostBars = 60;

export function ContextTab({ store }: { readonly store: SessionStore }): JSX.Element {
	void store.version.value;
	const steps = contextSteps(store.entries);
	const last = steps.at(-1);
	const of = store.child === undefined ? "" : `?child=${encodeURIComponent(store.child)}`;
	const path = last && inspectPath(store.sessionId, `/steps/${last.seq}${of}`);
	const { value } = useAnswer<ShownStep>(path);
	const sum = (name: "inputTokens" | "cachedTokens" | "writtenTokens"): number =>
		steps.reduce((total, step) => total + step[name], 0);
	const breaks = steps.filter(({ reasons }) => reasons.length > 0);
	const shown = steps.slice(-mostBars);
	return (
		<Scrolls class="scrolls context-tab" label="Context">
			{last === undefined ? (
				<p class="quiet">No model has answered yet.</p>
			) : (
				<>
					<dl class="figures tiles">
						<Figure name="last request">{formatCount(last.inputTokens)} tokens</Figure>
						<Figure name="input in all">{formatCount(sum("inputTokens"))}</Figure>
						<Figure name="from the cache">
							{formatCount(sum("cachedTokens"))}{" "}
							<span class="quiet">{formatShare(sum("cachedTokens"), sum("inputTokens"))}</span>
						</Figure>
						<Figure name="written to the cache">{formatCount(sum("writtenTokens"))}</Figure>
						<Figure name="cache breaks">{formatCount(breaks.length)}</Figure>
					</dl>
					<h2>The last request</h2>
					{value === undefined ? (
						<p class="quiet">Reading…</p>
					) : (
						<ContextBar of={value.request} tokens={last.inputTokens} />
					)}
					<div class="charts">
						<Chart
							title={
								steps.length > mostBars ? `Input of the last ${mostBars} answers` : "Input of each answer"
							}
							names={["not cached", "from the cache"]}
							format={formatCount}
							points={shown.map(({ at, inputTokens, cachedTokens }) => ({
								at,
								values: [Math.max(0, inputTokens - cachedTokens), cachedTokens],
							}))}
						/>
					</div>
					<h2>Cache breaks</h2>
					<Breaks of={breaks} store={store} />
				</>
			)}
			<Skills store={store} />
		</Scrolls>
	);
}

function Breaks(props: { readonly of: readonly ContextStep[]; readonly store: SessionStore }): JSX.Element {
	const {
		of,
		store: { sessionId, child },
	} = props;
	if (of.length === 0) return <p class="quiet">None: each request began like the one before it.</p>;
	return (
		<Scrolls class="table" label="Cache breaks">
			<table>
				<thead>
					<tr>
						<th>request</th>
						<th>time</th>
						<th>broken by</th>
						<th>still the same</th>
						<th>from the cache</th>
					</tr>
				</thead>
				<tbody>
					{of.map(({ seq, at, reasons, from, inputTokens, cachedTokens }) => (
						<tr key={seq}>
							<td>
								<a
									href={linkTo({
										...{ view: "session", sessionId, tab: "timeline", entry: seq },
										...(child === undefined ? {} : { child }),
									})}
								>
									entry {seq}
								</a>
							</td>
							<td>{formatTime(at)}</td>
							<td>{reasons.map(reasonName).join(", ")}</td>
							<td>{from === 0 ? "nothing" : `the first ${formatCount(from)} messages`}</td>
							<td>{formatShare(cachedTokens, inputTokens)}</td>
						</tr>
					))}
				</tbody>
			</table>
		</Scrolls>
	);
}

function Skills({ store }: { readonly store: SessionStore }): JSX.Element | null {
	const system = store.child === undefined ? store.info.value?.agent?.system : undefined;
	const { available, loaded, refused } = skillsOf(store.entries, system);
	if (available.length + loaded.length === 0) return null;
	const names = new Set(available.map(({ name }) => name));
	const gone = [...new Set(loaded.map(({ name }) => name))].filter((name) => !names.has(name));
	const all = [...available, ...gone.map((name) => ({ name, description: "The agent no longer has it." }))];
	return (
		<>
			<h2>Skills</h2>
			<Scrolls class="table" label="Skills">
				<table>
					<thead>
						<tr>
							<th>skill</th>
							<th>loaded</th>
							<th>SHA-256</th>
							<th>allowed tools</th>
							<th>files</th>
						</tr>
					</thead>
					<tbody>
						{all.map(({ name, description }) => (
							<SkillRow
								key={name}
								name={name}
								description={description}
								of={loaded.findLast((each) => each.name === name)}
								store={store}
							/>
						))}
					</tbody>
				</table>
			</Scrolls>
			{refused.length === 0 ? null : (
				<>
					<h3>Calls that the skills did not allow</h3>
					<ul class="refused">
						{refused.map(({ seq, at, text }) => (
							<li key={seq}>
								<time class="quiet">{formatTime(at)}</time> {text}
							</li>
						))}
					</ul>
				</>
			)}
		</>
	);
}

function SkillRow(props: {
	readonly name: string;
	readonly description: string;
	readonly of: LoadedSkill | undefined;
	readonly store: SessionStore;
}): JSX.Element {
	const { name, description, of, store } = props;
	const { sessionId } = store;
	return (
		<tr>
			<td>
				<strong>{name}</strong>
				<br />
				<span class="quiet">{description}</span>
			</td>
			<td>
				{of === undefined ? (
					<span class="quiet">no</span>
				) : (
					<a href={linkTo({ view: "session", sessionId, tab: "timeline", entry: of.seq })}>
						{formatTime(of.at)}
					</a>
				)}
			</td>
			<td>
				{of === undefined ? "" : <code>{of.hash}</code>}
				{of?.hasChanged === true ? <span class="state-changed"> changed since the load before</span> : null}
			</td>
			<td>{of === undefined ? "" : (of.allowedTools?.join(", ") ?? "all")}</td>
			<td>
				{(of?.files ?? []).map((file) => (
					<div key={file}>
						{file} {of?.read.includes(file) === true ? <span class="quiet">read</span> : null}
					</div>
				))}
			</td>
		</tr>
	);
}
