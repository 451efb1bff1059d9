// The skills of the agent across sessions: which exist, in which version, and which sessions have loaded them.
import type { JSX } from "preact";
import type { ShownSkillLoad } from "../wire/index.ts";
import { type AgentSkill, isCurrent, type SkillUse, skillUses } from "./all-skills-model.ts";
import { useAnswer } from "./entry-details.tsx";
import { formatCount, formatTime } from "./format.ts";
import { linkTo } from "./route.ts";
import { Scrolls } from "./scrolls.tsx";

/** Characters of a hash that are shown: those that the model sees. */
const shownHash = 16;

export function SkillsView({ chosen }: { readonly chosen: string | undefined }): JSX.Element {
	const skills = useAnswer<{ readonly skills: readonly AgentSkill[] }>("/api/inspect/skills");
	const loads = useAnswer<{ readonly loads: readonly ShownSkillLoad[]; readonly sessions: number }>(
		"/api/inspect/skills/loads",
	);
	const problem = skills.problem ?? loads.problem;
	const isRead = skills.value !== undefined && loads.value !== undefined;
	const uses = skillUses(skills.value?.skills ?? [], loads.value?.loads ?? []);
	const shown = (loads.value?.loads ?? []).filter(({ name }) => chosen === undefined || name === chosen);
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys
		<main class="usage scrolls" tabIndex={0}>
			<h1>Skills</h1>
			{problem === undefined ? null : <p class="notice is-error">{problem}</p>}
			{isRead || problem !== undefined ? null : <p class="empty">Reading…</p>}
			{isRead && uses.length === 0 ? <p class="empty">The agent has no skills.</p> : null}
			{uses.length === 0 ? null : (
				<>
					<Uses of={uses} />
					<h2>{chosen === undefined ? "Loaded by sessions" : `Sessions that loaded ${chosen}`}</h2>
					{chosen === undefined ? null : (
						<p>
							<a href={linkTo({ view: "skills" })}>Show all skills</a>
						</p>
					)}
					<Loads of={shown} uses={uses} />
				</>
			)}
		</main>
	);
}

function Uses({ of }: { readonly of: readonly SkillUse[] }): JSX.Element {
	return (
		<Scrolls class="table" label="Skills">
			<table>
				<thead>
					<tr>
						<th>skill</th>
						<th>SHA-256</th>
						<th>sessions</th>
						<th>with another version</th>
						<th>last loaded</th>
						<th>allowed tools</th>
						<th>files</th>
					</tr>
				</thead>
				<tbody>
					{of.map(({ name, skill, sessions, outdated, lastAt }) => (
						<tr key={name}>
							<td>
								<a href={linkTo({ view: "skills", skill: name })}>{name}</a>
								<br />
								<span class="quiet">{skill?.description ?? "The agent no longer has it."}</span>
							</td>
							<td>{skill === undefined ? "" : <code>{skill.hash.slice(0, shownHash)}</code>}</td>
							<td>{formatCount(sessions)}</td>
							<td>{formatCount(outdated)}</td>
							<td>{lastAt === undefined ? <span class="quiet">never</span> : formatTime(lastAt)}</td>
							<td>{skill === undefined ? "" : (skill.allowedTools?.join(", ") ?? "all")}</td>
							<td>{skill === undefined ? "" : formatCount(skill.files.length)}</td>
						</tr>
					))}
				</tbody>
			</table>
		</Scrolls>
	);
}

function Loads(props: {
	readonly of: readonly ShownSkillLoad[];
	readonly uses: readonly SkillUse[];
}): JSX.Element {
	const { of, uses } = props;
	if (of.length === 0) return <p class="quiet">No session has loaded it.</p>;
	const skills = new Map(uses.map(({ name, skill }) => [name, skill]));
	return (
		<Scrolls class="table" label="Loaded skills">
			<table>
				<thead>
					<tr>
						<th>time</th>
						<th>session</th>
						<th>skill</th>
						<th>SHA-256</th>
					</tr>
				</thead>
				<tbody>
					{of.map(({ sessionId, seq, at, name, hash }) => (
						<tr key={`${sessionId} ${seq}`}>
							<td>{formatTime(at)}</td>
							<td>
								<a href={linkTo({ view: "session", sessionId, tab: "timeline", entry: seq })}>{sessionId}</a>
							</td>
							<td>{name}</td>
							<td>
								<code>{hash}</code>
								{isCurrent(skills.get(name), hash) ? null : <span class="quiet"> another version</span>}
							</td>
						</tr>
					))}
				</tbody>
			</table>
		</Scrolls>
	);
}
