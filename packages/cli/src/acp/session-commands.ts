/** The commands of the chat that an editor offers too, as the beginning of a prompt: `/compact`. */
import type { AvailableCommand } from "@agentclientprotocol/sdk/unstable";
import type { Message } from "@holdfast/upp";
import {
	compactionNote,
	compactSession,
	contextOfSession,
	initPrompt,
	type OpenAgent,
	type Setup,
} from "../work/index.ts";

/** What a command does: the agent gets a prompt, or the user gets a text. */
type Outcome = { readonly prompt: string } | { readonly text: string };

interface EditorCommand extends AvailableCommand {
	/** Whether the session has the command. */
	isFor(setup: Setup): boolean;
	run(open: OpenAgent, setup: Setup): Outcome | Promise<Outcome>;
}

const commands: readonly EditorCommand[] = [
	{
		name: "compact",
		description: "Replaces the conversation so far with a summary for the model",
		isFor: () => true,
		async run({ agent, host }, { key }) {
			return { text: compactionNote(await compactSession(agent, host, key)) };
		},
	},
	{
		name: "context",
		description: "Shows what fills the model's context, and how much of it is cached",
		isFor: () => true,
		async run({ agent, host }, { key }) {
			const lines = await contextOfSession(agent, host, key);
			return { text: ["```text", ...lines, "```"].join("\n") };
		},
	},
	{
		name: "init",
		description: "Writes AGENTS.md: what an assistant should know about this folder",
		isFor: ({ agent, allowWrite }) => agent === undefined && allowWrite,
		run: () => ({ prompt: initPrompt }),
	},
];

/** Returns the commands of a session. */
export function availableCommands(setup: Setup): AvailableCommand[] {
	return commands
		.filter((command) => command.isFor(setup))
		.map(({ name, description }) => ({ name, description }));
}

/** Returns the command that a prompt consists of. */
export function commandOf(message: Pick<Message, "text">, setup: Setup): EditorCommand | undefined {
	const [, word] = /^\/([a-z]+)\s*$/.exec(message.text) ?? [];
	return commands.find(({ name, isFor }) => name === word && isFor(setup));
}
