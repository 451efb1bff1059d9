/** The slash commands of a chat. */

import { type CommandIo, formatTime, oneLine, sessionKeyFor } from "../terminal/index.ts";
import {
	chatSummaryOf,
	chooseModel,
	compactionNote,
	compactSession,
	contextOfSession,
	describeError,
	initPrompt,
	keepChatSummary,
	prepare,
	projectSkills,
	refuseServed,
} from "../work/index.ts";
import { chooseTheme } from "./choose-theme.ts";
import type { Choices } from "./composer.ts";
import type { Conversation } from "./conversation.ts";
import { exportMarkdown } from "./export-markdown.ts";
import type { Choice } from "./menu.ts";
import { lastSessions, modelChoices, sessionChoices } from "./pickers.ts";
import { revertAll } from "./revert-all.ts";
import { themeNames } from "./theme.ts";
import { turnsOf } from "./turns.ts";

/** What the commands need. */
export interface CommandParts {
	readonly conversation: Conversation;
	readonly io: CommandIo;
	/** Absolute path of the database. */
	readonly db: string;
	leave(): void;
}

interface ChatCommand {
	readonly name: string;
	readonly argument: string;
	readonly help: string;
	/** Whether the command is allowed while the agent works. */
	readonly when: "always" | "idle";
	/** Returns the menu of its argument. */
	choices?(parts: CommandParts): Choices;
	run(parts: CommandParts, argument: string): void | Promise<void>;
}

/** Maximum number of sessions listed. */
const MOST_SESSIONS = 20;

const commands: readonly ChatCommand[] = [
	{
		name: "help",
		argument: "",
		help: "show this list",
		when: "always",
		run: ({ conversation: { transcript } }) => transcript.note(helpText()),
	},
	{
		name: "model",
		argument: "[ID]",
		help: "show the current model, or switch to another one",
		when: "idle",
		choices: (parts) => ({ form: "open", choices: modelChoices(parts) }),
		async run({ conversation, io }, id) {
			const { setup, transcript } = conversation;
			if (setup.agent !== undefined) return transcript.note(`The agent of ${setup.agent} has its own model.`);
			if (id === "") return transcript.note(`Current model: ${setup.model.name}. To switch: /model ID`);
			await conversation.change({ ...setup, model: chooseModel(id, io.environment) }, "same conversation");
			transcript.note(`Switched to ${id}.`);
		},
	},
	{
		name: "cost",
		argument: "",
		help: "show this session's usage and cost",
		when: "always",
		run: ({ conversation: { transcript, spending, setup } }) =>
			transcript.note(`This session: ${spending.text}. Now: ${spending.context(setup.model.contextWindow)}.`),
	},
	{
		name: "context",
		argument: "",
		help: "show what fills the model's context, and how much of it is cached",
		when: "always",
		async run({ conversation: { transcript, spending, setup, host, agent } }) {
			const lines = await contextOfSession(agent, host, setup.key);
			transcript.note([...lines, `Now: ${spending.context(setup.model.contextWindow)}.`].join("\n"));
		},
	},
	{
		name: "fork",
		argument: "[KEY | after N]",
		help: "continue in a copy of this session, whole or up to its Nth turn; the original does not change",
		when: "idle",
		choices: ({ conversation: { host, setup } }) => ({
			form: "open",
			choices: turnsOf(host, setup.key).then((turns) =>
				turns.toReversed().map(({ number, at, text }) => ({
					text: `after ${number}`,
					label: `after ${number}`,
					detail: `${formatTime(at).slice(0, 16)}  ${oneLine(text, 100)}`,
				})),
			),
		}),
		async run({ conversation }, given) {
			const { setup, host } = conversation;
			const [, after] = /^after (\d+)$/.exec(given) ?? [];
			const to = given === "" || after !== undefined ? sessionKeyFor(`${setup.key} fork`) : given;
			const turns = after === undefined ? [] : await turnsOf(host, setup.key);
			if (after !== undefined && turns[Number(after) - 1] === undefined)
				return conversation.transcript.note(`This session has no turn ${after}.`, "warning");
			await forkTo(conversation, to, turns[Number(after)]?.before);
			conversation.transcript.note(`Continuing in ${to}. ${setup.key} is unchanged.`);
		},
	},
	{
		name: "undo",
		argument: "",
		help: "undo the last turn: its messages and its approved file changes",
		when: "idle",
		async run({ conversation }) {
			const { setup, host, transcript } = conversation;
			const turn = (await turnsOf(host, setup.key)).at(-1);
			if (turn === undefined) return transcript.note("No turn to undo.");
			const { restored, left } = await revertAll(setup.dir, conversation.asking.takeTurn());
			const to = sessionKeyFor(`${setup.key} undo`);
			if (turn.number > 1) await forkTo(conversation, to, turn.before);
			else await conversation.change({ ...setup, key: to }, "same conversation");
			transcript.note(`Undone: ${oneLine(turn.text, 100)}`);
			if (restored.length > 0) transcript.note(`Restored ${restored.join(", ")}.`);
			if (left.length > 0)
				transcript.note(`Not restored, because they have changed since: ${left.join(", ")}.`, "warning");
			transcript.note(`Continuing in ${to}. ${setup.key} still contains the turn.`, "quiet");
		},
	},
	{
		name: "export",
		argument: "[FILE]",
		help: "write the conversation to a new Markdown file",
		when: "always",
		async run({ conversation: { session, setup, transcript } }, file) {
			const { messages } = await session.state();
			const name = `${setup.key.replace(/[^\w.-]+/g, "-")}.md`;
			const path = await exportMarkdown(messages, {
				title: setup.key,
				dir: setup.dir,
				file: file === "" ? name : file,
			});
			transcript.note(`Wrote ${path}.`);
		},
	},
	{
		name: "init",
		argument: "",
		help: "write AGENTS.md: what an assistant should know about this folder",
		when: "idle",
		async run({ conversation }) {
			const { setup, transcript } = conversation;
			if (setup.agent !== undefined || !setup.allowWrite)
				return transcript.note(
					"/init needs the assistant and its permission to write: holdfast chat --allow-write.",
					"warning",
				);
			await conversation.say(initPrompt);
		},
	},
	{
		name: "new",
		argument: "",
		help: "begin a new session",
		when: "idle",
		async run({ conversation }) {
			const { setup } = conversation;
			const key = sessionKeyFor("chat");
			await conversation.change({ ...setup, key }, "another conversation");
			conversation.transcript.note(`New session: ${key}. To go back: /resume ${setup.key}`);
		},
	},
	{
		name: "sessions",
		argument: "",
		help: "list the most recently changed sessions",
		when: "always",
		async run({ conversation }) {
			const heads = await lastSessions(conversation.host, MOST_SESSIONS);
			const lines = heads.map(({ key, updatedAt, openRunId, title }) => {
				const open = openRunId === undefined ? "" : " · open";
				const here = key === conversation.setup.key ? " · this one" : "";
				return `${formatTime(updatedAt)}  ${oneLine(key, 60)}${open}${here}  ${oneLine(title, 60)}`.trimEnd();
			});
			conversation.transcript.note(lines.length === 0 ? "No sessions yet." : lines.join("\n"));
		},
	},
	{
		name: "resume",
		argument: "[KEY]",
		help: "continue another session; without KEY, the most recently changed one",
		when: "idle",
		choices: ({ conversation }) => ({ form: "closed", choices: sessionChoices(conversation) }),
		async run({ conversation, io, db }, given) {
			const { transcript, setup, host } = conversation;
			const latest = given === "" ? await lastSessions(host, 2) : [];
			const key = given === "" ? latest.find((head) => head.key !== setup.key)?.key : given;
			if (key === undefined) return transcript.note("No other sessions.");
			await refuseServed(host, key);
			if ((await host.journal.head(key)) === undefined)
				return transcript.note(`Session "${oneLine(key, 60)}" does not exist. See /sessions.`, "warning");
			const asked = {
				db,
				dir: undefined,
				model: undefined,
				allowNetwork: undefined,
				allowWrite: undefined,
				allowShell: undefined,
			};
			transcript.note(`Continuing session ${key}.`);
			await conversation.change(prepare({ ...asked, agent: undefined }, key, io), "another conversation");
		},
	},
	{
		name: "skills",
		argument: "",
		help: "list the skills of this folder",
		when: "always",
		async run({ conversation: { transcript, setup } }) {
			if (setup.agent !== undefined)
				return transcript.note(`The agent of ${setup.agent} has its own skills.`);
			const { skills, problems } = await projectSkills(setup.dir);
			const lines = skills.map(({ name, description }) => `• ${name}: ${oneLine(description, 200)}`);
			transcript.note(lines.length === 0 ? "This folder has no skills." : lines.join("\n"));
			if (problems.length > 0) transcript.note(problems.join("\n"), "warning");
		},
	},
	{
		name: "approvals",
		argument: "[RULE]",
		help: "show what you approved for this session, or revoke a rule",
		when: "always",
		choices: ({ conversation: { asking } }) => ({
			form: "open",
			choices: asking.approvals.rules.map(({ label }) => ({
				text: label,
				label,
				detail: "Enter revokes it",
			})),
		}),
		run({ conversation }, label) {
			const { transcript, asking } = conversation;
			const { rules } = asking.approvals;
			const rule = rules.find((each) => each.label === label);
			if (rule !== undefined) {
				asking.approvals.revoke(rule);
				transcript.note(`Revoked. This requires approval again: ${label}.`);
			} else if (label !== "") transcript.note(`No such rule: ${oneLine(label, 100)}.`, "warning");
			else if (rules.length === 0) transcript.note("No rules: every call requires your approval.");
			else transcript.note(`Approved automatically:\n${rules.map((each) => `• ${each.label}`).join("\n")}`);
		},
	},
	{
		name: "compact",
		argument: "",
		help: "replace the conversation so far with a summary for the model",
		when: "idle",
		async run({ conversation }) {
			const { transcript, setup, agent, host } = conversation;
			transcript.note("Summarising …", "quiet");
			const made = await compactSession(agent, host, setup.key);
			if (typeof made === "string")
				return transcript.note(compactionNote(made), made === "no summary" ? "warning" : "plain");
			const { price } = setup.model;
			const { inputTokens, outputTokens } = made.usage;
			const dollars = price && (inputTokens * price.input + outputTokens * price.output) / 1_000_000;
			conversation.spending.add(made.usage, setup.agent === undefined ? dollars : undefined);
			conversation.spending.summarised(outputTokens);
			conversation.showFooter();
			transcript.add({ kind: "answer", text: compactionNote(made) });
		},
	},
	{
		name: "theme",
		argument: "[NAME]",
		help: "show the current theme, or switch to another one: dark, light, contrast, none, auto",
		when: "always",
		choices: () => ({
			form: "open",
			choices: [...themeNames, "auto"].map((name) => ({ text: name, label: name, detail: "" })),
		}),
		run: ({ conversation: { transcript }, ...parts }, name) => chooseTheme(transcript, parts, name),
	},
	{
		name: "quit",
		argument: "",
		help: "leave; you can resume unfinished work later",
		when: "always",
		run: ({ leave }) => leave(),
	},
];

/** The commands, for a menu. If a command has a list of arguments, a menu of them follows. */
export const commandChoices: readonly Choice[] = commands.map(({ name, argument, help, choices }) => ({
	text: `/${name}${choices === undefined ? "" : " "}`,
	label: name,
	detail: argument === "" ? help : `${argument}  ${help}`,
}));

/** Continues in a copy of the session, up to an entry. */
async function forkTo(conversation: Conversation, to: string, at: number | undefined): Promise<void> {
	const { setup, session, host } = conversation;
	await session.fork(to, at === undefined ? {} : { at });
	const summary = await chatSummaryOf(host, setup.key);
	if (summary !== undefined) await keepChatSummary(host, to, summary);
	await conversation.change({ ...setup, key: to }, "same conversation");
}

/** Returns the menu of a command's argument. */
export function argumentChoices(name: string, parts: CommandParts): Choices {
	const command = commands.find((each) => each.name === name);
	return command?.when === "idle" && parts.conversation.isBusy ? undefined : command?.choices?.(parts);
}

/** Whether a text is a command: a slash and a word, but not a path. */
export function isCommand(text: string): boolean {
	return /^\/[a-z]*(?:\s|$)/.test(text);
}

/** Runs a command; errors appear in the transcript. */
export async function runChatCommand(text: string, parts: CommandParts): Promise<void> {
	const [, word = "", argument = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
	const { transcript, isBusy } = parts.conversation;
	const name = word === "exit" ? "quit" : word;
	const command = commands.find((each) => each.name === name);
	if (command === undefined)
		return transcript.note(`Unknown command: /${oneLine(word, 40)}. See /help.`, "warning");
	if (command.when === "idle" && isBusy)
		return transcript.note(`/${name} is not available while the agent works; Esc interrupts it.`, "warning");
	try {
		await command.run(parts, argument.trim());
	} catch (error) {
		transcript.note(describeError(error), "warning");
	}
}

function helpText(): string {
	const lines = commands.map(({ name, argument, help }) => `${`/${name} ${argument}`.padEnd(16)} ${help}`);
	return [
		...lines,
		"",
		"Enter sends your message; while the agent works, it waits until the current answer or call ends. Up takes it back.",
		"Esc interrupts the agent. Press Ctrl-C twice to leave. Ctrl-Z stops the chat; fg continues it.",
		"Alt-Enter, Ctrl-J or a \\ at the end of the line start a new line. Up and Down recall earlier messages.",
		"@path reads a file into your message, and #KEY another session. A message that is only #KEY continues that session.",
		"!COMMAND runs a command in the folder after your approval; the next message tells the agent what it printed.",
		"Ctrl-O opens the last call or reasoning in full; Left and Right show others.",
		"/, @ and # open a menu: Up and Down choose, Tab inserts, Esc closes it. Ctrl-R searches earlier messages.",
	].join("\n");
}
