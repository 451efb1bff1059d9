/** The command `chat`: a conversation in the terminal. */

import { messageOf } from "@holdfast/upp";
import { type CommandIo, printable, quoted, sessionKeyFor } from "../terminal/index.ts";
import {
	ending,
	exitCodes,
	openDatabase,
	prepare,
	refuseServed,
	type Setup,
	type WorkOptions,
} from "../work/index.ts";
import { chatInLines } from "./chat-in-lines.ts";
import { Transcript } from "./chat-transcript.ts";
import { firstTheme } from "./choose-theme.ts";
import { argumentChoices, type CommandParts, commandChoices, isCommand, runChatCommand } from "./commands.ts";
import type { Choices } from "./composer.ts";
import { Conversation } from "./conversation.ts";
import { loadHighlighter } from "./highlight.ts";
import { clipboardImage, keepImage, pastedText } from "./images.ts";
import { fileChoices } from "./mentions.ts";
import type { Trigger } from "./menu.ts";
import type { ColourDepth } from "./paint.ts";
import { sessionChoices, sessionMentioned } from "./pickers.ts";

/** Options of the command `chat`. */
export interface ChatCommand extends WorkOptions {
	readonly session: string | undefined;
	/** Whether to write line by line, without redrawing. */
	readonly plain: boolean;
	/** Whether every call may run without approval. */
	readonly yes: boolean;
	/** Absolute path of the database. */
	readonly db: string;
	/** The given path, for use in hints. */
	readonly dbGiven: string | undefined;
}

/** Chats until the user leaves; returns the exit code. */
export async function chat(command: ChatCommand, io: CommandIo): Promise<number> {
	const key = command.session ?? sessionKeyFor("chat");
	const setup = prepare(command, key, io);
	const host = await openDatabase(command.db);
	const transcript = new Transcript();
	const left = Promise.withResolvers<void>();
	let conversation: Conversation | undefined;
	let interrupts = 0;
	let how: "completed" | "waiting" = "completed";
	const stopListening = io.onInterrupt(() => {
		if (++interrupts > 1) io.quit(exitCodes.interrupted);
		left.resolve();
	}, ending());
	try {
		await refuseServed(host, key);
		greet(transcript, setup, command);
		const open = await Conversation.open({ host, db: command.db, setup, transcript, yes: command.yes });
		conversation = open;
		const { stdin } = process;
		const isTyped = stdin.isTTY === true && process.stdout.isTTY === true;
		const parts: CommandParts = { conversation: open, io, db: command.db, leave: () => left.resolve() };
		const submit = async (text: string): Promise<void> => {
			// An answer to a question is never a command, except the one that leaves the question unanswered.
			if (transcript.live.status === "asking" && !/^\/(?:quit|exit)$/.test(text)) return open.say(text);
			const [, command] = /^!\s*(\S[\s\S]*)$/.exec(text) ?? [];
			if (command !== undefined) return runOwn(open, command, isTyped);
			const session = await sessionMentioned(open, text);
			const asked = session === undefined ? text : `/resume ${session}`;
			if (!isCommand(asked)) return open.say(text);
			transcript.note(`\n> ${text}\n`, "quiet");
			await runChatCommand(asked, parts);
		};
		const isPlain = command.plain || !isTyped || isForReaders(io.environment);
		if (isPlain)
			how = await chatInLines(
				{ conversation: open, input: stdin, output: io.stdout, isTyped, submit },
				left.promise,
			);
		else await onScreen(parts, submit, left);
		return interrupts > 0 ? exitCodes.interrupted : exitCodes[how];
	} finally {
		await conversation?.leave();
		// A user's agent may have its own host.
		if (conversation !== undefined && conversation.host !== host) await conversation.host.close();
		await host.close();
		stopListening();
		if (conversation !== undefined) {
			if (how === "waiting")
				io.stdout.write(
					transcript.live.elsewhere === ""
						? "\nThe last call requires approval, which a pipe cannot give. Continue in a terminal, or with --yes.\n\n"
						: "\nContinue when the result has arrived.\n\n",
				);
			farewell(conversation, command, io);
		}
	}
}

/** Runs a command of the user. In a pipe, no one can approve it. */
async function runOwn(conversation: Conversation, command: string, isTyped: boolean): Promise<void> {
	const { transcript, isBusy } = conversation;
	if (!isTyped)
		return transcript.note("Commands with ! need a terminal, because they require approval.", "warning");
	if (isBusy)
		return transcript.note("Commands are not available while the agent works; Esc interrupts it.", "warning");
	transcript.note(`! ${printable(command)}`, "quiet");
	await conversation.runCommand(command);
}

/** Draws the chat until the user leaves. */
async function onScreen(
	parts: CommandParts,
	submit: (text: string) => Promise<void>,
	left: PromiseWithResolvers<void>,
): Promise<void> {
	// React's development build warns, measures and is slower.
	process.env.NODE_ENV ??= "production";
	const { openScreen } = await import("./open-screen.ts");
	const { conversation, io, db } = parts;
	const { transcript } = conversation;
	const theme = await firstTheme(parts, { input: process.stdin, output: process.stdout });
	if (theme !== "none") {
		const loading = loadHighlighter();
		// A new chat does not wait: nothing is highlighted before the first answer.
		const hasCode = transcript
			.entriesAfter(0)
			.some((entry) => entry.kind === "answer" && entry.text.includes("```"));
		if (hasCode) await loading;
	}
	transcript.set({ theme });
	const close = openScreen({
		transcript,
		db,
		depth: (io.environment.NO_COLOR ?? "") === "" ? (process.stdout.getColorDepth() as ColourDepth) : 1,
		send: (text) => void submit(text).catch((error: unknown) => transcript.note(messageOf(error), "warning")),
		interrupt() {
			const isBusy = conversation.isBusy;
			if (isBusy) conversation.interrupt();
			return isBusy;
		},
		leave: () => left.resolve(),
		recall: () => conversation.recall(),
		pasted: (text) => pastedText(text, conversation.setup.dir, conversation.chosenImages),
		async pasteImage() {
			const found = await clipboardImage();
			if ("problem" in found) {
				transcript.note(found.problem, "warning");
				return undefined;
			}
			return keepImage(found.bytes, conversation.setup.dir, conversation.chosenImages);
		},
		choices: (trigger) => choicesOf(trigger, parts),
	});
	await left.promise;
	await close();
}

/** Returns the menu of a word. */
function choicesOf({ kind, command }: Trigger, parts: CommandParts): Choices {
	const { conversation } = parts;
	switch (kind) {
		case "command":
			return { form: "closed", choices: commandChoices };
		case "argument":
			return argumentChoices(command, parts);
		case "file":
			// Only the assistant's messages get the files that they mention.
			return conversation.setup.agent === undefined
				? { form: "open", choices: fileChoices(conversation.setup.dir) }
				: undefined;
		case "session":
			return {
				form: "open",
				choices: sessionChoices(conversation).then((all) =>
					all.filter(({ text }) => !/\s/.test(text)).map((each) => ({ ...each, text: `#${each.text} ` })),
				),
			};
		case "history":
		case "question":
			return undefined;
	}
}

/** Whether the terminal cannot redraw, or a screen reader is in use. */
function isForReaders({ TERM, INK_SCREEN_READER }: CommandIo["environment"]): boolean {
	return TERM === "dumb" || INK_SCREEN_READER === "true";
}

function greet(transcript: Transcript, setup: Setup, { yes }: ChatCommand): void {
	const where = setup.agent === undefined ? `in ${setup.dir}` : `the agent of ${setup.agent}`;
	transcript.note(`holdfast chat · ${where} · /help lists the commands`, "quiet");
	if (setup.agent === undefined && setup.model.name === "offline")
		transcript.note(
			"The offline model finds and quotes passages; it cannot hold a conversation. Choose another model with /model ID.",
			"quiet",
		);
	if (yes) transcript.note("All changes are approved automatically (--yes).", "warning");
}

function farewell({ setup, spending }: Conversation, { dbGiven }: ChatCommand, io: CommandIo): void {
	const db = dbGiven === undefined ? "" : ` --db ${quoted(dbGiven)}`;
	io.stdout.write(`${spending.text}\ncontinue:     holdfast chat --session ${quoted(setup.key)}${db}\n`);
}
