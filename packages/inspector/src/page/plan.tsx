// The plans of a session with their states, the interventions of policy, and whether their records are consistent.
import type { JSX } from "preact";
import { formatTime, summary } from "./format.ts";
import { planAndAudit } from "./plan-model.ts";
import { Scrolls } from "./scrolls.tsx";
import type { SessionStore } from "./session-store.ts";

export function PlanTab({ store }: { readonly store: SessionStore }): JSX.Element {
	void store.version.value;
	const { plans, audit, checks } = planAndAudit(store.entries);
	return (
		<Scrolls class="scrolls plan" label="Plan and audit">
			<h2>Verification</h2>
			<ul class="checks">
				{checks.map(({ name, ok, detail }) => (
					<li key={name} class={ok ? "is-ok" : "is-failed"}>
						<strong>{ok ? "holds" : "does not hold"}</strong> {name} <span class="quiet">{detail}</span>
					</li>
				))}
			</ul>
			<h2>Plan</h2>
			{plans.length === 0 ? (
				<p class="quiet">No plans yet.</p>
			) : (
				<ol class="plans">
					{plans.map(({ seq, at, what, state, detail }, index) => (
						<li key={`${seq} ${index}`}>
							<span class={`status state-${state}`}>{state}</span> <strong>{what}</strong> {detail}{" "}
							<span class="quiet">{formatTime(at)}</span>
						</li>
					))}
				</ol>
			)}
			<h2>Audit trail</h2>
			{audit.length === 0 ? (
				<p class="quiet">No policy interventions.</p>
			) : (
				<Scrolls class="table" label="Records">
					<table>
						<thead>
							<tr>
								<th>entry</th>
								<th>time</th>
								<th>point</th>
								<th>rule</th>
								<th>action</th>
								<th>about</th>
							</tr>
						</thead>
						<tbody>
							{audit.map(({ seq, timestamp, point, rule, action, subject }) => (
								<tr key={seq}>
									<td>{seq}</td>
									<td>{formatTime(Date.parse(timestamp))}</td>
									<td>{point}</td>
									<td>{rule}</td>
									<td>{action}</td>
									<td>{summary(subject, 80)}</td>
								</tr>
							))}
						</tbody>
					</table>
				</Scrolls>
			)}
		</Scrolls>
	);
}
