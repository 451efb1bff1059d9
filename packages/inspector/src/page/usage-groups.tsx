// The activity by agent, model, tool and day, as a table.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { InspectedSession, UsageBucket, UsageGroup } from "../wire/index.ts";
import { formatCount, formatDuration, formatShare } from "./format.ts";
import { Price } from "./price.tsx";
import { Scrolls } from "./scrolls.tsx";

const kinds = ["agent", "model", "tool", "day"] as const;
type Kind = (typeof kinds)[number];

type Row = Omit<UsageGroup, "kind"> & { readonly waiting?: number };

export function UsageGroups(props: {
	readonly groups: readonly UsageGroup[];
	readonly buckets: readonly UsageBucket[];
	/** The sessions that wait for a person. */
	readonly waiting: readonly InspectedSession[];
}): JSX.Element {
	const { groups, buckets, waiting } = props;
	const [kind, setKind] = useState<Kind>("agent");
	const rows = kind === "day" ? daysOf(buckets) : rowsOf(groups, kind, waiting);
	const isTool = kind === "tool";
	return (
		<section class="usage-groups">
			<div class="usage-head">
				<h2>By {kind}</h2>
				<div class="views">
					{kinds.map((each) => (
						<button type="button" key={each} aria-pressed={each === kind} onClick={() => setKind(each)}>
							By {each}
						</button>
					))}
				</div>
			</div>
			{rows.length === 0 ? (
				<p class="quiet">No activity in this period.</p>
			) : (
				<Scrolls class="table" label={`Activity by ${kind}`}>
					<table class="numbers">
						<thead>
							<tr>
								<th>{kind}</th>
								<th>{isTool ? "calls" : "answers"}</th>
								<th>{kind === "agent" ? "failed runs" : "errors"}</th>
								{isTool ? null : (
									<>
										<th>input</th>
										<th>output</th>
										<th>from the cache</th>
										<th>cost</th>
									</>
								)}
								{kind === "day" ? null : (
									<>
										<th>p50</th>
										<th>p95</th>
									</>
								)}
								{kind === "agent" ? <th>need you</th> : null}
							</tr>
						</thead>
						<tbody>
							{rows.map((row) => (
								<tr key={row.name}>
									<th scope="row">
										{row.name === "" ? <span class="quiet">without a name</span> : row.name}
									</th>
									<td>{formatCount(row.count)}</td>
									<td class={row.errors > 0 ? "is-bad" : undefined}>{formatCount(row.errors)}</td>
									{isTool ? null : (
										<>
											<td>{formatCount(row.inputTokens)}</td>
											<td>{formatCount(row.outputTokens)}</td>
											<td>{formatShare(row.cachedTokens, row.inputTokens)}</td>
											<td>
												<Price cost={row.cost} unpriced={row.unpriced} />
											</td>
										</>
									)}
									{kind === "day" ? null : (
										<>
											<td>{row.p50 === undefined ? "–" : formatDuration(row.p50)}</td>
											<td>{row.p95 === undefined ? "–" : formatDuration(row.p95)}</td>
										</>
									)}
									{kind === "agent" ? <td>{formatCount(row.waiting ?? 0)}</td> : null}
								</tr>
							))}
						</tbody>
					</table>
				</Scrolls>
			)}
		</section>
	);
}

function rowsOf(
	groups: readonly UsageGroup[],
	kind: Exclude<Kind, "day">,
	waiting: readonly InspectedSession[],
): readonly Row[] {
	return groups
		.filter((group) => group.kind === kind)
		.map((group) => ({
			...group,
			waiting: waiting.filter(({ agent = "" }) => agent === group.name).length,
		}))
		.sort((left, right) => right.count - left.count);
}

/** Adds the buckets of each day. A bucket belongs to the day of its start. */
function daysOf(buckets: readonly UsageBucket[]): readonly Row[] {
	const days = new Map<string, Row>();
	for (const bucket of buckets) {
		const { at, answers, inputTokens, outputTokens, cachedTokens, cost, unpriced, errors } = bucket;
		if (answers === 0 && errors === 0) continue;
		const name = new Date(at).toLocaleDateString("en-CA");
		const of = days.get(name);
		days.set(name, {
			name,
			count: (of?.count ?? 0) + answers,
			inputTokens: (of?.inputTokens ?? 0) + inputTokens,
			outputTokens: (of?.outputTokens ?? 0) + outputTokens,
			cachedTokens: (of?.cachedTokens ?? 0) + cachedTokens,
			cost: (of?.cost ?? 0) + cost,
			unpriced: (of?.unpriced ?? 0) + unpriced,
			errors: (of?.errors ?? 0) + errors,
		});
	}
	return [...days.values()].reverse();
}
